// resource.k8s.io DeviceTaintRule, the same in v1alpha3 and v1beta2: a taint for the devices that a selector names; off by default.
import { type KubeObject, checkLabelValue, checkQualifiedName, equalJson, required, tooMany } from '../../apimachinery/index.ts';
import { type Column, formatTime } from '../../registry/index.ts';
import { column, textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { formatAge } from '../common/columns/duration.ts';
import { readPointer, setAbsent } from '../common/defaults.ts';
import { allUserMetadata, prepareWithStatus, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkText, each, isEmptyText, isGiven, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { checkDriverName } from '../common/validation/driver-names.ts';
import { readPath, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkEffect, checkLabel, checkPool } from './parts.ts';

const timeOf = (rule: KubeObject): string => toText(readPath(rule, 'spec', 'taint', 'timeAdded'));

const taintRuleColumns: readonly Column[] = withNameAndAge(
  textColumn('Key', 'spec', 'taint', 'key'), textColumn('Value', 'spec', 'taint', 'value'), textColumn('Effect', 'spec', 'taint', 'effect'),
  column('TimeAdded', (rule, nowMs) => (timeOf(rule) === '' ? '' : formatAge(timeOf(rule), nowMs))),
);
const MAX_CONDITIONS = 8;

const taintOf = (rule: KubeObject): Field => at(specOf(rule), 'taint');

/** A rule without a time has that of the request; a new effect without another time has it as well. */
function stampTime(rule: KubeObject, old: KubeObject | undefined, nowMs: number): void {
  const taint = readPointer(readPointer(rule, 'spec'), 'taint');
  if (taint === undefined) return;
  const hasNewEffect = old !== undefined && !equalJson(taint['effect'] ?? '', at(taintOf(old), 'effect').value ?? '');
  if (hasNewEffect && taint['timeAdded'] === at(taintOf(old), 'timeAdded').value) delete taint['timeAdded'];
  setAbsent(taint, { timeAdded: formatTime(nowMs) });
}

/** An effect that does not change is not checked again. */
function validateRule(rule: KubeObject, old?: KubeObject): Errors {
  const selector = at(specOf(rule), 'deviceSelector');
  const [driver, pool, device] = [at(selector, 'driver'), at(selector, 'pool'), at(selector, 'device')];
  const [value, effect] = [at(taintOf(rule), 'value'), at(taintOf(rule), 'effect')];
  const isSame = old !== undefined && toText(effect.value) === toText(at(taintOf(old), 'effect').value);
  return [
    ...(isGiven(driver) ? checkDriverName(driver) : []), ...(isGiven(pool) ? checkPool(pool) : []), ...(isGiven(device) ? checkLabel(device) : []),
    ...checkText(at(taintOf(rule), 'key'), checkQualifiedName), ...(isEmptyText(value) ? [] : checkText(value, checkLabelValue)),
    ...(isSame ? [] : isEmptyText(effect) ? [required(effect.path)] : checkEffect(effect)),
  ];
}

function validateRuleStatus(rule: KubeObject): Errors {
  const conditions = at(statusOf(rule), 'conditions');
  const count = each(conditions).length;
  return [...checkConditions(conditions), ...(count > MAX_CONDITIONS ? [tooMany(conditions.path, count, MAX_CONDITIONS)] : [])];
}

/** The spec of DeviceTaintRule. */
export const deviceTaintRuleKind: KindSpec = {
  kind: 'DeviceTaintRule', plural: 'devicetaintrules', cluster: true, versions: ['v1alpha3', 'v1beta2'], returnsDeleted: true,
  tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  resetFields: statusOnlyResets,
  columns: taintRuleColumns,
  strategy: prepareWithStatus({
    keeps: allUserMetadata,
    prepareForCreate: (rule, { nowMs }) => stampTime(rule, undefined, nowMs), prepareForUpdate: (rule, old, { nowMs }) => stampTime(rule, old, nowMs),
  }),
  validation: { object: (rule) => validateRule(rule), update: validateRule, status: validateRuleStatus },
};
