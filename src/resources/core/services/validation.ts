// Validation of Services. Addresses are allocated before it runs, so it sees the families and addresses that the object gets.
import {
  type FieldError, type KubeObject, behindStrict, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, checkServiceAddresses, duplicate,
  equalJson, forbiddenField, invalidValue, notSupportedText, parseIpRange, parseLenientIp, required,
} from '../../../apimachinery/index.ts';
import { checkIp, checkRange } from '../../common/validation/addresses.ts';
import { type Errors, type Field, at, checkOneOf, checkRequired, checkText, each, isFilled, isGiven, specOf } from '../../common/validation/check.ts';
import { checkPort, checkPortNumber } from '../../common/validation/ports.ts';
import { readPath, toList, toNumber, toObject, toText } from '../../common/values.ts';

const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'";
const MAX_AFFINITY_SECONDS = 86_400;
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const isHeadless = (spec: Field): boolean => equalJson(readPath(spec.value, 'clusterIPs'), ['None']);
const readAnnotation = (service: KubeObject | undefined, name: string): string | undefined => service?.metadata.annotations?.[name];
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
  return [...errors, ...checkPort(targetOf(port)), ...(isGiven(protocol) ? checkText(protocol, checkQualifiedName) : [])];
}

/** The target port; defaults to the port. */
function targetOf(port: Field): Field {
  const target = at(port, 'targetPort');
  return target.value === undefined ? { path: target.path, value: toNumber(readPath(port.value, 'port')) } : target;
}

/** Port and protocol are unique together; the error shows them in an otherwise empty port. */
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
  const given = ports.filter((port) => toNumber(at(port, 'nodePort').value) !== 0);
  const unwanted = type === 'ClusterIP' ? given.map((port) => forbiddenField(at(port, 'nodePort').path, "may not be used when `type` is 'ClusterIP'")) : [];
  return [...unwanted, ...given.flatMap((port) => {
    const place = at(port, 'nodePort');
    const number = toNumber(place.value);
    const key = `${toText(readPath(port.value, 'protocol'))}/${number}`;
    const errors = seen.has(key) ? [duplicate(place.path, number)] : [];
    seen.add(key);
    return errors;
  })];
}

function checkExternalName(spec: Field): Errors {
  const unwanted = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map((name) => at(spec, name));
  const errors: FieldError[] = unwanted.filter(({ value }) => (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null))
    .map(({ path }) => forbiddenField(path, 'may not be set for ExternalName services'));
  const name = at(spec, 'externalName');
  const text = toText(name.value).replace(/\.$/, '');
  return [...errors, ...(text === '' ? checkRequired({ path: name.path, value: text }) : checkText({ path: name.path, value: text }, checkDnsSubdomain))];
}

/** Rules about addresses that depend on the type. */
function checkType(spec: Field): Errors {
  const type = typeOf(spec);
  if (type === 'ExternalName') return checkExternalName(spec);
  if (type !== 'LoadBalancer' && type !== 'NodePort') return [];
  return isHeadless(spec) ? [invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)] : [];
}

function checkAffinity(spec: Field): Errors {
  const affinity = at(spec, 'sessionAffinity');
  const errors = checkOneOf(affinity, ['ClientIP', 'None']);
  const config = at(spec, 'sessionAffinityConfig');
  if (affinity.value === 'None') {
    return isFilled(config) ? [...errors, forbiddenField(config.path, 'must not be set when session affinity is None')] : errors;
  }
  const timeout = at(config, 'clientIP', 'timeoutSeconds');
  const seconds = toNumber(timeout.value);
  const bad = affinity.value === 'ClientIP' && isFilled(timeout) && (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS);
  return bad ? [...errors, invalidValue(timeout.path, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)] : errors;
}

