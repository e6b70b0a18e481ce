// networking.k8s.io/v1 Ingress.
import {
  type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkWildcardDnsSubdomain, invalidValue, parseIpAddress, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, textOr, withNameAndAge } from '../common/columns/columns.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isGiven, specOf, statusOf } from '../common/validation/check.ts';
import { checkPortName, checkPortNumber } from '../common/validation/ports.ts';
import { readPath, toList, toNumber, toObjects, toText } from '../common/values.ts';
import { annotation, rootOf } from '../common/warnings/warnings.ts';
import { checkIngressPoints, formatLoadBalancer, ingressAddresses } from '../core/services/load-balancer.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerIngresses } from './former-versions.ts';
import { checkReference } from './references.ts';

/** After three hosts the reference prints the number of remaining rules, those without host included. */
function formatHosts(object: KubeObject): string {
  const rules = toObjects(readPath(object, 'spec', 'rules'));
  const hosts: string[] = [];
  for (const rule of rules) {
    if (hosts.length === 3) return `${hosts.join(',')} + ${rules.length - 3} more...`;
    const host = toText(rule['host']);
    if (host !== '') hosts.push(host);
  }
  return hosts.length === 0 ? '*' : hosts.join(',');
}

/** Columns of ingresses. */
const ingressColumns: readonly Column[] = withNameAndAge(
  column('Class', (object) => textOr(readPath(object, 'spec', 'ingressClassName'), '<none>')),
  column('Hosts', formatHosts),
  column('Address', (object) => formatLoadBalancer(object['status'])),
  column('Ports', (object) => (toList(readPath(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80')),
);

function checkHostName(place: Field): Errors {
  return checkText(place, toText(place.value).includes('*') ? checkWildcardDnsSubdomain : checkDnsSubdomain);
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
function validateIngressUpdate(ingress: KubeObject): Errors {
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

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** Validates new ingresses. */
function validateIngress(ingress: KubeObject): Errors {
  const wanted = ingress.metadata.annotations?.[CLASS_ANNOTATION];
  const named = readPath(ingress, 'spec', 'ingressClassName');
  const differs = wanted !== undefined && named !== undefined && named !== wanted;
  const error = invalidValue(`annotations.${CLASS_ANNOTATION}`, wanted, 'must match `ingressClassName` when both are specified');
  return [...validateIngressUpdate(ingress), ...(differs ? [error] : [])];
}

/** Status of an Ingress. */
function validateIngressStatus(object: KubeObject, old: KubeObject): Errors {
  return checkIngressPoints(at(statusOf(object), 'loadBalancer'), readPath(old, 'status', 'loadBalancer'));
}

const INGRESS_CLASS = 'kubernetes.io/ingress.class';

/** Warns of new ingresses that name their class in an annotation. */
function warnOfIngressClass(root: Field): readonly string[] {
  if (annotation(root, INGRESS_CLASS) === undefined || readPath(root.value, 'spec', 'ingressClassName') !== undefined) return [];
  return [`annotation "${INGRESS_CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
}

/** The spec of Ingress. */
export const ingressKind: KindSpec = {
  kind: 'Ingress', plural: 'ingresses', shortNames: ['ing'],
  formerVersions: formerIngresses,
  storagePrefix: 'ingress',
  tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['update', 'object', 'kind'],
  columns: ingressColumns,
  validation: { object: validateIngress, update: validateIngressUpdate, status: validateIngressStatus },
  warnings: (object, old, { subresource }) => [
    ...(old === undefined ? warnOfIngressClass(rootOf(object)) : []), ...(subresource === 'status' ? ingressAddresses(rootOf(object)) : []),
  ],
};
