// Validation of endpoints and endpointslices: addresses that can be endpoints, ports that can be told apart.
import {
  type FieldError, type IpAddress, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, containsAddress, duplicate,
  invalidValue, parseIpAddress, parseIpRange, required, tooMany,
} from '../../apimachinery/index.ts';
import { toList, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkImmutable, checkOneOf, checkPortNumber, checkText, each, isGiven } from './check.ts';

const ipProblem = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const protocols = ['SCTP', 'TCP', 'UDP'];
const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxHints = 8;

const specialRanges: readonly (readonly [string, readonly string[]])[] = [
  ['may not be unspecified (0.0.0.0 or ::)', ['0.0.0.0/32', '::/128']],
  ['may not be in the loopback range (127.0.0.0/8, ::1/128)', ['127.0.0.0/8', '::1/128']],
  ['may not be in the link-local range (169.254.0.0/16, fe80::/10)', ['169.254.0.0/16', 'fe80::/10']],
  ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)', ['224.0.0.0/24', 'ff02::/16']],
];
const special = specialRanges.map(([problem, ranges]) => ({ problem, ranges: ranges.map(parseIpRange).filter((range) => range !== undefined) }));

function checkReachable({ path, value }: Field, address: IpAddress): Errors {
  return special.filter(({ ranges }) => ranges.some((range) => containsAddress(range, address))).map(({ problem }) => invalidValue(path, value, problem));
}

function checkAddress(entry: Field): Errors {
  const ip = at(entry, 'ip');
  const address = parseIpAddress(toText(ip.value));
  const host = at(entry, 'hostname');
  const node = at(entry, 'nodeName');
  return [
    ...(address === undefined ? [invalidValue(ip.path, toText(ip.value), ipProblem)] : []),
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
    ...errors, ...checkPortNumber({ ...at(port, 'port'), value: at(port, 'port').value ?? 0 }), ...checkOneOf(at(port, 'protocol'), protocols),
    ...(isGiven(application) ? checkText(application, checkQualifiedName) : []),
  ];
}

/** Validates endpoints. */
export function validateEndpoints(endpoints: KubeObject): Errors {
  return each({ path: 'subsets', value: endpoints['subsets'] }).flatMap((subset): Errors => {
    const addresses = ['addresses', 'notReadyAddresses'].map((name) => each(at(subset, name)));
    const ports = each(at(subset, 'ports'));
    const missing = addresses.every(({ length }) => length === 0) ? [required(subset.path, 'must specify `addresses` or `notReadyAddresses`')] : [];
    return [...missing, ...addresses.flat().flatMap(checkAddress), ...ports.flatMap((port) => checkEndpointPort(port, ports.length > 1))];
  });
}

/** For whom an endpoint is: zones, or nodes. */
function checkHints(list: Field, check: (text: string) => readonly string[]): Errors {
  const count = toList(list.value).length;
  if (count > maxHints) return [tooMany(list.path, count, maxHints)];
  const names = new Set<string>();
  return each(list).flatMap((hint): Errors => {
    const name = at(hint, 'name');
    const isKnown = names.has(toText(name.value));
    names.add(toText(name.value));
    return [...(isKnown ? [duplicate(name.path, name.value)] : []), ...checkText(name, check)];
  });
}

function checkSliceAddress(address: Field, list: string, type: string): Errors {
  const text = toText(address.value);
  if (type === 'FQDN') return text === '' ? [required(address.path)] : checkText(address, checkDnsSubdomain);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const parsed = parseIpAddress(text);
  if (parsed === undefined) return [invalidValue(address.path, text, ipProblem)];
  const wrongFamily = parsed.family === type ? [] : [invalidValue(list, text, `must be an ${type} address`)];
  return [...wrongFamily, ...checkReachable(address, parsed)];
}

function checkEndpoint(endpoint: Field, type: string): Errors {
  const addresses = at(endpoint, 'addresses');
  const count = toList(addresses.value).length;
  const node = at(endpoint, 'nodeName');
  const host = at(endpoint, 'hostname');
  return [
    ...(count === 0 ? [required(addresses.path, 'must contain at least 1 address')] : []),
    ...(count > maxAddresses ? [tooMany(addresses.path, count, maxAddresses)] : []),
    ...each(addresses).flatMap((address) => checkSliceAddress(address, addresses.path, type)),
    ...(isGiven(node) ? checkText(node, checkDnsSubdomain) : []), ...(isGiven(host) ? checkText(host, checkDnsLabel) : []),
    ...checkHints(at(endpoint, 'hints', 'forZones'), checkLabelValue), ...checkHints(at(endpoint, 'hints', 'forNodes'), checkDnsSubdomain),
  ];
}

function checkSlicePorts(list: Field): Errors {
  const ports = each(list);
  if (ports.length > maxPorts) return [tooMany(list.path, ports.length, maxPorts)];
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

/** Validates endpointslices. */
export function validateEndpointSlice(slice: KubeObject): Errors {
  const type: Field = { path: 'addressType', value: slice['addressType'] };
  const endpoints = each({ path: 'endpoints', value: slice['endpoints'] });
  const tooManyEndpoints = endpoints.length > maxEndpoints;
  return [
    ...(toText(type.value) === '' ? [required(type.path)] : checkOneOf(type, ['FQDN', 'IPv4', 'IPv6'])),
    ...(tooManyEndpoints ? [tooMany('endpoints', endpoints.length, maxEndpoints)] : endpoints.flatMap((one) => checkEndpoint(one, toText(type.value)))),
    ...checkSlicePorts({ path: 'ports', value: slice['ports'] }),
  ];
}

/** Errors of an update that changes what kind of addresses a slice holds. */
export function checkSameAddressType(slice: KubeObject, old: KubeObject): Errors {
  return checkImmutable({ path: 'addressType', value: slice['addressType'] }, { path: 'addressType', value: old['addressType'] });
}
