// discovery.k8s.io/v1 EndpointSlice.
import {
  type FieldError, type JsonObject, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, duplicate, equalJson,
  behindStrict, invalidValue, parseLenientIp, required, tooMany,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, formatMembers, textColumn, textIfSet, withNameAndAge } from '../common/columns/columns.ts';
import { readStructs, setAbsent } from '../common/defaults.ts';
import { checkCanonicalIp, checkIp } from '../common/validation/addresses.ts';
import { type Errors, type Field, at, checkImmutable, checkOneOf, checkText, each, isGiven } from '../common/validation/check.ts';
import { checkReachable, protocols } from '../common/validation/endpoint-addresses.ts';
import { readPath, toList, toObjects, toText } from '../common/values.ts';
import { warnOfAddress } from '../common/warnings/addresses.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerEndpointSlices } from './former-versions.ts';

function formatSlicePort(port: JsonObject): string {
  return textIfSet(port['port'] ?? port['name'], '*');
}

/** Columns of endpointslices. */
const endpointSliceColumns: readonly Column[] = withNameAndAge(
  textColumn('AddressType', 'addressType'),
  column('Ports', (object) => formatMembers(toObjects(object['ports']).map(formatSlicePort)) || '<unset>'),
  column('Endpoints', (object) => formatMembers(toObjects(object['endpoints']).flatMap((endpoint) => toList(endpoint['addresses']).map(toText)))),
);

/** Defaults of endpointslices. */
function applyEndpointSliceDefaults(slice: KubeObject): void {
  for (const port of readStructs(slice, 'ports')) setAbsent(port, { name: '', protocol: 'TCP' });
}

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;

/** The hints of an endpoint: the zones or nodes that prefer it. */
function checkHints(list: Field, check: (text: string) => readonly string[]): Errors {
  const count = toList(list.value).length;
  if (count > MAX_HINTS) return [tooMany(list.path, count, MAX_HINTS)];
  const names = new Set<string>();
  return each(list).flatMap((hint): Errors => {
    const name = at(hint, 'name');
    const isKnown = names.has(toText(name.value));
    names.add(toText(name.value));
    return [...(isKnown ? [duplicate(name.path, name.value)] : []), ...checkText(name, check)];
  });
}

/** A domain of at least two labels, each of them a label of DNS; a dot at its end is left out. */
function checkDomain({ path, value: text }: { readonly path: string; readonly value: string }): Errors {
  if (text === '') return [required(path)];
  const domain = text.endsWith('.') ? text.slice(0, -1) : text;
  const wrong = checkDnsSubdomain(domain);
  if (wrong.length > 0) return [invalidValue(path, domain, wrong.join(','))];
  const labels = domain.split('.');
  if (labels.length < 2) return [invalidValue(path, domain, 'should be a domain with at least two segments separated by dots')];
  return labels.flatMap((label): Errors => {
    const problems = checkDnsLabel(label);
    return problems.length === 0 ? [] : [invalidValue(path, label, problems.join(','))];
  });
}

function checkSliceAddress(address: Field, { list, type }: { list: string; type: string }): Errors {
  const text = toText(address.value);
  if (type === 'FQDN') return checkDomain({ path: address.path, value: text });
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? checkIp(address) : checkCanonicalIp(address);
  const parsed = parseLenientIp(text);
  return [...errors, ...behindStrict(errors, () => {
    const wrongFamily = parsed?.family === type ? [] : [invalidValue(list, text, `must be an ${type} address`)];
    return [...wrongFamily, ...(parsed === undefined ? [] : checkReachable(address, parsed))];
  })];
}

function checkEndpoint(endpoint: Field, type: string): Errors {
  const addresses = at(endpoint, 'addresses');
  const count = toList(addresses.value).length;
  const node = at(endpoint, 'nodeName');
  const host = at(endpoint, 'hostname');
  return [
    ...(count === 0 ? [required(addresses.path, 'must contain at least 1 address')] : []),
    ...(count > MAX_ADDRESSES ? [tooMany(addresses.path, count, MAX_ADDRESSES)] : []),
    ...each(addresses).flatMap((address) => checkSliceAddress(address, { list: addresses.path, type })),
    ...(isGiven(node) ? checkText(node, checkDnsSubdomain) : []), ...(isGiven(host) ? checkText(host, checkDnsLabel) : []),
    ...checkHints(at(endpoint, 'hints', 'forZones'), checkLabelValue), ...checkHints(at(endpoint, 'hints', 'forNodes'), checkDnsSubdomain),
  ];
}

