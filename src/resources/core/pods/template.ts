// The pod template inside workload kinds: validation against the selector, labels that defaults take from it, warnings.
import { type JsonValue, type KubeObject, checkDnsLabel, forbiddenField, invalidValue, notSupported } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, isGiven, sortMembers } from '../../common/validation/check.ts';
import { selects } from '../../common/validation/selectors.ts';
import { toObject, toText } from '../../common/values.ts';
import { type KindWarnings, type Warn, rootOf } from '../../common/warnings/warnings.ts';
import { validatePodTemplateSpec } from './validation/pod-spec.ts';
import { warnOfPod } from './warnings/pod.ts';

/** Whether a map is absent or empty. */
export const isEmptyMap = (value: unknown): boolean => Object.keys(toObject(value)).length === 0;

/** Copies the labels of the template to an object that has none. */
export function takeTemplateLabels(object: KubeObject, labels: JsonValue | undefined): void {
  if (!isEmptyMap(labels) && isEmptyMap(object.metadata.labels)) object.metadata.labels = { ...(labels as Record<string, string>) };
}

/** The labels of the template must satisfy the selector. */
export function checkTemplateLabels(spec: Field, selector: unknown): Errors {
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (selects(selector, toObject(labels.value))) return [];
  return [invalidValue(labels.path, sortMembers(labels.value), '`selector` does not match template `labels`')];
}

/** The template of a kind whose pods always restart. */
export function checkTemplate(spec: Field, kind: string): Errors {
  const policy = at(spec, 'template', 'spec', 'restartPolicy');
  const deadline = at(spec, 'template', 'spec', 'activeDeadlineSeconds');
  return [
    ...validatePodTemplateSpec(at(spec, 'template')), ...(policy.value === 'Always' ? [] : [notSupported(policy.path, toText(policy.value), ['Always'])]),
    ...(isGiven(deadline) ? [forbiddenField(deadline.path, `activeDeadlineSeconds in ${kind} is not Supported`)] : []),
  ];
}

/** Warns of a name that is no DNS label, where pods take it over. */
export function warnOfName({ metadata }: KubeObject, use: string): readonly string[] {
  const problems = checkDnsLabel(metadata.name ?? '');
  if (problems.length === 0) return [];
  return [`metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`];
}

interface Template {
  readonly path: readonly string[];
  /** The names of the pods begin with the name of the object. */
  readonly names?: true;
  /** What moves when the template may have changed; the generation of the object, unless said otherwise. */
  readonly generationOf?: (object: KubeObject) => number | undefined;
  /** Further warnings of every write. */
  readonly always?: Warn;
  /** Further warnings of the writes that check the template. */
  readonly also?: Warn;
}

const readGeneration = ({ metadata }: KubeObject): number | undefined => metadata.generation;

/** The warnings of a kind that holds a template of pods: looked for in new objects and when the generation changes. */
export function warnOfTemplate({ path, names, generationOf = readGeneration, always = () => [], also = () => [] }: Template): KindWarnings {
  return (object, old, { subresource }) => {
    // A write through scale counts as a write of the object.
    if (subresource !== '' && subresource !== 'scale') return [];
    const root = rootOf(object);
    const isChecked = old === undefined || generationOf(object) !== generationOf(old);
    const name = names && old === undefined ? warnOfName(object, 'Pod names and hostnames') : [];
    return [...name, ...(isChecked ? [...also(root), ...warnOfPod(at(root, ...path))] : []), ...always(root, old)];
  };
}