/** The problems of an external IP, which is the address of another machine: loopback, link-local, unspecified. */
function specialProblems(text: string): string[] {
  const address = parseLenientIp(text);
  if (address === undefined) return [];
  const { family, value } = address;
  const within = (range: string): boolean => {
    const { base = 0n, size = 0n, family: other = '' } = parseIpRange(range) ?? {};
    return other === family && value >= base && value < base + size;
  };
  const problems: string[] = [];
  if (value === 0n) problems.push(`may not be unspecified (${text})`);
  if (within('127.0.0.0/8') || within('::1/128')) problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (within('169.254.0.0/16') || within('fe80::/10')) problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if (within('224.0.0.0/24') || within('ff02::/16')) problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  return problems;
}

/** The ranges that a load balancer lets in: those of the spec, else those of the annotation. Stored ranges stay, in the annotation as a whole. */
function checkSourceRanges(service: KubeObject, old: KubeObject | undefined): Errors {
  const rangesOf = (object: KubeObject | undefined): string[] =>
    toList(readPath(object, 'spec', 'loadBalancerSourceRanges')).map((range) => toText(range).trim());
  const ranges = rangesOf(service);
  const refuseType = (path: string): Errors => (typeOf(specOf(service)) === 'LoadBalancer' ? [] : [forbiddenField(path, ONLY_BALANCED)]);
  if (ranges.length > 0) {
    const [path, known] = ['spec.LoadBalancerSourceRanges', new Set(rangesOf(old))];
    return [...refuseType(path), ...ranges.flatMap((value, index) => checkRange({ path: `${path}[${index}]`, value }, known))];
  }
  const text = readAnnotation(service, SOURCE_RANGES);
  if (text === undefined) return [];
  const path = `metadata.annotations[${SOURCE_RANGES}]`;
  const isKnown = text.trim() === '' || readAnnotation(old, SOURCE_RANGES) === text;
  return [...refuseType(path), ...(isKnown ? [] : text.trim().split(',').flatMap((value) => checkRange({ path, value: value.trim() })))];
}

function checkBalancing(spec: Field): Errors {
  const allocates = at(spec, 'allocateLoadBalancerNodePorts');
  const unwanted = typeOf(spec) !== 'LoadBalancer' && isFilled(allocates) ? [forbiddenField(allocates.path, ONLY_BALANCED)] : [];
  return [...unwanted, ...checkBalancerClass(spec)];
}

function checkBalancerClass(spec: Field): Errors {
  const balancer = at(spec, 'loadBalancerClass');
  if (!isGiven(balancer)) return [];
  return typeOf(spec) === 'LoadBalancer' ? checkText(balancer, checkQualifiedName) : [forbiddenField(balancer.path, ONLY_BALANCED)];
}

const policies = ['Cluster', 'Local'];

