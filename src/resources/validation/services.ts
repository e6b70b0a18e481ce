// Validation of services, and of the addresses and ranges that they get theirs from. Which addresses are free, and which families go with them, is
// decided before, when they are allocated.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, duplicate, forbiddenField, invalidValue,
  parseIpAddress, parseIpRange, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkOneOf, checkPort, checkPortNumber, checkRange, checkRequired, checkText, each, isSame } from './check.ts';

const ipProblem = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";
const kubeletPort = 10_250;
const maxAffinitySeconds = 86_400;
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });
const isThere = ({ value }: Field): boolean => value !== undefined && value !== null;
const isGiven = (place: Field): boolean => place.value !== undefined && place.value !== null && place.value !== '';
const isHeadless = (spec: Field): boolean => readPath(spec.value, 'clusterIP') === 'None';
const typeOf = (spec: Field): string => toText(readPath(spec.value, 'type'));

function checkServicePort(port: Field, needsName: boolean, names: Set<string>): Errors {
  const name = at(port, 'name');
  const errors: FieldError[] = [];
  if (toText(name.value) === '') {
    if (needsName) errors.push(required(name.path));
  } else {
    errors.push(...checkText(name, checkDnsLabel));
    if (names.has(toText(name.value))) errors.push(duplicate(name.path, name.value));
    names.add(toText(name.value));
  }
  errors.push(...checkPortNumber(at(port, 'port')), ...checkOneOf(at(port, 'protocol'), ['SCTP', 'TCP', 'UDP']));
  const protocol = at(port, 'appProtocol');
  return [...errors, ...checkPort(targetOf(port)), ...(isThere(protocol) ? checkText(protocol, checkQualifiedName) : [])];
}

/** A port without target is its own target. */
function targetOf(port: Field): Field {
  const target = at(port, 'targetPort');
  return target.value === undefined ? { path: target.path, value: toNumber(readPath(port.value, 'port')) } : target;
}

/** A port and protocol may be served once; the reference shows them in an otherwise empty port. */
function checkPortsDiffer(ports: readonly Field[]): Errors {
  const seen = new Set<string>();
  return ports.flatMap(({ path, value }) => {
    const Protocol = toText(readPath(value, 'protocol'));
    const Port = toNumber(readPath(value, 'port'));
    const isNew = !seen.has(`${Protocol}/${Port}`);
    seen.add(`${Protocol}/${Port}`);
    return isNew ? [] : [duplicate(path, { Name: '', Protocol, AppProtocol: null, Port, TargetPort: 0, NodePort: 0 })];
  });
}

function checkNodePorts(ports: readonly Field[], type: string): Errors {
  const seen = new Set<string>();
  return ports.flatMap((port) => {
    const place = at(port, 'nodePort');
    const number = toNumber(place.value);
    if (number === 0) return [];
    if (type === 'ClusterIP') return [forbiddenField(place.path, "may not be used when `type` is 'ClusterIP'")];
    const key = `${toText(readPath(port.value, 'protocol'))}/${number}`;
    const errors = seen.has(key) ? [duplicate(place.path, number)] : [];
    seen.add(key);
    return errors;
  });
}

function checkExternalName(spec: Field): Errors {
  const unwanted = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map((name) => at(spec, name));
  const errors: FieldError[] = unwanted.filter(({ value }) => (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null))
    .map(({ path }) => forbiddenField(path, 'may not be set for ExternalName services'));
  const name = at(spec, 'externalName');
  const text = toText(name.value).replace(/\.$/, '');
  return [...errors, ...(text === '' ? checkRequired({ path: name.path, value: text }) : checkText({ path: name.path, value: text }, checkDnsSubdomain))];
}

/** What only some types may have or lack. */
function checkType(spec: Field): Errors {
  const type = typeOf(spec);
  if (type === 'ExternalName') return checkExternalName(spec);
  if (type !== 'LoadBalancer' && type !== 'NodePort') return [];
  const errors: FieldError[] = [];
  if (type === 'LoadBalancer') {
    for (const port of each(at(spec, 'ports'))) {
      const place = at(port, 'port');
      if (place.value !== kubeletPort) continue;
      errors.push(invalidValue(place.path, kubeletPort, `may not expose port ${kubeletPort} externally since it is used by kubelet`));
    }
  }
  if (isHeadless(spec)) errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  return errors;
}

