// core/v1 Endpoints.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, invalidValue, required, parseLenientIp,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, formatMembers, withNameAndAge } from '../common/columns/columns.ts';
import { readStructs, setZero } from '../common/defaults.ts';
import { checkIp } from '../common/validation/addresses.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isGiven } from '../common/validation/check.ts';
import { checkReachable, protocols } from '../common/validation/endpoint-addresses.ts';
import { checkPortNumber } from '../common/validation/ports.ts';
import { readPath, toNumber, toObjects, toText } from '../common/values.ts';
import { warnOfAddress } from '../common/warnings/addresses.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';

/** IPv6 addresses stand in brackets before a port. */
function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function formatEndpoints(object: KubeObject): string {
  const subsets = toObjects(object['subsets']);
  if (subsets.length === 0) return '<none>';
  const found = subsets.flatMap((subset) => {
    const hosts = toObjects(subset['addresses']).map((address) => toText(address['ip']));
    const ports = toObjects(subset['ports']).map((port) => toNumber(port['port']));
    return ports.length === 0 ? hosts : ports.flatMap((port) => hosts.map((host) => joinHostPort(host, port)));
  });
  return found.length === 0 ? '' : formatMembers(found);
}

/** Columns of endpoints. */
const endpointsColumns: readonly Column[] = withNameAndAge(column('Endpoints', formatEndpoints));

/** Defaults of endpoints. */
function applyEndpointsDefaults(endpoints: KubeObject): void {
  for (const subset of readStructs(endpoints, 'subsets')) {
    for (const port of readStructs(subset, 'ports')) setZero(port, { protocol: 'TCP' });
  }
}

function checkAddress(entry: Field, known: ReadonlySet<unknown>): Errors {
  const ip = at(entry, 'ip');
  const address = parseLenientIp(toText(ip.value));
  const host = at(entry, 'hostname');
  const node = at(entry, 'nodeName');
  return [
    ...checkIp(ip, known),
    ...(toText(host.value) === '' ? [] : checkText(host, checkDnsLabel)),
    ...(isGiven(node) ? checkText(node, checkDnsSubdomain) : []),
    ...(address === undefined ? [invalidValue(ip.path, toText(ip.value), 'must be a valid IP address')] : checkReachable(ip, address)),
  ];
}

function checkEndpointPort(port: Field, needsName: boolean): Errors {
  const name = at(port, 'name');
  const application = at(port, 'appProtocol');
  const errors: FieldError[] = [];
  if (toText(name.value) !== '') errors.push(...checkText(name, checkDnsLabel));
  else if (needsName) errors.push(required(name.path));
  return [
    ...errors, ...checkPortNumber({ path: at(port, 'port').path, value: at(port, 'port').value ?? 0 }), ...checkOneOf(at(port, 'protocol'), protocols),
    ...(isGiven(application) ? checkText(application, checkQualifiedName) : []),
  ];
}

function listAddresses(subset: Field): readonly (readonly Field[])[] {
  return ['addresses', 'notReadyAddresses'].map((name) => each(at(subset, name)));
}

/** Validates endpoints; an update may keep the addresses of `old` even if they are invalid. */
function validateEndpoints(endpoints: KubeObject, old?: KubeObject): Errors {
  const before = each({ path: 'subsets', value: old?.['subsets'] }).flatMap(listAddresses).flat();
  const known = new Set(before.map((address) => readPath(address.value, 'ip')));
  return each({ path: 'subsets', value: endpoints['subsets'] }).flatMap((subset): Errors => {
    const addresses = listAddresses(subset);
    const ports = each(at(subset, 'ports'));
    const missing = addresses.every(({ length }) => length === 0) ? [required(subset.path, 'must specify `addresses` or `notReadyAddresses`')] : [];
    return [
      ...missing, ...addresses.flat().flatMap((address) => checkAddress(address, known)),
      ...ports.flatMap((port) => checkEndpointPort(port, ports.length > 1)),
    ];
  });
}

/** Warns of addresses that are not in canonical form, unless the controller of endpoints wrote them. */
function warnOfEndpoints(root: Field): readonly string[] {
  if (readPath(root.value, 'metadata', 'labels', 'endpoints.kubernetes.io/managed-by') === 'endpoint-controller') return [];
  return each(at(root, 'subsets')).flatMap(listAddresses).flat().flatMap((address) => warnOfAddress(at(address, 'ip')));
}

/** The spec of Endpoints. */
export const endpointsKind: KindSpec = {
  kind: 'Endpoints', plural: 'endpoints', shortNames: ['ep'],
  storagePrefix: 'services/endpoints', deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  createOnUpdate: true,
  metadataChecks: ['update', 'kind', 'object'],
  columns: endpointsColumns,
  applyDefaults: applyEndpointsDefaults,
  validation: { object: validateEndpoints },
  warnings: warnWith(warnOfEndpoints),
};
