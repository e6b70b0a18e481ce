// networking.k8s.io/v1 NetworkPolicy.
import {
  type FieldError, type KubeObject, containsAddress, forbiddenField, invalidValue, parseLenientRange, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { formatSelector } from '../common/columns/selector.ts';
import { ensureStruct, readStructs, setAbsent } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { checkRange } from '../common/validation/addresses.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isGiven, specOf } from '../common/validation/check.ts';
import { checkPortName, checkPortNumber } from '../common/validation/ports.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { readPath, toList, toNumber, toText } from '../common/values.ts';
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

const directions = [['ingress', 'from'], ['egress', 'to']] as const;

/** The blocks of all peers of a policy. */
function listBlocks(spec: Field): readonly Field[] {
  return directions.flatMap(([rules, peers]) => each(at(spec, rules)).flatMap((rule) => each(at(rule, peers)))).map((peer) => at(peer, 'ipBlock'));
}

/** The ranges of a policy, which an update may keep even if they are invalid. */
function listRanges(policy: KubeObject | undefined): ReadonlySet<unknown> {
  if (policy === undefined) return new Set();
  return new Set(listBlocks(specOf(policy)).flatMap(({ value }) => [readPath(value, 'cidr'), ...toList(readPath(value, 'except'))]));
}

function checkBlock(block: Field, known: ReadonlySet<unknown>): Errors {
  const cidr = at(block, 'cidr');
  if (toText(cidr.value) === '') return [required(cidr.path)];
  const errors = checkRange(cidr, known);
  const range = parseLenientRange(toText(cidr.value));
  if (range === undefined) return errors;
  const exceptions = each(at(block, 'except')).flatMap((exception): Errors => {
    const inner = parseLenientRange(toText(exception.value));
    const problems = checkRange(exception, known);
    if (inner === undefined) return problems;
    const isInside = containsAddress(range, { family: inner.family, value: inner.base }) && inner.size < range.size;
    return isInside ? problems : [...problems, invalidValue(exception.path, exception.value, 'must be a strict subset of `cidr`')];
  });
  return [...errors, ...exceptions];
}

function checkPeer(peer: Field, known: ReadonlySet<unknown>): Errors {
  const block = at(peer, 'ipBlock');
  const selectors = [at(peer, 'podSelector'), at(peer, 'namespaceSelector')].filter(isGiven);
  const errors: FieldError[] = [...selectors.flatMap(checkSelector), ...(isGiven(block) ? checkBlock(block, known) : [])];
  if (selectors.length === 0 && !isGiven(block)) return [...errors, required(peer.path, 'must specify a peer')];
  return isGiven(block) && selectors.length > 0 ? [...errors, forbiddenField(peer.path, 'may not specify both ipBlock and another peer')] : errors;
}

/** Validates networkpolicies; `old` is absent for new ones. */
function validateNetworkPolicy(policy: KubeObject, old?: KubeObject): Errors {
  const [spec, known] = [specOf(policy), listRanges(old)];
  const errors: FieldError[] = [...checkSelector(at(spec, 'podSelector'))];
  for (const [rules, peers] of directions) {
    for (const rule of each(at(spec, rules))) {
      errors.push(...each(at(rule, 'ports')).flatMap(checkPolicyPort), ...each(at(rule, peers)).flatMap((peer) => checkPeer(peer, known)));
    }
  }
  const types = each(at(spec, 'policyTypes'));
  if (types.length > 2) return [...errors, invalidValue('spec.policyTypes', types.map(({ value }) => value), 'may not specify more than two policyTypes')];
  return [...errors, ...types.flatMap((type) => checkOneOf(type, ['Ingress', 'Egress'], true))];
}

/** Warns of ranges that are not in canonical form. */
function warnOfPolicy(root: Field): readonly string[] {
  return listBlocks(at(root, 'spec')).flatMap((block) => [...warnOfRange(at(block, 'cidr')), ...each(at(block, 'except')).flatMap(warnOfRange)]);
}

/** The spec of NetworkPolicy. */
export const networkPolicyKind: KindSpec = {
  kind: 'NetworkPolicy', plural: 'networkpolicies', shortNames: ['netpol'],
  formerVersions: sameAs('extensions/v1beta1'),
  tracksGeneration: true,
  metadataChecks: ['update', 'kind'],
  columns: networkPolicyColumns,
  applyDefaults: applyNetworkPolicyDefaults,
  validation: { object: validateNetworkPolicy },
  warnings: warnWith(warnOfPolicy),
};
