// Warnings about selectors of nodes that use labels with a newer name.
import { checkLabelValue } from '../../../apimachinery/index.ts';
import { type Field, at, each } from '../validation/check.ts';
import { toObject, toText } from '../values.ts';

const successors: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** The place of a key; `subject` names the key when the path does not. */
function warnOfKey(path: string, key: unknown, subject = ''): readonly string[] {
  const warning = successors.get(toText(key));
  return warning === undefined ? [] : [`${path}: ${subject}${warning}`];
}

/** Warns of each old label among the keys of a map, such as a nodeSelector; `pathOf` returns the path of a key. */
export function warnOfLabelMap({ value }: Field, pathOf: (key: string) => string): readonly string[] {
  return Object.keys(toObject(value)).sort().flatMap((key) => warnOfKey(pathOf(key), key));
}

/** Warns of an old label in a field that holds one key; with `named` the text repeats the key. */
export function warnOfLabel({ path, value }: Field, named: boolean): readonly string[] {
  return warnOfKey(path, value, named ? `${toText(value)} is ` : '');
}

/** Warns of old labels in node selector expressions, and, where validation accepts them, of values that no label can have. */
export function warnOfExpressions(list: Field, checkValues = false): readonly string[] {
  return each(list).flatMap((expression) => {
    const values = checkValues ? each(at(expression, 'values')) : [];
    return [
      ...warnOfLabel(at(expression, 'key'), true),
      ...values.flatMap(({ path, value }) => checkLabelValue(toText(value)).map((problem) => `${path}: ${toText(value)} is invalid, ${problem}`)),
    ];
  });
}

/** Warns of old labels in the required and the preferred terms of node affinity. */
export function warnOfNodeAffinity(affinity: Field): readonly string[] {
  const terms = each(at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'));
  const preferences = each(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).map((term) => at(term, 'preference'));
  return [
    ...terms.flatMap((term) => warnOfExpressions(at(term, 'matchExpressions'))),
    ...preferences.flatMap((term) => warnOfExpressions(at(term, 'matchExpressions'), true)),
  ];
}
