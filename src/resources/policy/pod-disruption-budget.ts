// policy/v1 PodDisruptionBudget.
import { type KubeObject, invalidValue } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, integerColumn, textIfSet, withNameAndAge } from '../common/columns/columns.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, checkOneOf, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { checkCountOrPercent } from '../common/validation/counts.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { readPath } from '../common/values.ts';
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

/** The spec of PodDisruptionBudget. */
export const podDisruptionBudgetKind: KindSpec = {
  kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', shortNames: ['pdb'], nameRule: 'path-segment',
  unconditionalUpdate: false, tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['kind'],
  columns: disruptionBudgetColumns,
  validation: { object: validateDisruptionBudget, status: validateDisruptionBudgetStatus },
};
