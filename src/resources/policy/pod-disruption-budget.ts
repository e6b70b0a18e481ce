// policy/v1 PodDisruptionBudget.
import { type JsonObject, type KubeObject, invalidValue } from '../../apimachinery/index.ts';
import type { Column, FormerVersion } from '../../registry/index.ts';
import { column, integerColumn, textIfSet, withNameAndAge } from '../common/columns/columns.ts';
import { readPointer, readStructs } from '../common/defaults.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, checkOneOf, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { checkCountOrPercent } from '../common/validation/counts.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { readPath, toList, toObject } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of poddisruptionbudgets. */
const disruptionBudgetColumns: readonly Column[] = withNameAndAge(
  column('Min Available', (object) => textIfSet(readPath(object, 'spec', 'minAvailable'), 'N/A')),
  column('Max Unavailable', (object) => textIfSet(readPath(object, 'spec', 'maxUnavailable'), 'N/A')),
  integerColumn('Allowed Disruptions', 'status', 'disruptionsAllowed'),
);

/** Status of a PodDisruptionBudget. */
function validateDisruptionBudgetStatus(object: KubeObject): Errors {
  const status = statusOf(object);
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];
  return [...checkConditions(at(status, 'conditions')), ...checkNotNegative(...counts.map((name) => at(status, name)))];
}

/** Only one of the two counts may be set. */
function checkOneCount(spec: Field): Errors {
  const [least, most] = [at(spec, 'minAvailable').value, at(spec, 'maxUnavailable').value];
  if (least === undefined || most === undefined) return [];
  const policy = readPath(spec.value, 'unhealthyPodEvictionPolicy') ?? null;
  const selector = readPath(spec.value, 'selector') ?? null;
  const shown = { MinAvailable: least, Selector: selector, MaxUnavailable: most, UnhealthyPodEvictionPolicy: policy };
  return [invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set')];
}

/** Validates poddisruptionbudgets. */
function validateDisruptionBudget(budget: KubeObject): Errors {
  const spec = specOf(budget);
  const policy = at(spec, 'unhealthyPodEvictionPolicy');
  return [
    ...checkOneCount(spec), ...checkCountOrPercent(at(spec, 'minAvailable'), true), ...checkCountOrPercent(at(spec, 'maxUnavailable'), true),
    ...checkSelector(at(spec, 'selector')), ...(policy.value === undefined ? [] : checkOneOf(policy, ['AlwaysAllow', 'IfHealthyBudget'])),
  ];
}

/** A label that no pod has. In v1beta1, where an empty selector selects nothing, its absence selects all pods; in v1 its presence selects none. */
const NO_LABEL = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

/** Whether a selector asks of this label alone that it is there, or is not. */
function asksOnly(selector: JsonObject, operator: string): boolean {
  const [expression, ...others] = readStructs(selector, 'matchExpressions');
  const isAlone = expression !== undefined && others.length === 0 && Object.keys(toObject(selector['matchLabels'])).length === 0;
  return isAlone && expression['key'] === NO_LABEL && expression['operator'] === operator && toList(expression['values']).length === 0;
}

/** The label stands for no pods, alone; elsewhere it is dropped. */
function dropNoLabel(budget: KubeObject): void {
  const selector = readPointer(budget['spec'], 'selector');
  if (selector === undefined || asksOnly(selector, 'Exists')) return;
  const expressions = readStructs(selector, 'matchExpressions');
  const kept = expressions.filter(({ key }) => key !== NO_LABEL);
  if (kept.length === expressions.length) return;
  if (kept.length > 0) selector['matchExpressions'] = [...kept];
  else delete selector['matchExpressions'];
}

/** A budget of v1beta1: its empty selector selects no pods. */
function convertBudget(budget: KubeObject): KubeObject {
  const selector = readPointer(budget['spec'], 'selector');
  if (selector === undefined) return budget;
  const isEmpty = Object.keys(toObject(selector['matchLabels'])).length === 0 && toList(selector['matchExpressions']).length === 0;
  if (isEmpty) selector['matchExpressions'] = [{ key: NO_LABEL, operator: 'Exists' }];
  else if (asksOnly(selector, 'Exists')) delete selector['matchExpressions'];
  return budget;
}

/** Former versions of PodDisruptionBudget. */
const formerBudgets: Readonly<Record<string, FormerVersion>> = { 'policy/v1beta1': { convert: convertBudget } };

/** The spec of PodDisruptionBudget. */
export const podDisruptionBudgetKind: KindSpec = {
  kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', shortNames: ['pdb'], nameRule: 'path-segment',
  formerVersions: formerBudgets,
  unconditionalUpdate: false, tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['kind'],
  columns: disruptionBudgetColumns,
  applyDefaults: dropNoLabel,
  validation: { object: validateDisruptionBudget, status: validateDisruptionBudgetStatus },
};
