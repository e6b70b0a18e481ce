// node.k8s.io/v1 RuntimeClass.
import { type KubeObject, duplicate, selectProblems } from '../../apimachinery/index.ts';
import type { Column, FormerVersion } from '../../registry/index.ts';
import { textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { formerSchema, sameAs } from '../common/former-versions.ts';
import { type Errors, type Field, at, checkLabelName, checkLabels, checkSameMembers, each, memberOf } from '../common/validation/check.ts';
import { readPath, toObject, toText } from '../common/values.ts';
import { warnOfLabelMap } from '../common/warnings/labels.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import { showPodPart } from '../core/pods/validation/parts.ts';
import { checkResources } from '../core/pods/validation/resources.ts';
import { checkTolerations } from '../core/pods/validation/scheduling.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of runtimeclasses. */
const runtimeClassColumns: readonly Column[] = withNameAndAge(textColumn('Handler', 'handler'));

/** Valid tolerations that differ in key, operator, value or effect. */
function checkUniqueTolerations(list: Field): Errors {
  const known = new Set<string>();
  const duplicates = each(list).filter(({ value }) => {
    const key = JSON.stringify(['key', 'operator', 'value', 'effect'].map((name) => toText(readPath(value, name))));
    const isKnown = known.has(key);
    known.add(key);
    return isKnown;
  });
  // The reference asks no gate about the tolerations of a RuntimeClass.
  return [...selectProblems(checkTolerations(list), () => false), ...duplicates.map(({ path, value }) => duplicate(path, showPodPart('Toleration', value)))];
}

/** Validates runtimeclasses. */
function validateRuntimeClass(runtimeClass: KubeObject): Errors {
  return [
    ...checkLabelName(memberOf(runtimeClass, 'handler')),
    ...checkResources({ path: 'overhead', value: { limits: readPath(runtimeClass, 'overhead', 'podFixed') } }),
    ...checkLabels({ path: 'scheduling.nodeSelector', value: readPath(runtimeClass, 'scheduling', 'nodeSelector') }),
    ...checkUniqueTolerations({ path: 'scheduling.tolerations', value: readPath(runtimeClass, 'scheduling', 'tolerations') }),
  ];
}

/** Warns of node selectors with old labels. */
const warnOfRuntimeClass = (root: Field): readonly string[] =>
  warnOfLabelMap(at(root, 'scheduling', 'nodeSelector'), () => 'scheduling.nodeSelector');

/** Former versions of RuntimeClass: v1alpha1 has all but the metadata in a spec, and the handler under another name. */
const formerRuntimeClasses: Readonly<Record<string, FormerVersion>> = {
  ...sameAs('node.k8s.io/v1beta1'),
  'node.k8s.io/v1alpha1': {
    schema: formerSchema('node.v1alpha1.RuntimeClass'),
    convert({ spec, ...runtimeClass }) {
      const { runtimeHandler = '', ...members } = toObject(spec);
      return { ...runtimeClass, handler: runtimeHandler, ...members };
    },
  },
};

/** The spec of RuntimeClass. */
export const runtimeClassKind: KindSpec = {
  kind: 'RuntimeClass', plural: 'runtimeclasses', cluster: true,
  formerVersions: formerRuntimeClasses,
  createOnUpdate: true, unconditionalUpdate: false,
  metadataChecks: ['lenient-object', 'kind', 'lenient-update'],
  columns: runtimeClassColumns,
  validation: { object: validateRuntimeClass, update: (object, old) => [...validateRuntimeClass(object), ...checkSameMembers(object, old, ['handler'])] },
  warnings: warnWith(warnOfRuntimeClass),
};
