// Validation of the paths that change one part of a running pod: ephemeral containers are added and stay, cpu and memory may grow and shrink.
import { type FieldError, type JsonObject, type KubeObject, equalJson, forbiddenField, invalidValue } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, each } from '../../../common/validation/check.ts';
import { diffStructs } from '../../../common/validation/struct-diff.ts';
import { readPath, toObject, toObjects, toText } from '../../../common/values.ts';
import { computeQosClass } from '../qos.ts';
import { showPodPart } from './parts.ts';
import { checkAddedErrors, checkKeptAnnotations } from './pod.ts';
import { MIRROR_POD } from './pod-spec.ts';

const ephemeralOf = (pod: KubeObject): readonly Field[] => each({ path: 'spec.ephemeralContainers', value: readPath(pod, 'spec', 'ephemeralContainers') });

/** The path of the pod as a whole, as the reference writes it in these problems. */
const WHOLE = '[]';

const isMirror = (pod: KubeObject): boolean => pod.metadata.annotations?.[MIRROR_POD] !== undefined;

/** Validates updates of pods/ephemeralcontainers: they are added and never removed. */
export function validateEphemeralUpdate(pod: KubeObject, old: KubeObject): Errors {
  if (isMirror(old)) return [forbiddenField(WHOLE, 'static pods do not support ephemeral containers')];
  const errors: FieldError[] = [...checkAddedErrors(pod, old, false), ...checkKeptAnnotations(pod, old)];
  const present = new Map(ephemeralOf(pod).map((container) => [readPath(container.value, 'name'), container.value]));
  for (const { value } of ephemeralOf(old)) {
    const name = readPath(value, 'name');
    const text = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (!present.has(name)) errors.push(forbiddenField('spec.ephemeralContainers', `${text} removed\n`));
    else if (!equalJson(present.get(name), value)) {
      const diff = diffStructs(showPodPart('EphemeralContainer', value), showPodPart('EphemeralContainer', present.get(name)));
      errors.push(forbiddenField('spec.ephemeralContainers', `${text} changed\n${diff}`));
    }
  }
  return errors;
}

const sorts = ['requests', 'limits'] as const;
const resizable: ReadonlySet<string> = new Set(['cpu', 'memory']);

type Resources = Readonly<Record<string, unknown>>;

const resourcesOf = (holder: unknown): Resources => toObject(readPath(holder, 'resources'));

/** Problems of requests and limits that the stored resources have and the new ones lack. */
function checkRemoved(path: string, what: string, [resources, before]: readonly [Resources, Resources]): Errors {
  return sorts.filter((sort) => {
    const given = toObject(resources[sort]);
    return Object.keys(toObject(before[sort])).some((name) => given[name] === undefined);
  }).map((sort) => forbiddenField(`${path}.${sort}`, `${what} ${sort} cannot be removed`));
}

/** What of the resources a resize may not change. */
function fixedPart(resources: Resources): JsonObject {
  const fixed: JsonObject = {};
  for (const [member, value] of Object.entries(resources)) {
    const left = sorts.includes(member as 'requests') ? Object.fromEntries(Object.entries(toObject(value)).filter(([name]) => !resizable.has(name))) : value;
    if (left !== undefined && Object.keys(left as object).length > 0) fixed[member] = left as JsonObject;
  }
  return fixed;
}

/** A holder of resources without what a resize may change. */
const withoutResizable = (holder: JsonObject): unknown => ({ ...holder, resources: fixedPart(resourcesOf(holder)) });

/** Resources of the whole pod. */
function checkPodLevel(spec: JsonObject, before: JsonObject): Errors {
  if (before['resources'] !== undefined && spec['resources'] === undefined) return [forbiddenField('spec.resources', 'pod-level resources cannot be removed')];
  const both = [resourcesOf(spec), resourcesOf(before)] as const;
  const kept = equalJson(fixedPart(both[0]), fixedPart(both[1]));
  return [
    ...checkRemoved('spec.resources', 'pod-level resource', both),
    ...(kept ? [] : [forbiddenField('spec', 'only cpu and memory resources are mutable at pod-level')]),
  ];
}

/** Containers that were added, removed, renamed or moved. */
function checkOrder(list: string, containers: readonly JsonObject[], before: readonly JsonObject[]): Errors {
  if (containers.length !== before.length) return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)];
  return before.flatMap(({ name }, index) => (containers[index]?.['name'] === name ? []
    : [forbiddenField(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)]));
}

function checkContainers(list: string, containers: readonly JsonObject[], before: readonly JsonObject[]): Errors {
  const isInit = list === 'initContainers';
  return containers.flatMap((container, index): Errors => {
    const stored = before[index] as JsonObject;
    const errors: FieldError[] = [...checkRemoved(`spec.${list}[${index}].resources`, 'resource', [resourcesOf(container), resourcesOf(stored)])];
    if (!equalJson(withoutResizable(container), withoutResizable(stored))) {
      errors.push(isInit ? forbiddenField(`spec.${list}[${index}]`, 'only cpu and memory resources for init or sidecar containers are mutable')
        : forbiddenField('spec', 'only cpu and memory resources are mutable'));
    }
    const isSidecar = container['restartPolicy'] === 'Always';
    if (isInit && !isSidecar && !equalJson(container, stored)) {
      const restarts = toObjects(container['resizePolicy']).filter(({ restartPolicy }) => restartPolicy === 'RestartContainer');
      errors.push(...restarts.map(() => forbiddenField(`spec.${list}[${index}]`,
        'non-sidecar init containers with a resize policy of RestartContainer cannot be resized')));
    }
    return errors;
  });
}

/** A kubelet that can resize reports the resources of the containers that run. */
function isSupported(old: KubeObject): boolean {
  const running = toObjects(readPath(old, 'status', 'containerStatuses')).find((status) => readPath(status, 'state', 'running') !== undefined);
  return running === undefined || running['resources'] !== undefined;
}

/** Validates updates of pods/resize, in the order and the words of the reference. */
export function validateResize(pod: KubeObject, old: KubeObject): Errors {
  if (isMirror(old)) return [forbiddenField(WHOLE, 'static pods cannot be resized')];
  const [spec, before] = [toObject(pod['spec']), toObject(old['spec'])];
  if (readPath(before, 'os', 'name') === 'windows') return [forbiddenField(WHOLE, 'windows pods cannot be resized')];
  const errors: FieldError[] = [...checkAddedErrors(pod, old, false)];
  const quality = toText(readPath(old, 'status', 'qosClass'));
  if (computeQosClass(spec) !== (quality === '' ? computeQosClass(before) : quality)) {
    errors.push(invalidValue('spec', quality, 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!isSupported(old)) errors.push(forbiddenField('spec', 'Pod running on node without support for resize'));
  errors.push(...checkPodLevel(spec, before));
  if (toObjects(readPath(old, 'status', 'nodeAllocatableResourceClaimStatuses')).length > 0) {
    errors.push(forbiddenField('spec', 'pods with node allocatable resource claims cannot be resized'));
  }
  const lists = ['containers', 'initContainers'].map((list) => [list, toObjects(spec[list]), toObjects(before[list])] as const);
  const moved = lists.flatMap(([list, containers, stored]) => checkOrder(list, containers, stored));
  if (moved.length > 0) return [...errors, ...moved];
  return [...errors, ...lists.flatMap(([list, containers, stored]) => checkContainers(list, containers, stored))];
}