function checkSlicePorts(list: Field): Errors {
  const ports = each(list);
  if (ports.length > MAX_PORTS) return [tooMany(list.path, ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return ports.flatMap((port): Errors => {
    const name = at(port, 'name');
    const text = toText(name.value);
    const application = at(port, 'appProtocol');
    const errors: FieldError[] = text === '' ? [] : [...checkText(name, checkDnsLabel)];
    if (names.has(text)) errors.push(duplicate(name.path, text));
    names.add(text);
    return [...errors, ...checkOneOf(at(port, 'protocol'), protocols), ...(isGiven(application) ? checkText(application, checkQualifiedName) : [])];
  });
}

/** The problems of the endpoints; what an update leaves as it was may be invalid. */
function checkEndpoints(slice: KubeObject, old: KubeObject | undefined): Errors {
  const endpoints = each({ path: 'endpoints', value: slice['endpoints'] });
  const errors = endpoints.length > MAX_ENDPOINTS ? [tooMany('endpoints', endpoints.length, MAX_ENDPOINTS)]
    : endpoints.flatMap((one) => checkEndpoint(one, toText(slice['addressType'])));
  return errors.length > 0 && old !== undefined && equalJson(slice['endpoints'], old['endpoints']) ? [] : errors;
}

/** Validates endpointslices. */
function validateEndpointSlice(slice: KubeObject, old?: KubeObject): Errors {
  const type: Field = { path: 'addressType', value: slice['addressType'] };
  return [
    ...(toText(type.value) === '' ? [required(type.path)] : checkOneOf(type, ['FQDN', 'IPv4', 'IPv6'])),
    ...checkSlicePorts({ path: 'ports', value: slice['ports'] }), ...checkEndpoints(slice, old),
  ];
}

/** Errors of an update that changes the address type of a slice. */
function checkSameAddressType(slice: KubeObject, old: KubeObject): Errors {
  return checkImmutable({ path: 'addressType', value: slice['addressType'] }, { path: 'addressType', value: old['addressType'] });
}

const ownSlices = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

/** Warns of FQDN endpoints, and of addresses that are not in canonical form unless a controller wrote them. */
function warnOfSlice(root: Field, old?: KubeObject): readonly string[] {
  const isNamed = old === undefined && readPath(root.value, 'addressType') === 'FQDN';
  const isOwn = ownSlices.includes(toText(readPath(root.value, 'metadata', 'labels', 'endpointslice.kubernetes.io/managed-by')));
  const addresses = isOwn ? [] : each(at(root, 'endpoints')).flatMap((endpoint) => each(at(endpoint, 'addresses')));
  return [...(isNamed ? ['spec.addressType: FQDN endpoints are deprecated'] : []), ...addresses.flatMap(warnOfAddress)];
}

/** A change of labels is a new generation: they name the Service. */
function countLabels({ metadata }: KubeObject, old: KubeObject): void {
  const isSame = equalJson(metadata.labels ?? {}, old.metadata.labels ?? {});
  if (!isSame) metadata.generation = (old.metadata.generation ?? 0) + 1;
}

const hostIn = (endpoint: JsonObject): string => toText(readPath(endpoint, 'deprecatedTopology', 'kubernetes.io/hostname'));

/** The topology of v1beta1 is dropped when endpoints change; a node that a stored one named becomes that of the endpoint. */
function dropTopology(slice: KubeObject, old?: KubeObject): void {
  const endpoints = readStructs(slice, 'endpoints');
  if (!endpoints.some((endpoint) => endpoint['deprecatedTopology'] !== undefined) || equalJson(endpoints, old?.['endpoints'])) return;
  const hosts = new Set(readStructs(old, 'endpoints').map(hostIn));
  slice['endpoints'] = endpoints.map((endpoint) => {
    const { deprecatedTopology: _dropped, ...rest } = endpoint;
    const host = hostIn(endpoint);
    const isNode = host !== '' && hosts.has(host) && endpoint['nodeName'] === undefined && checkDnsSubdomain(host).length === 0;
    return isNode ? { ...rest, nodeName: host } : rest;
  });
}

/** The spec of EndpointSlice. */
export const endpointSliceKind: KindSpec = {
  kind: 'EndpointSlice', plural: 'endpointslices',
  formerVersions: formerEndpointSlices,
  tracksGeneration: true,
  metadataChecks: ['object', 'kind'],
  columns: endpointSliceColumns,
  applyDefaults: applyEndpointSliceDefaults,
  strategy: {
    prepareForCreate: (slice) => dropTopology(slice),
    prepareForUpdate(slice, old) {
      countLabels(slice, old);
      dropTopology(slice, old);
    },
  },
  validation: { object: validateEndpointSlice, update: (object, old) => [...validateEndpointSlice(object, old), ...checkSameAddressType(object, old)] },
  warnings: warnWith(warnOfSlice),
};
