// Validation of pods and pod templates, as far as it is common: containers with names, images, ports and probes, volumes and their mounts,
// the closed sets, and what an update of a pod may change.
import {
  type FieldError, type JsonObject, type KubeObject, duplicate, forbiddenField, invalidValue, notFoundValue, notSupported, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../columns/common.ts';
import {
  type Errors, type Place, at, checkLabelName, checkNotNegative, checkObjectName, checkOneOf, checkPort, checkPortName, checkPortNumber, checkRequired,
  checkText, each, isSame,
} from './check.ts';
import { type GoStructs, readGoStructs, shapeGoStruct } from './go-structs.ts';
import { checkResources } from './pod-resources.ts';
import { checkAffinity, checkNodeSelector, checkSpread, checkTolerations } from './pod-scheduling.ts';
import { checkContainerSecurity, checkPodSecurity } from './pod-security.ts';
import { podStructs } from './pod-structs.data.ts';
import { diffStructs } from './struct-diff.ts';

const protocols = ['SCTP', 'TCP', 'UDP'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const systems = ['linux', 'windows'];
const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function checkPortEntry(port: Place, names: Set<string>): Errors {
  const name = at(port, 'name');
  const text = toText(name.value);
  const errors: FieldError[] = [];
  if (text !== '') {
    const problems = checkText(name, checkPortName);
    errors.push(...problems);
    if (problems.length === 0 && names.has(text)) errors.push(duplicate(name.path, text));
    names.add(text);
  }
  const container = at(port, 'containerPort');
  errors.push(...(toNumber(container.value) === 0 ? [required(container.path)] : checkPortNumber(container)));
  const host = at(port, 'hostPort');
  if (toNumber(host.value) !== 0) errors.push(...checkPortNumber(host));
  return [...errors, ...checkOneOf(at(port, 'protocol'), protocols)];
}

function checkPorts(container: Place): Errors {
  const names = new Set<string>();
  const ports = each(at(container, 'ports'));
  const errors = ports.flatMap((port) => checkPortEntry(port, names));
  const taken = new Set<string>();
  for (const port of ports) {
    const host = at(port, 'hostPort');
    if (toNumber(host.value) === 0) continue;
    const key = `${toText(readPath(port.value, 'protocol'))}/${toText(readPath(port.value, 'hostIP'))}/${toText(host.value)}`;
    if (taken.has(key)) errors.push(duplicate(host.path, key));
    taken.add(key);
  }
  return errors;
}

function checkEnvironment(container: Place): Errors {
  return each(at(container, 'env')).flatMap((variable) => {
    const name = at(variable, 'name');
    const errors: FieldError[] = [];
    if (toText(name.value) === '') errors.push(required(name.path));
    else if (!/^[ -<>-~]+$/.test(toText(name.value))) {
      errors.push(invalidValue(name.path, name.value, "a valid environment variable name must consist only of printable ASCII characters other than '='"));
    }
    const source = at(variable, 'valueFrom');
    if (source.value !== undefined && toText(readPath(variable.value, 'value')) !== '') {
      errors.push(invalidValue(source.path, '', 'may not be specified when `value` is not empty'));
    }
    for (const kind of ['configMapKeyRef', 'secretKeyRef']) {
      const reference = at(source, kind);
      if (reference.value !== undefined) errors.push(...checkRequired(at(reference, 'key')));
    }
    return [...errors, ...checkFieldPath(at(source, 'fieldRef', 'fieldPath'))];
  });
}

const fieldPaths = [
  'metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName', 'status.hostIP', 'status.hostIPs', 'status.podIP',
  'status.podIPs',
];
const subscripted = /^metadata\.(?:annotations|labels)\['.+'\]$/;

function checkFieldPath({ path, value }: Place): Errors {
  if (value === undefined) return [];
  const text = toText(value);
  if (text === '') return [required(path)];
  if (fieldPaths.includes(text) || subscripted.test(text)) return [];
  return [invalidValue(path, text, `error converting fieldPath: field label not supported: ${text}`)];
}

function checkEnvironmentSources(container: Place): Errors {
  const list = at(container, 'envFrom');
  return each(list).flatMap((source): Errors => {
    const given = ['configMapRef', 'secretRef'].filter((name) => readPath(source.value, name) !== undefined);
    if (given.length === 0) return [invalidValue(list.path, '', 'must specify one of: `configMapRef` or `secretRef`')];
    return given.length > 1 ? [invalidValue(list.path, '', 'may not have more than one field specified at a time')] : [];
  });
}

const checkHttpGet = (http: Place): Errors =>
  [...checkRequired(at(http, 'path')), ...checkPort(at(http, 'port')), ...checkOneOf(at(http, 'scheme'), ['HTTP', 'HTTPS'])];

function checkHooks(container: Place): Errors {
  return ['postStart', 'preStop'].map((name) => at(container, 'lifecycle', name)).filter(({ value }) => value !== undefined).flatMap((hook) => {
    return readPath(hook.value, 'sleep') === undefined ? checkHandler(hook) : [];
  });
}

function checkHandler(handler: Place): Errors {
  const given = handlers.filter((name) => readPath(handler.value, name) !== undefined);
  if (given.length === 0) return [required(handler.path, 'must specify a handler type')];
  const errors: FieldError[] = given.slice(1).map((name) => forbiddenField(at(handler, name).path, 'may not specify more than 1 handler type'));
  const command = at(handler, 'exec', 'command');
  if (given[0] === 'exec' && toList(command.value).length === 0) errors.push(required(command.path));
  if (given[0] === 'httpGet') errors.push(...checkHttpGet(at(handler, 'httpGet')));
  return given[0] === 'tcpSocket' ? [...errors, ...checkPort(at(handler, 'tcpSocket', 'port'))] : errors;
}

function checkProbes(container: Place): Errors {
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((name) => {
    const probe = at(container, name);
    if (probe.value === undefined) return [];
    const numbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];
    const errors = [...checkHandler(probe), ...checkNotNegative(...numbers.map((number) => at(probe, number)))];
    const success = at(probe, 'successThreshold');
    if (name !== 'readinessProbe' && toNumber(success.value) !== 1) errors.push(invalidValue(success.path, success.value ?? 0, 'must be 1'));
    return errors;
  });
}

function checkMounts(container: Place, volumes: ReadonlySet<string>): Errors {
  const paths = new Set<string>();
  return each(at(container, 'volumeMounts')).flatMap((mount) => {
    const name = at(mount, 'name');
    const path = at(mount, 'mountPath');
    const errors: FieldError[] = [];
    if (toText(name.value) === '') errors.push(required(name.path));
    if (!volumes.has(toText(name.value))) errors.push(notFoundValue(name.path, toText(name.value)));
    if (toText(path.value) === '') errors.push(required(path.path));
    if (paths.has(toText(path.value))) errors.push(invalidValue(path.path, path.value, 'must be unique'));
    paths.add(toText(path.value));
    // The reference leaves the index out here.
    return [...errors, ...checkRelative({ path: `${container.path}.volumeMounts.subPath`, value: readPath(mount.value, 'subPath') })];
  });
}

/** A path below something, which it may not leave. */
function checkRelative({ path, value }: Place): Errors {
  const text = toText(value);
  const errors: FieldError[] = text.startsWith('/') ? [invalidValue(path, text, 'must be a relative path')] : [];
  return text.split('/').includes('..') ? [...errors, invalidValue(path, text, "must not contain '..'")] : errors;
}

interface ContainerContext {
  readonly names: Set<string>;
  readonly volumes: ReadonlySet<string>;
}

function checkContainer(container: Place, { names, volumes }: ContainerContext): Errors {
  const name = at(container, 'name');
  const image = at(container, 'image');
  const text = toText(image.value);
  const errors: FieldError[] = [...checkLabelName(name)];
  if (toText(name.value) !== '' && names.has(toText(name.value))) errors.push(duplicate(name.path, name.value));
  names.add(toText(name.value));
  if (text === '') errors.push(required(image.path));
  else if (text !== text.trim()) errors.push(invalidValue(image.path, text, 'must not have leading or trailing whitespace'));
  return [
    ...errors, ...checkHooks(container), ...checkProbes(container), ...checkOneOf(at(container, 'terminationMessagePolicy'), messagePolicies, true),
    ...checkPorts(container), ...checkEnvironment(container), ...checkEnvironmentSources(container), ...checkMounts(container, volumes),
    ...checkOneOf(at(container, 'imagePullPolicy'), pullPolicies), ...checkResources(at(container, 'resources')),
    ...checkContainerSecurity(at(container, 'securityContext')),
  ];
}

function checkVolume(volume: Place, names: Set<string>): Errors {
  const name = at(volume, 'name');
  const sources = Object.keys(toObject(volume.value)).filter((key) => key !== 'name');
  const given = sources.includes('emptyDir') ? ['emptyDir', ...sources.filter((kind) => kind !== 'emptyDir')] : sources;
  const errors: FieldError[] = given.slice(1).map((kind) => forbiddenField(at(volume, kind).path, 'may not specify more than 1 volume type'));
  for (const [kind, field] of [['secret', 'secretName'], ['persistentVolumeClaim', 'claimName'], ['hostPath', 'path']] as const) {
    if (given[0] === kind) errors.push(...checkRequired(at(volume, kind, field)));
  }
  for (const kind of ['configMap', 'secret']) if (given[0] === kind) errors.push(...checkFiles(at(volume, kind)));
  errors.push(...checkLabelName(name));
  if (names.has(toText(name.value))) errors.push(duplicate(name.path, name.value));
  names.add(toText(name.value));
  return errors;
}

function checkMode({ path, value }: Place): Errors {
  const isWrong = value !== undefined && (toNumber(value) < 0 || toNumber(value) > 0o777);
  return isWrong ? [invalidValue(path, value, 'must be a number between 0 and 0777 (octal), both inclusive')] : [];
}

/** Files that a volume is made of. */
function checkFiles(source: Place): Errors {
  return [
    ...checkMode(at(source, 'defaultMode')),
    ...each(at(source, 'items')).flatMap((item) => {
      const path = at(item, 'path');
      return [...checkRequired(at(item, 'key')), ...(toText(path.value) === '' ? [required(path.path)] : checkRelative(path)), ...checkMode(at(item, 'mode'))];
    }),
  ];
}

/** What a pod on the network of its node may not do, and the names that it is given to ask. */
function checkNetwork(spec: Place): Errors {
  const errors: FieldError[] = [];
  if (readPath(spec.value, 'hostNetwork') === true) {
    for (const port of [...each(at(spec, 'containers')), ...each(at(spec, 'initContainers'))].flatMap((container) => each(at(container, 'ports')))) {
      const host = at(port, 'hostPort');
      if (toNumber(host.value ?? 0) === toNumber(readPath(port.value, 'containerPort'))) continue;
      errors.push(invalidValue(host.path, host.value ?? 0, 'must match `containerPort` when `hostNetwork` is true'));
    }
  }
  if (readPath(spec.value, 'dnsPolicy') !== 'None') return errors;
  const config = at(spec, 'dnsConfig');
  const servers = at(config, 'nameservers');
  if (config.value === undefined) return [...errors, required(config.path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  if (toList(servers.value).length > 0) return errors;
  return [...errors, required(servers.path, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
}

/** Validates the spec of a pod or of a template. */
export function validatePodSpec(spec: Place): Errors {
  const volumes = new Set<string>();
  const names = new Set<string>();
  const containers = at(spec, 'containers');
  const errors: FieldError[] = each(at(spec, 'volumes')).flatMap((volume) => checkVolume(volume, volumes));
  if (toList(containers.value).length === 0) errors.push(required(containers.path));
  const context = { names, volumes };
  for (const list of [containers, at(spec, 'initContainers')]) errors.push(...each(list).flatMap((container) => checkContainer(container, context)));
  errors.push(
    ...checkOneOf(at(spec, 'restartPolicy'), restartPolicies, true), ...checkOneOf(at(spec, 'dnsPolicy'), dnsPolicies, true),
    ...checkNodeSelector(at(spec, 'nodeSelector')), ...checkNetwork(spec), ...checkPodSecurity(spec), ...checkAffinity(at(spec, 'affinity')),
    ...checkSpread(at(spec, 'topologySpreadConstraints')),
  );
  const account = at(spec, 'serviceAccountName');
  if (toText(account.value) !== '') errors.push(...checkObjectName(account));
  const nodeName = at(spec, 'nodeName');
  if (toText(nodeName.value) !== '') errors.push(...checkObjectName(nodeName));
  const deadline = at(spec, 'activeDeadlineSeconds');
  if (deadline.value !== undefined && (toNumber(deadline.value) < 1 || toNumber(deadline.value) > 2 ** 31 - 1)) {
    errors.push(invalidValue(deadline.path, deadline.value, 'must be between 1 and 2147483647, inclusive'));
  }
  if (toText(nodeName.value) !== '' && toList(readPath(spec.value, 'schedulingGates')).length > 0) {
    errors.push(forbiddenField(nodeName.path, 'cannot be set until all schedulingGates have been cleared'));
  }
  const system = at(spec, 'os', 'name');
  if (system.value !== undefined && !systems.includes(toText(system.value))) errors.push(notSupported(`${spec.path}.os`, system.value, systems));
  return [...errors, ...checkTolerations(at(spec, 'tolerations'))];
}

/** Validates a new pod. */
export function validatePod(pod: KubeObject): Errors {
  const ephemeral = readPath(pod, 'spec', 'ephemeralContainers');
  const errors = validatePodSpec({ path: 'spec', value: pod['spec'] });
  return toList(ephemeral).length > 0 ? [...errors, forbiddenField('spec.ephemeralContainers', 'cannot be set on create')] : errors;
}

const changeable = '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` '
  + '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The spec without what an update may change. */
function maskChangeable(spec: unknown): unknown {
  const { activeDeadlineSeconds: _a, tolerations: _t, terminationGracePeriodSeconds: _g, schedulingGates: _s, nodeSelector: _n, affinity: _f, ...rest } =
    toObject(spec);
  const withoutImages = (list: unknown): unknown => toObjects(list).map(({ image: _image, ...container }) => container);
  return { ...rest, containers: withoutImages(rest['containers']), initContainers: withoutImages(rest['initContainers']) };
}

function checkGates(pod: KubeObject, old: KubeObject): Errors {
  const known = new Set(toObjects(readPath(old, 'spec', 'schedulingGates')).map((gate) => gate['name']));
  return each({ path: 'spec.schedulingGates', value: readPath(pod, 'spec', 'schedulingGates') }).flatMap((gate) => {
    const { path, value } = at(gate, 'name');
    return known.has(value as string) ? [] : [forbiddenField(path, `only deletion is allowed, but found new scheduling gate '${toText(value)}'`)];
  });
}

function checkDeadline(pod: KubeObject, old: KubeObject): Errors {
  const before = readPath(old, 'spec', 'activeDeadlineSeconds');
  const value = readPath(pod, 'spec', 'activeDeadlineSeconds');
  if (before === undefined || value === before) return [];
  if (value === undefined) return [invalidValue('spec.activeDeadlineSeconds', undefined, 'must not update from a positive integer to nil value')];
  return toNumber(value) > toNumber(before) ? [invalidValue('spec.activeDeadlineSeconds', value, 'must be less than or equal to previous value')] : [];
}

/** True when all tolerations of before are still there. */
function keepsTolerations(pod: KubeObject, old: KubeObject): boolean {
  const present = toObjects(readPath(pod, 'spec', 'tolerations'));
  const before = toObjects(readPath(old, 'spec', 'tolerations'));
  const withoutTime = (toleration: object): unknown => ({ ...toleration, tolerationSeconds: undefined });
  return before.every((toleration) => present.some((other) => isSame(withoutTime(other), withoutTime(toleration))));
}

function mayChangeGrace(pod: KubeObject, old: KubeObject): boolean {
  const before = readPath(old, 'spec', 'terminationGracePeriodSeconds');
  const value = readPath(pod, 'spec', 'terminationGracePeriodSeconds');
  return before === value || (toNumber(before) < 0 && value === 1);
}

/** True when only what may change differs; gated pods may still be given selectors of nodes. */
function changesOnlyAllowed(pod: KubeObject, old: KubeObject): boolean {
  if (!isSame(maskChangeable(pod['spec']), maskChangeable(old['spec'])) || !keepsTolerations(pod, old) || !mayChangeGrace(pod, old)) return false;
  if (toList(readPath(old, 'spec', 'schedulingGates')).length > 0) return true;
  return ['nodeSelector', 'affinity'].every((name) => isSame(readPath(pod, 'spec', name) ?? null, readPath(old, 'spec', name) ?? null));
}

let structs: GoStructs | undefined;
const hostMembers = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

/** A spec as the reference prints it: what concerns the host is part of the security context there. */
function printSpec(spec: JsonObject): unknown {
  structs ??= readGoStructs(podStructs);
  const ofHost = Object.fromEntries(hostMembers.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
  return shapeGoStruct(structs, 'PodSpec', { ...spec, securityContext: { ...toObject(spec['securityContext']), ...ofHost } });
}

/** The new spec with what may change as it was. */
function withoutAllowed(pod: KubeObject, old: KubeObject): JsonObject {
  const [spec, before] = [toObject(pod['spec']), toObject(old['spec'])];
  const withImages = (list: string): readonly JsonObject[] => toObjects(spec[list]).map((container, index) => {
    return { ...container, image: readPath(before, list, String(index), 'image') ?? '' };
  });
  const kept = ['activeDeadlineSeconds', 'schedulingGates', 'tolerations', ...(mayChangeGrace(pod, old) ? ['terminationGracePeriodSeconds'] : [])];
  return {
    ...spec, ...Object.fromEntries(kept.map((name) => [name, before[name] ?? null])), containers: [...withImages('containers')],
    ...(spec['initContainers'] !== undefined && { initContainers: [...withImages('initContainers')] }),
  };
}

/** Validates the update of a pod on its main path. */
export function validatePodUpdate(pod: KubeObject, old: KubeObject): Errors {
  const count = (object: KubeObject, list: string): number => toList(readPath(object, 'spec', list)).length;
  const errors: FieldError[] = [];
  for (const list of ['containers', 'initContainers']) {
    if (count(pod, list) !== count(old, list)) return [forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    for (const container of each({ path: `spec.${list}`, value: readPath(pod, 'spec', list) })) {
      if (toText(readPath(container.value, 'image')) === '') errors.push(required(at(container, 'image').path));
    }
  }
  // Missing images are told twice, by what every pod must have and by what an update may change.
  const known = new Set(validatePodSpec({ path: 'spec', value: old['spec'] }).map(({ field, message }) => `${field} ${message}`));
  const fresh = validatePodSpec({ path: 'spec', value: pod['spec'] }).filter(({ field, message }) => !known.has(`${field} ${message}`));
  errors.unshift(...fresh);
  errors.push(...checkDeadline(pod, old), ...checkGates(pod, old));
  if (errors.length > 0 || changesOnlyAllowed(pod, old)) return errors;
  const diff = diffStructs(printSpec(toObject(old['spec'])), printSpec(withoutAllowed(pod, old)));
  return [forbiddenField('spec', `pod updates may not change fields other than ${changeable}\n${diff}`)];
}
