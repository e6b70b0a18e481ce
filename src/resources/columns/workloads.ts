// Columns of the kinds that run pods: controllers of apps, batch and core, and the disruption budget.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import {
  type Cell, ageColumn, column, containerColumns, formatLabels, integerColumn, nameColumn, readPath, textColumn, textIfSet, toList, toNumber,
  toObjects, toText, wideColumn, withNameAndAge,
} from './common.ts';
import { formatAge, formatHumanDuration } from './duration.ts';
import { formatDeploymentSelector, formatSelector } from './selector.ts';

const templateContainers = containerColumns('spec', 'template', 'spec');
const selectorColumn = wideColumn('Selector', (object) => formatSelector(readPath(object, 'spec', 'selector')));

/** A number of the status under a column that the reference declares as text. */
function countColumn(name: string, ...path: readonly string[]): Column {
  return { ...integerColumn(name, ...path), type: 'string' };
}

function readyColumn(object: KubeObject): Cell {
  return `${toNumber(readPath(object, 'status', 'readyReplicas'))}/${toNumber(readPath(object, 'spec', 'replicas'))}`;
}

const replicaColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', 'spec', 'replicas'),
  integerColumn('Current', 'status', 'replicas'),
  integerColumn('Ready', 'status', 'readyReplicas'),
  ageColumn,
  ...templateContainers,
];

/** Columns of replicationcontrollers, whose selector is a plain map. */
export const replicationControllerColumns: readonly Column[] = [
  ...replicaColumns,
  wideColumn('Selector', (object) => formatLabels(readPath(object, 'spec', 'selector'))),
];

/** Columns of replicasets. */
export const replicaSetColumns: readonly Column[] = [...replicaColumns, selectorColumn];

/** Columns of deployments. */
export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column('Ready', readyColumn),
  countColumn('Up-to-date', 'status', 'updatedReplicas'),
  countColumn('Available', 'status', 'availableReplicas'),
  ageColumn,
  ...templateContainers,
  wideColumn('Selector', (object) => formatDeploymentSelector(readPath(object, 'spec', 'selector'))),
];

/** Columns of statefulsets. */
export const statefulSetColumns: readonly Column[] = [nameColumn, column('Ready', readyColumn), ageColumn, ...templateContainers];

/** Columns of daemonsets. */
export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', 'status', 'desiredNumberScheduled'),
  integerColumn('Current', 'status', 'currentNumberScheduled'),
  integerColumn('Ready', 'status', 'numberReady'),
  integerColumn('Up-to-date', 'status', 'updatedNumberScheduled'),
  integerColumn('Available', 'status', 'numberAvailable'),
  column('Node Selector', (object) => formatLabels(readPath(object, 'spec', 'template', 'spec', 'nodeSelector'))),
  ageColumn,
  ...templateContainers,
  selectorColumn,
];

function formatJobStatus(object: KubeObject): string {
  const conditions = toObjects(readPath(object, 'status', 'conditions'));
  const has = (type: string): boolean => conditions.some((condition) => condition['type'] === type && condition['status'] === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (object.metadata?.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(has) ?? 'Running';
}

function formatCompletions(object: KubeObject): string {
  const succeeded = toNumber(readPath(object, 'status', 'succeeded'));
  const completions = readPath(object, 'spec', 'completions');
  if (completions !== undefined) return `${succeeded}/${toNumber(completions)}`;
  const parallelism = toNumber(readPath(object, 'spec', 'parallelism'));
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function formatJobDuration(object: KubeObject, nowMs: number): string {
  const start = toText(readPath(object, 'status', 'startTime'));
  if (start === '') return '';
  const end = toText(readPath(object, 'status', 'completionTime'));
  return formatHumanDuration((end === '' ? nowMs : Date.parse(end)) - Date.parse(start));
}

/** Columns of jobs. */
export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', formatJobStatus),
  column('Completions', formatCompletions),
  column('Duration', formatJobDuration),
  ageColumn,
  ...templateContainers,
  selectorColumn,
];

function formatSuspend(object: KubeObject): string {
  const suspend = readPath(object, 'spec', 'suspend');
  return suspend === undefined ? '<unset>' : suspend === true ? 'True' : 'False';
}

/** Columns of cronjobs. */
export const cronJobColumns: readonly Column[] = [
  nameColumn,
  textColumn('Schedule', 'spec', 'schedule'),
  column('Timezone', (object) => textIfSet(readPath(object, 'spec', 'timeZone'), '<none>')),
  column('Suspend', formatSuspend, 'boolean'),
  column('Active', (object) => toList(readPath(object, 'status', 'active')).length, 'integer'),
  column('Last Schedule', (object, nowMs) => {
    const last = readPath(object, 'status', 'lastScheduleTime');
    return last === undefined ? '<none>' : formatAge(last, nowMs);
  }),
  ageColumn,
  ...containerColumns('spec', 'jobTemplate', 'spec', 'template', 'spec'),
  wideColumn('Selector', (object) => formatSelector(readPath(object, 'spec', 'jobTemplate', 'spec', 'selector'))),
];

function formatController(object: KubeObject): string {
  const controller = object.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  if (controller === undefined) return '<none>';
  const group = controller.apiVersion.includes('/') ? controller.apiVersion.slice(0, controller.apiVersion.indexOf('/')) : '';
  const kind = `${controller.kind}${group === '' ? '' : `.${group}`}`.toLowerCase();
  return kind === '' ? controller.name : `${kind}/${controller.name}`;
}

/** Columns of controllerrevisions. */
export const controllerRevisionColumns: readonly Column[] = withNameAndAge(
  column('Controller', formatController),
  countColumn('Revision', 'revision'),
);

/** Columns of poddisruptionbudgets. */
export const disruptionBudgetColumns: readonly Column[] = withNameAndAge(
  column('Min Available', (object) => textIfSet(readPath(object, 'spec', 'minAvailable'), 'N/A')),
  column('Max Unavailable', (object) => textIfSet(readPath(object, 'spec', 'maxUnavailable'), 'N/A')),
  integerColumn('Allowed Disruptions', 'status', 'disruptionsAllowed'),
);
