// Validation of the paths that change one part of a pod: ephemeral containers, and resources of running containers.
import { type FieldError, type KubeObject, equalJson, forbiddenField, invalidValue } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, each } from '../../../common/validation/check.ts';
import { readPath, toList, toObject, toText } from '../../../common/values.ts';
import { computeQosClass } from '../qos.ts';
import { validateEphemeralContainers, validatePodAsStored } from './pod.ts';

const ephemeralOf = (pod: KubeObject): readonly Field[] => each({ path: 'spec.ephemeralContainers', value: readPath(pod, 'spec', 'ephemeralContainers') });

/** Validates updates of pods/ephemeralcontainers: they are added and never removed. */
export function validateEphemeralUpdate(pod: KubeObject, old: KubeObject): Errors {
  const errors: FieldError[] = [...validateEphemeralContainers(pod)];
  if (errors.length > 0) return errors;
  const present = new Map(ephemeralOf(pod).map((container) => [readPath(container.value, 'name'), container.value]));
  for (const { value } of ephemeralOf(old)) {
    const name = readPath(value, 'name');
    const text = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (!present.has(name)) errors.push(forbiddenField('spec.ephemeralContainers', `${text} removed\n`));
    else if (!equalJson(present.get(name), value)) errors.push(forbiddenField('spec.ephemeralContainers', `${text} changed\n`));
  }
  return errors;
}

const resized = ['cpu', 'memory'];

function checkRemoved(container: Field, before: unknown): Errors {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const has = (holder: unknown, name: string): boolean => readPath(holder, 'resources', list, name) !== undefined;
    const removed = resized.some((name) => has(before, name) && !has(container.value, name));
    return removed ? [forbiddenField(at(container, 'resources', list).path, `resource ${list} cannot be removed`)] : [];
  });
}

/** Validates updates of pods/resize: the resources are valid and keep the quality of service class. */
export function validateResize(pod: KubeObject, old: KubeObject): Errors {
  const known = new Set(validatePodAsStored(old).map(({ field, message }) => `${field} ${message}`));
  const errors: FieldError[] = validatePodAsStored(pod).filter(({ field, message }) => !known.has(`${field} ${message}`));
  const before = toText(readPath(old, 'status', 'qosClass'));
  if (before !== '' && computeQosClass(toObject(pod['spec'])) !== before) {
    errors.push(invalidValue('spec', before, 'Pod QOS Class may not change as a result of resizing'));
  }
  for (const list of ['containers', 'initContainers']) {
    const containers = each({ path: `spec.${list}`, value: readPath(pod, 'spec', list) });
    errors.push(...containers.flatMap((container, index) => checkRemoved(container, toList(readPath(old, 'spec', list))[index])));
  }
  return errors;
}