/** Allocation gives a port to each Service that needs one; one that is created by way of its status has none. */
function checkHealthPort(health: Field, isNeeded: boolean): Errors {
  if (toNumber(health.value) === 0) return isNeeded ? [required(health.path)] : [];
  if (isNeeded) return checkPortNumber(health);
  return [invalidValue(health.path, health.value, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")];
}

function checkTrafficPolicies(spec: Field): Errors {
  const errors: FieldError[] = [];
  const type = typeOf(spec);
  const external = at(spec, 'externalTrafficPolicy');
  const isReachable = type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && toList(readPath(spec.value, 'externalIPs')).length > 0);
  if (isReachable) errors.push(...(isFilled(external) ? checkOneOf(external, policies) : [required(external.path)]));
  else if (isFilled(external)) errors.push(invalidValue(external.path, external.value, 'may only be set for externally-accessible services'));
  const health = at(spec, 'healthCheckNodePort');
  errors.push(...checkHealthPort(health, type === 'LoadBalancer' && external.value === 'Local'));
  const internal = at(spec, 'internalTrafficPolicy');
  if (isGiven(internal)) errors.push(...checkOneOf(internal, policies));
  const distribution = at(spec, 'trafficDistribution');
  if (isGiven(distribution)) errors.push(...checkDistribution(distribution));
  return errors;
}

const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

/** A plain text in Go, unlike other values of a closed set. */
const checkDistribution = ({ path, value }: Field): Errors =>
  (distributions.includes(toText(value)) ? [] : [notSupportedText(path, toText(value), distributions, true)]);

/** An external IP, which an update may keep even if it is invalid. */
function checkExternalIp(ip: Field, known: ReadonlySet<unknown>): Errors {
  const errors = checkIp(ip, known);
  return [...errors, ...behindStrict(errors, () => checkText(ip, specialProblems))];
}

/** The older annotation of topology, where there is one, says the same as the newer one. */
function checkTopology(service: KubeObject): Errors {
  const [mode, hints] = [readAnnotation(service, TOPOLOGY_MODE), readAnnotation(service, TOPOLOGY_HINTS)];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  return [invalidValue(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`)];
}

/** Validates services; `old` is absent for new ones. */
export function validateService(service: KubeObject, old?: KubeObject): Errors {
  const spec = specOf(service);
  const known = new Set<unknown>(toList(readPath(old, 'spec', 'externalIPs')));
  const ports = each(at(spec, 'ports'));
  const type = typeOf(spec);
  const errors: FieldError[] = [...checkTopology(service)];
  if (ports.length === 0 && type !== 'ExternalName' && !isHeadless(spec)) errors.push(required('spec.ports'));
  errors.push(...checkType(spec));
  const names = new Set<string>();
  for (const port of ports) errors.push(...checkServicePort(port, ports.length > 1, names));
  const selected = Object.entries(toObject(readPath(spec.value, 'selector')));
  errors.push(...selected.flatMap(([key, value]) => [
    ...checkText({ path: 'spec.selector', value: key }, checkQualifiedName), ...checkText({ path: 'spec.selector', value }, checkLabelValue)]));
  errors.push(...checkAffinity(spec));
  if (old === undefined) errors.push(...checkServiceAddresses(toObject(spec.value)));
  errors.push(...each(at(spec, 'externalIPs')).flatMap((ip) => checkExternalIp(ip, known)));
  errors.push(...checkOneOf(at(spec, 'type'), types));
  errors.push(...checkNodePorts(ports, type), ...checkPortsDiffer(ports));
  return [...errors, ...checkSourceRanges(service, old), ...checkBalancing(spec), ...checkTrafficPolicies(spec)];
}

const UNCHANGING = 'may not change once set';

/** Cluster IPs are immutable, but a secondary one may be added or removed. */
function checkSameAddresses(spec: Field, old: Field): Errors {
  if (typeOf(spec) === 'ExternalName' || typeOf(old) === 'ExternalName' || (isHeadless(spec) && isHeadless(old))) return [];
  const errors: FieldError[] = [];
  for (const name of ['clusterIPs', 'ipFamilies']) {
    const [now, before] = [toList(readPath(spec.value, name)), toList(readPath(old.value, name))];
    const count = Math.min(now.length, before.length);
    if (before.length > 0 && now.length === 0) {
      errors.push(invalidValue(`spec.${name}[0]`, now, `primary ${name === 'clusterIPs' ? 'clusterIP' : 'ipFamily'} can not be unset`));
    }
    for (let index = 0; index < count; index++) if (now[index] !== before[index]) errors.push(invalidValue(`spec.${name}[${index}]`, now, UNCHANGING));
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
  if (wasBalanced && !equalJson(balancer.value ?? null, at(before, 'loadBalancerClass').value ?? null)) {
    errors.push(invalidValue(balancer.path, balancer.value ?? null, UNCHANGING));
  }
  const port = 'healthCheckNodePort';
  const isChecked = [spec, before].every((one) => typeOf(one) === 'LoadBalancer' && at(one, 'externalTrafficPolicy').value === 'Local');
  const isPort = (one: Field): number => toNumber(at(one, port).value);
  if (isChecked && isPort(spec) !== isPort(before)) errors.push(forbiddenField(at(spec, port).path, 'field is immutable'));
  // The reference validates the class twice, and clients see both causes.
  errors.push(...checkBalancerClass(spec));
  return [...errors, ...validateService(service, old)];
}
