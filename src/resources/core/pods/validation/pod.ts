// Validation of Pod objects: the spec, and the rules that templates do not have.
import { type KubeObject, forbiddenField } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, each, isEmptyText, isGiven } from '../../../common/validation/check.ts';
import { createPassedTexts } from '../../../common/validation/passed-texts.ts';
import { readPath, toList, toText } from '../../../common/values.ts';
import { APP_ARMOR_PREFIX, checkProfilesMatch } from '../profile-annotations.ts';
import { textOfNamedSpec } from '../spec-text.ts';
import { checkTrimmedImage } from './containers.ts';
import { MIRROR_POD, checkPodAnnotations, validatePodSpec } from './pod-spec.ts';

/** Rules of pods that templates do not have. */
function checkPodOnly(spec: Field): Errors {
  const account = toText(readPath(spec.value, 'serviceAccountName'));
  const tokens = account !== '' ? [] : each(at(spec, 'volumes')).flatMap((volume) => each(at(volume, 'projected', 'sources')))
    .map((source) => at(source, 'serviceAccountToken')).filter(isGiven);
  return [
    ...tokens.map(({ path }) => forbiddenField(path, 'must not be specified when serviceAccountName is not set')),
    ...['containers', 'initContainers'].flatMap((list) => each(at(spec, list))).flatMap(checkTrimmedImage),
  ];
}

const checkAnnotations = (pod: KubeObject): Errors => checkPodAnnotations({ path: 'metadata.annotations', value: pod.metadata.annotations }, pod['spec']);

const checkSpecOnce = createPassedTexts();

/** Validates a stored pod, without the rules of new ones. */
export function validatePodAsStored(pod: KubeObject): Errors {
  const spec = { path: 'spec', value: pod['spec'] };
  const { name = '' } = pod.metadata;
  return [...checkAnnotations(pod), ...checkSpecOnce(textOfNamedSpec(spec.value, name), () => [...validatePodSpec(spec, { name }), ...checkPodOnly(spec)])];
}

/** The errors of a pod that are not errors of the stored one already; `isSameSpec`: what is wrong with their specs is the same. */
export function checkAddedErrors(pod: KubeObject, old: KubeObject, isSameSpec: boolean): Errors {
  const check = isSameSpec ? checkAnnotations : validatePodAsStored;
  const errors = check(pod);
  if (errors.length === 0) return errors;
  const known = new Set(check(old).map(({ field, message }) => `${field} ${message}`));
  return errors.filter(({ field, message }) => !known.has(`${field} ${message}`));
}

/** The annotations of mirror pods and of AppArmor stay as they were created; all are validated, whatever else validates them. */
export function checkKeptAnnotations(pod: KubeObject, old: KubeObject): Errors {
  const [now, before] = [pod, old].map(({ metadata }) => new Map(Object.entries(metadata.annotations ?? {}))) as [Map<string, string>, Map<string, string>];
  const name = (key: string): string | undefined =>
    (key.startsWith(APP_ARMOR_PREFIX) ? 'AppArmor annotations' : key === MIRROR_POD ? 'mirror pod annotation' : undefined);
  const refuse = (keys: Iterable<string>, change: string): Errors =>
    [...keys].flatMap((key) => (name(key) === undefined ? [] : [forbiddenField(`metadata.annotations[${key}]`, `may not ${change} ${name(key)}`)]));
  return [
    ...refuse([...before.keys()].filter((key) => now.get(key) !== before.get(key)), 'remove or update'),
    ...refuse([...now.keys()].filter((key) => !before.has(key)), 'add'), ...checkAddedErrors(pod, old, true),
  ];
}

/** Validates a new pod. */
export function validatePod(pod: KubeObject): Errors {
  const spec = { path: 'spec', value: pod['spec'] };
  const [ephemeral, node] = [at(spec, 'ephemeralContainers'), at(spec, 'nodeName')];
  const isGated = toList(readPath(spec.value, 'schedulingGates')).length > 0;
  return [
    ...validatePodAsStored(pod), ...(toList(ephemeral.value).length > 0 ? [forbiddenField(ephemeral.path, 'cannot be set on create')] : []),
    ...(isGated && !isEmptyText(node) ? [forbiddenField(node.path, 'cannot be set until all schedulingGates have been cleared')] : []),
    ...checkProfilesMatch(pod.metadata.annotations, spec),
  ];
}
