// Validation of configuration and of kinds with a few simple rules: configmaps, secrets, rbac, storage and scheduling classes, leases.
import {
  type FieldError, type KubeObject, byteLength, checkConfigMapKey, checkDnsSubdomain, checkQualifiedName, duplicate, forbiddenField,
  invalidValue, required, tooLong,
} from '../../apimachinery/index.ts';
import { JsonError, parseJson } from '../../codec/index.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../columns/common.ts';
import {
  type Errors, type Field, at, checkImmutable, checkLabelName, checkLabels, checkNotNegative, checkOneOf, checkRequired, checkSelector, checkText, each,
  isEmptyText, isGiven, isSame,
} from './check.ts';
import { checkResources } from './pod-resources.ts';
import { checkTolerations } from './pod-scheduling.ts';

const maxDataBytes = 1_048_576;
const sealedText = 'field is immutable when `immutable` is set';
const member = (object: KubeObject, name: string): Field => ({ path: name, value: object[name] });
const specOf = (object: KubeObject): Field => member(object, 'spec');

/** Bytes that a base64 text stands for. */
function decodedLength(text: string): number {
  return Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
}

function checkKey(path: string, key: string): Errors {
  return checkConfigMapKey(key).map((problem) => invalidValue(`${path}[${key}]`, key, problem));
}

/** Validates configmaps. */
export function validateConfigMap(configMap: KubeObject): Errors {
  const data = toObject(configMap['data']);
  const binary = toObject(configMap['binaryData']);
  const errors: FieldError[] = [];
  let size = 0;
  for (const key of Object.keys(data).sort()) {
    errors.push(...checkKey('data', key));
    if (Object.hasOwn(binary, key)) errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    size += byteLength(toText(data[key]));
  }
  for (const key of Object.keys(binary).sort()) {
    errors.push(...checkKey('binaryData', key));
    size += decodedLength(toText(binary[key]));
  }
  return size > maxDataBytes ? [...errors, tooLong('[]', maxDataBytes)] : errors;
}

/** What `immutable: true` seals, and that it cannot be undone; the order is the reference's. */
function checkSealed(object: KubeObject, old: KubeObject, fields: readonly string[]): Errors {
  if (old['immutable'] !== true) return [];
  const errors: FieldError[] = object['immutable'] === true ? [] : [forbiddenField('immutable', sealedText)];
  return [...errors, ...fields.filter((name) => !isSame(toObject(object[name]), toObject(old[name]))).map((name) => forbiddenField(name, sealedText))];
}

/** Validates updates of configmaps. */
export function validateConfigMapUpdate(configMap: KubeObject, old: KubeObject): Errors {
  return [...checkSealed(configMap, old, ['data', 'binaryData']), ...validateConfigMap(configMap)];
}

/** Keys that secrets of a type must have. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
};
const accountAnnotation = 'kubernetes.io/service-account.name';

/** Credentials of registries are a JSON object; what is wrong with them is told without showing them. */
function checkSecretJson(path: string, base64: string): Errors {
  const refuse = (why: string): Errors => [invalidValue(path, '<secret contents redacted>', why)];
  try {
    const { value } = parseJson(Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)));
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return [];
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';
    return refuse(`json: cannot unmarshal ${type} into Go value of type map[string]interface {}`);
  } catch (error) {
    if (error instanceof JsonError) return refuse(error.message);
    throw error;
  }
}

function checkSecretType(secret: KubeObject, data: Readonly<Record<string, unknown>>): Errors {
  const type = toText(secret['type']);
  if (type === 'kubernetes.io/service-account-token' && !secret.metadata.annotations?.[accountAnnotation]) {
    return [required(`metadata.annotations[${accountAnnotation}]`)];
  }
  if (type === 'kubernetes.io/basic-auth' && data['username'] === undefined && data['password'] === undefined) {
    return [required('data[username]'), required('data[password]')];
  }
  if (type === 'kubernetes.io/ssh-auth' && !data['ssh-privatekey']) return [required('data[ssh-privatekey]')];
  const keys = Object.hasOwn(requiredKeys, type) ? requiredKeys[type] as readonly string[] : [];
  const missing = keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  return missing.length > 0 || type === 'kubernetes.io/tls' ? missing : keys.flatMap((key) => checkSecretJson(`data[${key}]`, toText(data[key])));
}

/** Validates secrets. */
export function validateSecret(secret: KubeObject): Errors {
  const data = toObject(secret['data']);
  const size = Object.values(data).reduce((sum: number, text) => sum + decodedLength(toText(text)), 0);
  const errors: FieldError[] = Object.keys(data).sort().flatMap((key) => checkKey('data', key));
  if (size > maxDataBytes) errors.push(tooLong('data', maxDataBytes));
  return [...errors, ...checkSecretType(secret, data)];
}

