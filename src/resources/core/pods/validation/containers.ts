// Validation of the containers of a pod: the rules that all share, and those of init, sidecar and ephemeral containers.
import {
  type FieldError, duplicate, forbiddenField, invalidTyped, invalidValue, notFoundValue, notSupported, required, tooMany,
} from '../../../../apimachinery/index.ts';
import {
  type Errors, type Field, at, checkLabelName, checkOneOf, checkText, each, isEmptyText, isGiven, isWrong,
} from '../../../common/validation/check.ts';
import { checkPortName, checkPortNumber } from '../../../common/validation/ports.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../../common/values.ts';
import { checkEnvironment } from './environment.ts';
import { checkHooks, checkProbes, checkStopSignal, forbidHandlers } from './handlers.ts';
import { type Volumes, checkMountsAndDevices } from './mounts.ts';
import { checkResources } from './resources.ts';
import { checkContainerSecurity } from './security.ts';

/** The parts of a pod that checks of its containers use. */
export interface ContainerContext {
  readonly spec: Field;
  readonly volumes: Volumes;
  readonly claims: ReadonlySet<string>;
}

const protocols = ['SCTP', 'TCP', 'UDP'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];

function checkPortEntry(port: Field, names: Set<string>): Errors {
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
  errors.push(...(toNumber(container.value ?? 0) === 0 ? [required(container.path)] : checkPortNumber(container)));
  const host = at(port, 'hostPort');
  if (toNumber(host.value ?? 0) !== 0) errors.push(...checkPortNumber(host));
  return [...errors, ...checkOneOf(at(port, 'protocol'), protocols)];
}

function checkPorts(container: Field): Errors {
  const names = new Set<string>();
  return each(at(container, 'ports')).flatMap((port) => checkPortEntry(port, names));
}

/** Host ports are unique by address and protocol. */
function checkHostPorts(containers: readonly Field[]): Errors {
  const taken = new Set<string>();
  return containers.flatMap((container) => each(at(container, 'ports'))).flatMap((port) => {
    const host = at(port, 'hostPort');
    if (toNumber(host.value ?? 0) === 0) return [];
    const key = `${toText(readPath(port.value, 'protocol'))}/${toText(readPath(port.value, 'hostIP'))}/${toText(host.value)}`;
    const errors = taken.has(key) ? [duplicate(host.path, key)] : [];
    taken.add(key);
    return errors;
  });
}