function checkAffinity(spec: Field): Errors {
  const affinity = at(spec, 'sessionAffinity');
  const errors = checkOneOf(affinity, ['ClientIP', 'None']);
  const config = at(spec, 'sessionAffinityConfig');
  if (affinity.value === 'None') {
    return isGiven(config) ? [...errors, forbiddenField(config.path, 'must not be set when session affinity is None')] : errors;
  }
  const timeout = at(config, 'clientIP', 'timeoutSeconds');
  const seconds = toNumber(timeout.value);
  const bad = affinity.value === 'ClientIP' && isGiven(timeout) && (seconds <= 0 || seconds > maxAffinitySeconds);
  return bad ? [...errors, invalidValue(timeout.path, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)] : errors;
}

/** Addresses that make no sense as addresses of others. */
function specialProblems(text: string): string[] {
  const address = parseIpAddress(text);
  if (address === undefined) return [ipProblem];
  const { family, value } = address;
  const within = (range: string): boolean => {
    const { base = 0n, size = 0n, family: other = '' } = parseIpRange(range) ?? {};
    return other === family && value >= base && value < base + size;
  };
  const problems: string[] = [];
  if (value === 0n) problems.push(`may not be unspecified (${JSON.stringify(family === 'IPv4' ? '0.0.0.0' : '::')})`);
  if (within('127.0.0.0/8') || within('::1/128')) problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (within('169.254.0.0/16') || within('fe80::/10')) problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if (within('224.0.0.0/24') || within('ff02::/16')) problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  return problems;
}

function checkBalancing(spec: Field): Errors {
  const balanced = typeOf(spec) === 'LoadBalancer';
  const errors: FieldError[] = [];
  if (toList(at(spec, 'loadBalancerSourceRanges').value).length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    if (!balanced) errors.push(forbiddenField(path, onlyBalanced));
    for (const [index, value] of toList(readPath(spec.value, 'loadBalancerSourceRanges')).entries()) {
      errors.push(...checkRange({ path: `${path}[${index}]`, value: toText(value).trim() }));
    }
  }
  const allocates = at(spec, 'allocateLoadBalancerNodePorts');
  if (!balanced && isGiven(allocates)) errors.push(forbiddenField(allocates.path, onlyBalanced));
  return [...errors, ...checkBalancerClass(spec)];
}

function checkBalancerClass(spec: Field): Errors {
  const balancer = at(spec, 'loadBalancerClass');
  if (!isThere(balancer)) return [];
  return typeOf(spec) === 'LoadBalancer' ? checkText(balancer, checkQualifiedName) : [forbiddenField(balancer.path, onlyBalanced)];
}

const policies = ['Cluster', 'Local'];

function checkTrafficPolicies(spec: Field): Errors {
  const errors: FieldError[] = [];
  const type = typeOf(spec);
  const external = at(spec, 'externalTrafficPolicy');
  const isReachable = type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && toList(readPath(spec.value, 'externalIPs')).length > 0);
  if (isReachable) errors.push(...(isGiven(external) ? checkOneOf(external, policies) : [required(external.path)]));
  else if (isGiven(external)) errors.push(invalidValue(external.path, external.value, 'may only be set for externally-accessible services'));
  const health = at(spec, 'healthCheckNodePort');
  if (toNumber(health.value) !== 0 && !(type === 'LoadBalancer' && external.value === 'Local')) {
    errors.push(invalidValue(health.path, health.value, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"));
  }
  const internal = at(spec, 'internalTrafficPolicy');
  if (isThere(internal)) errors.push(...checkOneOf(internal, policies));
  const distribution = at(spec, 'trafficDistribution');
  if (isThere(distribution)) errors.push(...checkOneOf(distribution, ['PreferClose', 'PreferSameZone', 'PreferSameNode'], true));
  return errors;
}

/** Validates services. */
export function validateService(service: KubeObject): Errors {
  const spec = specOf(service);
  const ports = each(at(spec, 'ports'));
  const type = typeOf(spec);
  const errors: FieldError[] = [];
  if (ports.length === 0 && type !== 'ExternalName' && !isHeadless(spec)) errors.push(required('spec.ports'));
  errors.push(...checkType(spec));
  const names = new Set<string>();
  for (const port of ports) errors.push(...checkServicePort(port, ports.length > 1, names));
  const selected = Object.entries(toObject(readPath(spec.value, 'selector')));
  errors.push(...selected.flatMap(([key, value]) => [
    ...checkText({ path: 'spec.selector', value: key }, checkQualifiedName), ...checkText({ path: 'spec.selector', value }, checkLabelValue)]));
  errors.push(...checkAffinity(spec));
  errors.push(...each(at(spec, 'externalIPs')).flatMap((ip) => checkText(ip, specialProblems)));
  errors.push(...checkOneOf(at(spec, 'type'), types));
  errors.push(...checkNodePorts(ports, type), ...checkPortsDiffer(ports));
  return [...errors, ...checkBalancing(spec), ...checkTrafficPolicies(spec)];
}

const unchanging = 'may not change once set';

/** Addresses stay: a second one may come or go. */
function checkSameAddresses(spec: Field, old: Field): Errors {
  if (typeOf(spec) === 'ExternalName' || typeOf(old) === 'ExternalName' || (isHeadless(spec) && isHeadless(old))) return [];
  const errors: FieldError[] = [];
  for (const name of ['clusterIPs', 'ipFamilies']) {
    const [now, before] = [toList(readPath(spec.value, name)), toList(readPath(old.value, name))];
    const count = Math.min(now.length, before.length);
    if (before.length > 0 && now.length === 0) {
      errors.push(invalidValue(`spec.${name}[0]`, now, `primary ${name === 'clusterIPs' ? 'clusterIP' : 'ipFamily'} can not be unset`));
    }
    for (let index = 0; index < count; index++) if (now[index] !== before[index]) errors.push(invalidValue(`spec.${name}[${index}]`, now, unchanging));
    const policy = at(spec, 'ipFamilyPolicy');
    if (now.length === 1 && before.length === 2 && policy.value !== 'SingleStack') {
      const which = name === 'clusterIPs' ? 'clusterIP' : 'ipFamily';
      errors.push(invalidValue(policy.path, policy.value ?? null, `must be set to 'SingleStack' when releasing the secondary ${which}`));
    }
  }
  return errors;
}

/** Validates updates of services. */
export function validateServiceUpdate(service: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(service), specOf(old)];
  const errors: FieldError[] = [...checkSameAddresses(spec, before)];
  const balancer = at(spec, 'loadBalancerClass');
  const wasBalanced = typeOf(spec) === 'LoadBalancer' && typeOf(before) === 'LoadBalancer';
  if (wasBalanced && !isSame(balancer.value ?? null, at(before, 'loadBalancerClass').value ?? null)) {
    errors.push(invalidValue(balancer.path, balancer.value ?? null, unchanging));
  }
  // The reference looks at the class twice, and clients see both causes.
  errors.push(...checkBalancerClass(spec));
  return [...errors, ...validateService(service)];
}

