// Validation of ingresses, their classes, and networkpolicies.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkPathSegment, checkWildcardDnsSubdomain, containsAddress, forbiddenField,
  invalidValue, parseIpAddress, parseIpRange, required, tooLong,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkImmutable, checkOneOf, checkPortName, checkPortNumber, checkSelector, checkText, each, isGiven } from './check.ts';

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });

function checkHostName(place: Field): Errors {
  return checkText(place, toText(place.value).includes('*') ? checkWildcardDnsSubdomain : checkDnsSubdomain);
}

function checkReference(reference: Field): Errors {
  const group = at(reference, 'apiGroup');
  return [
    ...(isGiven(group) ? checkText(group, checkDnsSubdomain) : []),
    ...['kind', 'name'].flatMap((member) => {
      const place = at(reference, member);
      return toText(place.value) === '' ? [required(place.path)] : checkText(place, checkPathSegment);
    }),
  ];
}

function checkServiceBackend(backend: Field): Errors {
  const name = at(backend, 'service', 'name');
  const errors: FieldError[] = toText(name.value) === '' ? [required(name.path)] : [...checkText(name, checkDnsLabel)];
  const portName = at(backend, 'service', 'port', 'name');
  const portNumber = at(backend, 'service', 'port', 'number');
  const [hasName, hasNumber] = [toText(portName.value) !== '', toNumber(portNumber.value ?? 0) !== 0];
  if (hasName && hasNumber) return [...errors, invalidValue(backend.path, '', 'cannot set both port name & port number')];
  if (hasName) return [...errors, ...checkText(portName, checkPortName)];
  return hasNumber ? [...errors, ...checkPortNumber(portNumber)] : [...errors, required(backend.path, 'port name or number is required')];
}

function checkBackend(backend: Field): Errors {
  const [hasResource, hasService] = [isGiven(at(backend, 'resource')), isGiven(at(backend, 'service'))];
  if (hasResource && hasService) return [invalidValue(backend.path, '', 'cannot set both resource and service backends')];
  if (hasResource) return checkReference(at(backend, 'resource'));
  return hasService ? checkServiceBackend(backend) : [invalidValue(backend.path, '', 'resource or service backend is required')];
}

const wrongSequences = ['//', '/./', '/../', '%2f', '%2F'];
const wrongEnds = ['/..', '/.'];

function checkExactPath(place: Field): Errors {
  const path = toText(place.value);
  return [
    ...(path.startsWith('/') ? [] : [invalidValue(place.path, path, 'must be an absolute path')]),
    ...wrongSequences.filter((sequence) => path.includes(sequence)).map((sequence) => invalidValue(place.path, path, `must not contain '${sequence}'`)),
    ...wrongEnds.filter((end) => path.endsWith(end)).map((end) => invalidValue(place.path, path, `cannot end with '${end}'`)),
  ];
}

function checkPath(entry: Field): Errors {
  const type = at(entry, 'pathType');
  const path = at(entry, 'path');
  if (!isGiven(type)) return [required(type.path, 'pathType must be specified')];
  const errors: FieldError[] = [];
  if (type.value === 'Exact' || type.value === 'Prefix') errors.push(...checkExactPath(path));
  else if (type.value !== 'ImplementationSpecific') errors.push(...checkOneOf(type, ['Exact', 'ImplementationSpecific', 'Prefix']));
  else if (toText(path.value) !== '' && !toText(path.value).startsWith('/')) errors.push(invalidValue(path.path, path.value, 'must be an absolute path'));
  return [...errors, ...checkBackend(at(entry, 'backend'))];
}

function checkRule(rule: Field): Errors {
  const host = at(rule, 'host');
  const errors: FieldError[] = [];
  if (toText(host.value) !== '') {
    if (parseIpAddress(toText(host.value)) !== undefined) errors.push(invalidValue(host.path, host.value, 'must be a DNS name, not an IP address'));
    errors.push(...checkHostName(host));
  }
  const http = at(rule, 'http');
  if (!isGiven(http)) return errors;
  const paths = at(http, 'paths');
  return toList(paths.value).length === 0 ? [...errors, required(paths.path)] : [...errors, ...each(paths).flatMap(checkPath)];
}