function checkResizePolicy(container: Field, restartPolicy: unknown): Errors {
  const list = at(container, 'resizePolicy');
  const known = new Set<string>();
  return each(list).flatMap((entry) => {
    const [resource, policy] = [toText(readPath(entry.value, 'resourceName')), toText(readPath(entry.value, 'restartPolicy'))];
    const errors: FieldError[] = known.has(resource) ? [duplicate(entry.path, resource)] : [];
    known.add(resource);
    for (const [value, supported] of [[resource, ['cpu', 'memory']], [policy, ['NotRequired', 'RestartContainer']]] as const) {
      if (value === '') errors.push(required(list.path));
      else if (!(supported as readonly string[]).includes(value)) errors.push(notSupported(list.path, value, supported));
    }
    if (restartPolicy === 'Never' && policy !== 'NotRequired') {
      errors.push(invalidTyped(list.path, toText(policy), "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return errors;
  });
}

function checkCommon(container: Field, { spec, volumes, claims }: ContainerContext): Errors {
  const [image, policy] = [at(container, 'image'), at(container, 'terminationMessagePolicy')];
  return [
    ...checkLabelName(at(container, 'name')), ...(isEmptyText(image) ? [required(image.path)] : []),
    ...(isEmptyText(policy) ? [required(policy.path)] : checkOneOf(policy, messagePolicies, true)), ...checkPorts(container),
    ...checkEnvironment(container), ...checkMountsAndDevices(container, volumes), ...checkOneOf(at(container, 'imagePullPolicy'), pullPolicies),
    ...checkResources(at(container, 'resources'), claims), ...checkResizePolicy(container, readPath(spec.value, 'restartPolicy')),
    ...checkContainerSecurity(at(container, 'securityContext'), readPath(spec.value, 'hostUsers') !== false),
  ];
}

function checkRestartRule(rule: Field): Errors {
  const exits = at(rule, 'exitCodes');
  const [operator, values] = [at(exits, 'operator'), at(exits, 'values')];
  const errors: FieldError[] = [...checkOneOf(at(rule, 'action'), ['Restart', 'RestartAllContainers'])];
  if (!isGiven(exits)) return [...errors, required(exits.path, 'must be specified')];
  const count = toList(values.value).length;
  return [...errors, ...checkOneOf(operator, ['In', 'NotIn']), ...(count > 255 ? [tooMany(values.path, count, 255)] : [])];
}

function checkRestart(container: Field, isInit: boolean): Errors {
  const [policy, rules] = [at(container, 'restartPolicy'), at(container, 'restartPolicyRules')];
  const count = toList(rules.value).length;
  const missing = count > 0 ? [required(policy.path, 'must specify restartPolicy when restart rules are used')] : [];
  if (!isGiven(policy) && isInit) return missing;
  return [
    ...(isGiven(policy) ? checkOneOf(policy, ['Always', 'Never', 'OnFailure']) : missing),
    ...(count > 20 ? [tooMany(rules.path, count, 20)] : []), ...each(rules).flatMap(checkRestartRule),
  ];
}

const graceOf = ({ spec }: ContainerContext): unknown => readPath(spec.value, 'terminationGracePeriodSeconds');

function checkName(container: Field, names: Set<string>): Errors {
  const name = at(container, 'name');
  const text = toText(name.value);
  const errors = names.has(text) ? [duplicate(name.path, text)] : [];
  names.add(text);
  return errors;
}

/** Validates `containers` of a pod. */
export function checkContainers(list: Field, context: ContainerContext): Errors {
  if (toList(list.value).length === 0) return [required(list.path)];
  const names = new Set<string>();
  return [
    ...each(list).flatMap((container) => [
      ...checkCommon(container, context), ...checkName(container, names), ...checkHooks(container, graceOf(context)),
      ...checkStopSignal(container, context.spec.value), ...checkProbes(container, graceOf(context)), ...checkRestart(container, false),
    ]),
    ...checkHostPorts(each(list)),
  ];
}

function checkEarlyResize(container: Field): Errors {
  return each(at(container, 'resizePolicy')).map((entry) => at(entry, 'restartPolicy')).filter(({ value }) => value === 'RestartContainer')
    .map((place) => isWrong(place, "must not be set to 'RestartContainer' for non-sidecar initContainers"));
}

/** The reference validates these containers one at a time, so all errors have index 0. */
function checkOwnPorts(container: Field, list: Field): Errors {
  return checkHostPorts([{ path: `${list.path}[0]`, value: container.value }]);
}

/** Validates init containers: those that run to completion, and sidecars. */
export function checkInitContainers(list: Field, context: ContainerContext): Errors {
  const names = new Set(namesOf(context.spec, 'containers'));
  return each(list).flatMap((container) => {
    const name = at(container, 'name');
    const stays = readPath(container.value, 'restartPolicy') === 'Always';
    const errors: FieldError[] = [...checkCommon(container, context), ...checkRestart(container, true)];
    if (names.has(toText(name.value))) errors.push(duplicate(name.path, toText(name.value)));
    else if (!isEmptyText(name)) names.add(toText(name.value));
    errors.push(...checkOwnPorts(container, list));
    if (!stays) return [...errors, ...forbidHandlers(container), ...checkEarlyResize(container)];
    return [
      ...errors, ...checkHooks(container, graceOf(context)), ...checkStopSignal(container, context.spec.value), ...checkProbes(container, graceOf(context)),
    ];
  });
}

const namesOf = (spec: Field, list: string): readonly string[] => toObjects(readPath(spec.value, list)).map((container) => toText(container['name']));

/** Members that ephemeral containers cannot have, in the order of the Go struct. */
const forbiddenMembers = [
  'ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle',
];

function isSet({ path, value }: Field): boolean {
  // Resources are a struct that is always present: only its members count.
  if (path.endsWith('.resources')) return Object.keys(toObject(value)).length > 0;
  return value !== undefined && value !== null;
}

/** Validates ephemeral containers. */
export function checkEphemeralContainers(list: Field, context: ContainerContext): Errors {
  const others = new Set([...namesOf(context.spec, 'containers'), ...namesOf(context.spec, 'initContainers')]);
  const names = new Set(others);
  return each(list).flatMap((container) => {
    const target = at(container, 'targetContainerName');
    const errors: FieldError[] = [...checkCommon(container, context), ...checkTrimmedImage(container), ...checkName(container, names)];
    if (!isEmptyText(target) && !others.has(toText(target.value))) errors.push(notFoundValue(target.path, target.value));
    const forbidden = [
      ...forbiddenMembers.map((member) => at(container, member)).filter(isSet),
      ...each(at(container, 'volumeMounts')).flatMap((mount) => [at(mount, 'subPath'), at(mount, 'subPathExpr')]).filter((place) => !isEmptyText(place)),
    ];
    return [...errors, ...forbidden.map(({ path }) => forbiddenField(path, 'cannot be set for an Ephemeral Container'))];
  });
}

/** Images of pods, unlike those of templates, have no blanks around them. */
export function checkTrimmedImage(container: Field): Errors {
  const image = at(container, 'image');
  const text = toText(image.value);
  return text === text.trim() ? [] : [invalidValue(image.path, text, 'must not have leading or trailing whitespace')];
}

/** All containers of a pod's spec. */
export const listContainers = (spec: Field): readonly Field[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => each(at(spec, list)));