/** Validates updates of secrets. */
export function validateSecretUpdate(secret: KubeObject, old: KubeObject): Errors {
  return [...checkImmutable(member(secret, 'type'), member(old, 'type')), ...checkSealed(secret, old, ['data']), ...validateSecret(secret)];
}

function checkRule(rule: Field, namespaced: boolean): Errors {
  const list = (name: string): Field => at(rule, name);
  const isEmpty = (name: string): boolean => toList(list(name).value).length === 0;
  const errors: FieldError[] = isEmpty('verbs') ? [required(list('verbs').path, 'verbs must contain at least one value')] : [];
  if (!isEmpty('nonResourceURLs')) {
    const urls = list('nonResourceURLs');
    if (namespaced) errors.push(invalidValue(urls.path, urls.value, 'namespaced rules cannot apply to non-resource URLs'));
    const mixed = ['apiGroups', 'resources', 'resourceNames'].some((name) => !isEmpty(name));
    if (mixed) errors.push(invalidValue(urls.path, urls.value, 'rules cannot apply to both regular resources and non-resource URLs'));
    return errors;
  }
  if (isEmpty('apiGroups')) errors.push(required(list('apiGroups').path, 'resource rules must supply at least one api group'));
  if (isEmpty('resources')) errors.push(required(list('resources').path, 'resource rules must supply at least one resource'));
  return errors;
}

/** Validates roles. */
export function validateRole(role: KubeObject): Errors {
  return each(member(role, 'rules')).flatMap((rule) => checkRule(rule, true));
}

/** What a role gathers the rules of others by. */
function checkAggregation(aggregation: Field): Errors {
  if (!isGiven(aggregation)) return [];
  const selectors = at(aggregation, 'clusterRoleSelectors');
  const text = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  if (toList(selectors.value).length === 0) return [required(selectors.path, text)];
  return each(selectors).flatMap((selector): Errors => {
    const errors = checkSelector(selector);
    return errors.length === 0 ? [] : [...errors, invalidValue(selector.path, undefined, 'invalid label selector.')];
  });
}

/** Validates clusterroles. */
export function validateClusterRole(role: KubeObject): Errors {
  return [...each(member(role, 'rules')).flatMap((rule) => checkRule(rule, false)), ...checkAggregation(member(role, 'aggregationRule'))];
}

const rbacGroup = 'rbac.authorization.k8s.io';

function checkSubject(subject: Field, namespaced: boolean): Errors {
  const kind = toText(readPath(subject.value, 'kind'));
  const errors: FieldError[] = [...checkRequired(at(subject, 'name'))];
  if (kind === 'ServiceAccount') {
    if (errors.length === 0) errors.push(...checkText(at(subject, 'name'), checkDnsSubdomain));
    if (toText(readPath(subject.value, 'apiGroup')) !== '') errors.push(...checkOneOf(at(subject, 'apiGroup'), ['']));
    if (!namespaced) errors.push(...checkRequired(at(subject, 'namespace')));
    return errors;
  }
  if (kind === 'User' || kind === 'Group') return [...errors, ...checkOneOf(at(subject, 'apiGroup'), [rbacGroup])];
  return [...errors, ...checkOneOf(at(subject, 'kind'), ['ServiceAccount', 'User', 'Group'], true)];
}

function checkBinding(binding: KubeObject, kinds: readonly string[]): Errors {
  const reference = member(binding, 'roleRef');
  return [
    ...checkOneOf(at(reference, 'apiGroup'), [rbacGroup]), ...checkOneOf(at(reference, 'kind'), kinds, true), ...checkRequired(at(reference, 'name')),
    ...each(member(binding, 'subjects')).flatMap((subject) => checkSubject(subject, kinds.includes('Role'))),
  ];
}

/** Validates rolebindings. */
export function validateRoleBinding(binding: KubeObject): Errors {
  return checkBinding(binding, ['Role', 'ClusterRole']);
}

/** Validates clusterrolebindings. */
export function validateClusterRoleBinding(binding: KubeObject): Errors {
  return checkBinding(binding, ['ClusterRole']);
}

/** Errors of an update that changes which role is bound. */
export function checkRoleRef(binding: KubeObject, old: KubeObject): Errors {
  if (isSame(binding['roleRef'], old['roleRef'])) return [];
  const { apiGroup = '', kind = '', name = '' } = toObject(binding['roleRef']);
  return [invalidValue('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')];
}

/** Validates leases. */
export function validateLease(lease: KubeObject): Errors {
  const seconds = at(specOf(lease), 'leaseDurationSeconds');
  const positive = seconds.value === undefined || toNumber(seconds.value) > 0;
  const errors = positive ? [] : [invalidValue(seconds.path, seconds.value, 'must be greater than 0')];
  return [...errors, ...checkNotNegative(at(specOf(lease), 'leaseTransitions'))];
}

