// The pod template inside workload kinds: validation against the selector, labels that defaults take from it, warnings.
import { type JsonValue, type KubeObject, checkDnsLabel, forbiddenField, invalidValue, notSupported } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, isGiven, sortMembers } from '../../common/validation/check.ts';
import { selects } from '../../common/validation/selectors.ts';
import { toObject, toText } from '../../common/values.ts';
import { type KindWarnings, type Warn, rootOf } from '../../common/warnings/warnings.ts';
import { validatePodTemplateSpec } from './validation/pod-spec.ts';
import { warnOfPod } from './warnings/pod.ts';

export const isEmptyMap = (value: unknown): boolean => Object.keys(toObject(value)).length === 0;

/** Labels of the template for an object that has none of its own. */
export function takeTemplateLabels(object: KubeObject, labels: JsonValue | undefined): void {
  if (!isEmptyMap(labels) && isEmptyMap(object.metadata.labels)) object.metadata.labels = { ...(labels as Record<string, string>) };
}

/** The template must carry the labels that the selector asks for. */
export function checkTemplateLabels(spec: Field, selector: unknown): Errors {
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (selects(selector, toObject(labels.value))) return [];
  return [invalidValue(labels.path, sortMembers(labels.value), '`selector` does not match template `labels`')];
}

/** A template of pods that run until they are deleted. */
export function checkTemplate(spec: Field, kind: string): Errors {
  const policy = at(spec, 'template', 'spec', 'restartPolicy');
  const deadline = at(spec, 'template', 'spec', 'activeDeadlineSeconds');
  return [
    ...validatePodTemplateSpec(at(spec, 'template')), ...(policy.value === 'Always' ? [] : [notSupported(policy.path, toText(policy.value), ['Always'])]),
    ...(isGiven(deadline) ? [forbiddenField(deadline.path, `activeDeadlineSeconds in ${kind} is not Supported`)] : []),
  ];
}

export function warnOfName({ metadata }: KubeObject, use: string): readonly string[] {
  const problems = checkDnsLabel(metadata.name ?? '');
  if (problems.length === 0) return [];
  return [`metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`];
}

interface Template {
  readonly path: readonly string[];
  /** Pods are called after the object. */
  readonly names?: true;
  /** Besides the template, whenever something is written. */
  readonly always?: Warn;
  /** Besides the template, when it is looked at. */
  readonly also?: Warn;
}

/** The warnings of a kind that holds a template of pods: looked for in new objects and when the generation changes. */
export function warnOfTemplate({ path, names, always = () => [], also = () => [] }: Template): KindWarnings {
  return (object, old, { subresource }) => {
    // A write of the scale is one of the whole object.
    if (subresource !== '' && subresource !== 'scale') return [];
    const root = rootOf(object);
    const isChecked = old === undefined || object.metadata.generation !== old.metadata.generation;
    const name = names && old === undefined ? warnOfName(object, 'Pod names and hostnames') : [];
    return [...name, ...(isChecked ? [...also(root), ...warnOfPod(at(root, ...path))] : []), ...always(root, old)];
  };
}