/** Validates ipaddresses: named for an address, belonging to somebody. */
export function validateIpAddress(object: KubeObject): Errors {
  const name = object.metadata.name ?? '';
  const errors: FieldError[] = parseIpAddress(name) === undefined ? [invalidValue('metadata.name', name, ipProblem)] : [];
  const parent = at(specOf(object), 'parentRef');
  if (!isGiven(parent)) return [...errors, required(parent.path)];
  return [...errors, ...['resource', 'name'].flatMap((member) => checkRequired(at(parent, member)))];
}

/** Validates updates of ipaddresses; the reference shows the parent as Go writes it. */
export function validateIpAddressUpdate(object: KubeObject, old: KubeObject): Errors {
  const parent = at(specOf(object), 'parentRef');
  const text = (name: string): string => toText(readPath(parent.value, name));
  const shown = { Group: text('group'), Resource: text('resource'), Namespace: text('namespace'), Name: text('name') };
  return isSame(parent.value, at(specOf(old), 'parentRef').value) ? [] : [invalidValue(parent.path, shown, 'field is immutable')];
}

/** Validates servicecidrs: one range, or one of each family. */
export function validateServiceCidr(object: KubeObject): Errors {
  const cidrs = at(specOf(object), 'cidrs');
  const list = toList(cidrs.value);
  if (list.length === 0) return [required(cidrs.path, 'at least one CIDR required')];
  if (list.length > 2) return [invalidValue(cidrs.path, list, 'must only hold up to 2 values')];
  const ranges = list.map((text) => parseIpRange(toText(text)));
  const errors: FieldError[] = [];
  if (list.length === 2 && ranges[0] !== undefined && ranges[0].family === ranges[1]?.family) {
    errors.push(invalidValue(cidrs.path, list, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'));
  }
  return [...errors, ...each(cidrs).flatMap(({ path, value }, index) => {
    const range = ranges[index];
    if (range === undefined) return [invalidValue(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
    return range.exact ? [] : [invalidValue(path, value, 'must not have bits set beyond the prefix length')];
  })];
}

/** Errors of an update of a range; a second family may be added. */
export function checkSameRanges(object: KubeObject, old: KubeObject): Errors {
  const [now, before] = [toList(at(specOf(object), 'cidrs').value), toList(at(specOf(old), 'cidrs').value)];
  return before.every((range, index) => now[index] === range) ? [] : [invalidValue('spec.cidrs[0]', toText(now[0]), 'field is immutable')];
}
