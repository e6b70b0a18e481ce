// What an update of a pod may change, and how the reference tells what else it tried.
import { type FieldError, type JsonObject, type KubeObject, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../columns/common.ts';
import { type Errors, at, each, isSame } from './check.ts';
import { showPodPart } from './pod-parts.ts';
import { validatePodAsStored } from './pods.ts';
import { diffStructs } from './struct-diff.ts';

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

const hostMembers = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'];

/** A spec as the reference prints it: what concerns the host is part of the security context there. */
function printSpec(spec: JsonObject): unknown {
  const ofHost = Object.fromEntries(hostMembers.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
  return showPodPart('PodSpec', { ...spec, securityContext: { ...toObject(spec['securityContext']), ...ofHost } });
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
  const known = new Set(validatePodAsStored(old).map(({ field, message }) => `${field} ${message}`));
  const fresh = validatePodAsStored(pod).filter(({ field, message }) => !known.has(`${field} ${message}`));
  errors.unshift(...fresh);
  errors.push(...checkDeadline(pod, old), ...checkGates(pod, old));
  if (errors.length > 0 || changesOnlyAllowed(pod, old)) return errors;
  const diff = diffStructs(printSpec(toObject(old['spec'])), printSpec(withoutAllowed(pod, old)));
  return [forbiddenField('spec', `pod updates may not change fields other than ${changeable}\n${diff}`)];
}