/** Validates storageclasses. */
export function validateStorageClass(storageClass: KubeObject): Errors {
  const [provisioner, policy] = [member(storageClass, 'provisioner'), member(storageClass, 'reclaimPolicy')];
  const lower = toText(provisioner.value).toLowerCase();
  const problems = checkQualifiedName(lower);
  return [
    ...(isEmptyText(provisioner) ? [required('provisioner')] : problems.map((problem) => invalidValue('provisioner', lower, problem))),
    ...(Object.hasOwn(toObject(storageClass['parameters']), '') ? [invalidValue('parameters', '', 'field can not be empty.')] : []),
    ...(isEmptyText(policy) ? [] : checkOneOf(policy, ['Delete', 'Retain'])),
    ...checkOneOf(member(storageClass, 'volumeBindingMode'), ['Immediate', 'WaitForFirstConsumer']),
    ...checkTopologies(member(storageClass, 'allowedTopologies')),
  ];
}

function checkTopology(term: Field): Errors {
  const keys = new Set<string>();
  return each(at(term, 'matchLabelExpressions')).flatMap((expression) => {
    const [key, values] = [at(expression, 'key'), at(expression, 'values')];
    const seen = new Set<string>();
    const errors: FieldError[] = toList(values.value).length === 0 ? [required(values.path)] : [];
    for (const { path, value } of each(values)) {
      if (seen.has(toText(value))) errors.push(duplicate(path, value));
      seen.add(toText(value));
    }
    errors.push(...checkText(key, checkQualifiedName));
    if (keys.has(toText(key.value))) errors.push(duplicate(key.path, toText(key.value)));
    keys.add(toText(key.value));
    return errors;
  });
}

/** What a term asks for, whatever the order: terms that ask for the same are one too many. */
function identify(term: Field): string {
  const expressions = toObjects(readPath(term.value, 'matchLabelExpressions'));
  const wanted = new Map(expressions.map((expression) => [toText(expression['key']), [...new Set(toList(expression['values']).map(toText))].sort()]));
  return JSON.stringify([...wanted].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The reference compares each term with as many empty ones as there are terms, besides those before it. */
function checkTopologies(list: Field): Errors {
  const terms = each(list);
  const known = terms.map(() => '[]');
  return terms.flatMap((term) => {
    const id = identify(term);
    const repeated = known.filter((other) => other === id).map(() => duplicate(at(term, 'matchLabelExpressions').path, ''));
    known.push(id);
    return [...checkTopology(term), ...repeated];
  });
}

/** Errors of an update of members that can never change. */
export function checkSameMembers(object: KubeObject, old: KubeObject, names: readonly string[]): Errors {
  return names.flatMap((name) => checkImmutable(member(object, name), member(old, name)));
}

const maxUserPriority = 1_000_000_000;
const systemPriorities: Readonly<Record<string, number>> = { 'system-cluster-critical': 2_000_000_000, 'system-node-critical': 2_000_001_000 };

/** Validates priorityclasses; names that begin with `system-` belong to the server. */
export function validatePriorityClass(priorityClass: KubeObject): Errors {
  const name = priorityClass.metadata.name ?? '';
  const value = member(priorityClass, 'value');
  const errors: FieldError[] = [];
  if (name.startsWith('system-')) {
    if (systemPriorities[name] !== value.value) {
      const text = "priority class names with 'system-' prefix are reserved for system use only. error: ";
      const known = Object.hasOwn(systemPriorities, name);
      const why = known ? `value of ${name} PriorityClass must be ${systemPriorities[name]}` : `${name} is not a known system priority class`;
      errors.push(forbiddenField('metadata.name', text + why));
    }
  } else if (toNumber(value.value) > maxUserPriority) {
    errors.push(forbiddenField('value', `maximum allowed value of a user defined priority is ${maxUserPriority}`));
  }
  return [...errors, ...checkOneOf(member(priorityClass, 'preemptionPolicy'), ['PreemptLowerPriority', 'Never'], true)];
}

/** Errors of an update of what a priority means. */
export function checkSamePriority(priorityClass: KubeObject, old: KubeObject): Errors {
  const errors: FieldError[] = isSame(priorityClass['value'] ?? 0, old['value'] ?? 0) ? [] : [forbiddenField('value', 'may not be changed in an update.')];
  return [...errors, ...checkImmutable(member(priorityClass, 'preemptionPolicy'), member(old, 'preemptionPolicy'))];
}

/** Validates runtimeclasses. */
export function validateRuntimeClass(runtimeClass: KubeObject): Errors {
  return [
    ...checkLabelName(member(runtimeClass, 'handler')),
    ...checkResources({ path: 'overhead', value: { limits: readPath(runtimeClass, 'overhead', 'podFixed') } }),
    ...checkLabels({ path: 'scheduling.nodeSelector', value: readPath(runtimeClass, 'scheduling', 'nodeSelector') }),
    ...checkTolerations({ path: 'scheduling.tolerations', value: readPath(runtimeClass, 'scheduling', 'tolerations') }),
  ];
}
