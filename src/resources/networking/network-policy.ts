// networking.k8s.io/v1 NetworkPolicy.
import { type FieldError, type KubeObject, containsAddress, forbiddenField, invalidValue, parseIpRange, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { formatSelector } from '../common/columns/selector.ts';
import { ensureStruct, readStructs, setAbsent } from '../common/defaults.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isGiven, specOf } from '../common/validation/check.ts';
import { checkPortName, checkPortNumber } from '../common/validation/ports.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { readPath, toNumber, toText } from '../common/values.ts';
import { warnOfRange } from '../common/warnings/addresses.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of networkpolicies. */
const networkPolicyColumns: readonly Column[] = withNameAndAge(
  column('Pod-Selector', (object) => formatSelector(readPath(object, 'spec', 'podSelector'))),
);

/** Defaults of networkpolicies: a policy with egress rules has both policy types. */
function applyNetworkPolicyDefaults(policy: KubeObject): void {
  const spec = ensureStruct(policy, 'spec');
  const egress = readStructs(spec, 'egress');
  for (const rule of [...readStructs(spec, 'ingress'), ...egress]) {
    for (const port of readStructs(rule, 'ports')) setAbsent(port, { protocol: 'TCP' });
  }
  const types = spec['policyTypes'];
  if (!Array.isArray(types) || types.length === 0) spec['policyTypes'] = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function checkPolicyPort(entry: Field): Errors {
  const protocol = at(entry, 'protocol');
  const port = at(entry, 'port');
  const end = at(entry, 'endPort');
  const errors: FieldError[] = isGiven(protocol) ? [...checkOneOf(protocol, ['TCP', 'UDP', 'SCTP'], true)] : [];
  const hasEnd = isGiven(end);
  if (!isGiven(port)) return hasEnd ? [...errors, invalidValue(end.path, end.value, 'may not be specified when `port` is not specified')] : errors;
  if (typeof port.value === 'string') {
    if (hasEnd) errors.push(invalidValue(end.path, end.value, 'may not be specified when `port` is non-numeric'));
    return [...errors, ...checkText(port, checkPortName)];
  }
  errors.push(...checkPortNumber(port));
  if (!hasEnd) return errors;
  if (toNumber(end.value) < toNumber(port.value)) errors.push(invalidValue(end.path, port.value, 'must be greater than or equal to `port`'));
  return [...errors, ...checkPortNumber(end)];
}

const RANGE_PROBLEM = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function checkBlock(block: Field): Errors {
  const cidr = at(block, 'cidr');
  if (toText(cidr.value) === '') return [required(cidr.path)];
  const range = parseIpRange(toText(cidr.value));
  if (range === undefined) return [invalidValue(cidr.path, cidr.value, RANGE_PROBLEM)];
  return each(at(block, 'except')).flatMap(({ path, value }) => {
    const inner = parseIpRange(toText(value));
    if (inner === undefined) return [invalidValue(path, value, RANGE_PROBLEM)];
    const isInside = containsAddress(range, { family: inner.family, value: inner.base }) && inner.size < range.size;
    return isInside ? [] : [invalidValue(path, value, 'must be a strict subset of `cidr`')];
  });
}

function checkPeer(peer: Field): Errors {
  const block = at(peer, 'ipBlock');
  const selectors = [at(peer, 'podSelector'), at(peer, 'namespaceSelector')].filter(isGiven);
  const errors: FieldError[] = [...selectors.flatMap(checkSelector), ...(isGiven(block) ? checkBlock(block) : [])];
  if (selectors.length === 0 && !isGiven(block)) return [...errors, required(peer.path, 'must specify a peer')];
  return isGiven(block) && selectors.length > 0 ? [...errors, forbiddenField(peer.path, 'may not specify both ipBlock and another peer')] : errors;
}

/** Validates networkpolicies. */
function validateNetworkPolicy(policy: KubeObject): Errors {
  const spec = specOf(policy);
  const errors: FieldError[] = [...checkSelector(at(spec, 'podSelector'))];
  for (const [direction, peers] of [['ingress', 'from'], ['egress', 'to']] as const) {
    for (const rule of each(at(spec, direction))) {
      errors.push(...each(at(rule, 'ports')).flatMap(checkPolicyPort), ...each(at(rule, peers)).flatMap(checkPeer));
    }
  }
  const types = each(at(spec, 'policyTypes'));
  if (types.length > 2) return [...errors, invalidValue('spec.policyTypes', types.map(({ value }) => value), 'may not specify more than two policyTypes')];
  return [...errors, ...types.flatMap((type) => checkOneOf(type, ['Ingress', 'Egress'], true))];
}

/** Warns of ranges that are not in canonical form. */
function warnOfPolicy(root: Field): readonly string[] {
  return [['ingress', 'from'], ['egress', 'to']].flatMap(([rules, peers]) => each(at(root, 'spec', rules as string)).flatMap((rule) => {
    const blocks = each(at(rule, peers as string)).map((peer) => at(peer, 'ipBlock'));
    return blocks.flatMap((block) => [...warnOfRange(at(block, 'cidr')), ...each(at(block, 'except')).flatMap(warnOfRange)]);
  }));
}

/** The spec of NetworkPolicy. */
export const networkPolicyKind: KindSpec = {
  kind: 'NetworkPolicy', plural: 'networkpolicies', shortNames: ['netpol'],
  tracksGeneration: true,
  metadataChecks: ['update', 'kind'],
  columns: networkPolicyColumns,
  applyDefaults: applyNetworkPolicyDefaults,
  validation: { object: validateNetworkPolicy },
  warnings: warnWith(warnOfPolicy),
};