/** Validates ingresses, whether new or updated. */
export function validateIngressUpdate(ingress: KubeObject): Errors {
  const spec = specOf(ingress);
  const backend = at(spec, 'defaultBackend');
  const className = at(spec, 'ingressClassName');
  const rules = each(at(spec, 'rules'));
  const errors: FieldError[] = [];
  if (rules.length === 0 && !isGiven(backend)) errors.push(invalidValue('spec', undefined, 'either `defaultBackend` or `rules` must be specified'));
  if (isGiven(backend)) errors.push(...checkBackend(backend));
  errors.push(...rules.flatMap(checkRule));
  for (const tls of each(at(spec, 'tls'))) {
    const secret = at(tls, 'secretName');
    errors.push(...each(at(tls, 'hosts')).flatMap(checkHostName), ...(toText(secret.value) === '' ? [] : checkText(secret, checkDnsSubdomain)));
  }
  return isGiven(className) ? [...errors, ...checkText(className, checkDnsSubdomain)] : errors;
}

const classAnnotation = 'kubernetes.io/ingress.class';

/** Validates new ingresses. */
export function validateIngress(ingress: KubeObject): Errors {
  const wanted = ingress.metadata.annotations?.[classAnnotation];
  const named = readPath(ingress, 'spec', 'ingressClassName');
  const differs = wanted !== undefined && named !== undefined && named !== wanted;
  const error = invalidValue(`annotations.${classAnnotation}`, wanted, 'must match `ingressClassName` when both are specified');
  return [...validateIngressUpdate(ingress), ...(differs ? [error] : [])];
}

const maxControllerLength = 250;
const domainPrefixed = /^[^/]+\/.+$/;

function checkController(place: Field): Errors {
  const text = toText(place.value);
  const errors: FieldError[] = text.length > maxControllerLength ? [tooLong(place.path, maxControllerLength)] : [];
  if (text === '') return [...errors, required(place.path)];
  if (!domainPrefixed.test(text)) return [...errors, invalidValue(place.path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [...errors, ...checkText({ path: place.path, value: text.slice(0, text.indexOf('/')) }, checkDnsSubdomain)];
}

function checkParameters(parameters: Field): Errors {
  const scope = at(parameters, 'scope');
  const namespace = at(parameters, 'namespace');
  const errors = checkReference(parameters);
  const wrongScope = checkOneOf(scope, ['Cluster', 'Namespace']);
  if (wrongScope.length > 0) return [...errors, ...wrongScope];
  if (scope.value === 'Cluster') return isGiven(namespace) ? [...errors, forbiddenField(namespace.path, "`parameters.scope` is set to 'Cluster'")] : errors;
  if (!isGiven(namespace)) return [...errors, required(namespace.path, "`parameters.scope` is set to 'Namespace'")];
  return [...errors, ...checkText(namespace, checkDnsLabel)];
}

/** Validates ingressclasses. */
export function validateIngressClass(ingressClass: KubeObject): Errors {
  const parameters = at(specOf(ingressClass), 'parameters');
  return [...checkController(at(specOf(ingressClass), 'controller')), ...(isGiven(parameters) ? checkParameters(parameters) : [])];
}

/** Errors of an update that gives a class to another controller. */
export function checkSameController(ingressClass: KubeObject, old: KubeObject): Errors {
  return checkImmutable(at(specOf(ingressClass), 'controller'), at(specOf(old), 'controller'));
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

const rangeProblem = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function checkBlock(block: Field): Errors {
  const cidr = at(block, 'cidr');
  if (toText(cidr.value) === '') return [required(cidr.path)];
  const range = parseIpRange(toText(cidr.value));
  if (range === undefined) return [invalidValue(cidr.path, cidr.value, rangeProblem)];
  return each(at(block, 'except')).flatMap(({ path, value }) => {
    const inner = parseIpRange(toText(value));
    if (inner === undefined) return [invalidValue(path, value, rangeProblem)];
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
export function validateNetworkPolicy(policy: KubeObject): Errors {
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
