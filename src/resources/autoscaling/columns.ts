// Columns of HorizontalPodAutoscalers. They read the stored version (v2); other versions are converted first.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, convertColumns, integerColumn, textOr, withNameAndAge } from '../common/columns/columns.ts';
import { readPath, toNumber, toObject, toObjects, toText } from '../common/values.ts';
import { convertAutoscaler } from './convert.ts';

const SHOWN_METRICS = 2;

/** The member of a metric that its type names: `Resource` is described by `resource`. */
function readSource(metric: JsonObject | undefined, type: string): JsonObject {
  return toObject(metric?.[`${type.charAt(0).toLowerCase()}${type.slice(1)}`]);
}

/** `current/target` of an average or plain quantity; averages of single objects are marked. */
function formatQuantityMetric(source: JsonObject, current: JsonObject, marksAverage: boolean): string {
  const average = readPath(source, 'target', 'averageValue');
  if (average !== undefined) {
    return `${textOr(readPath(current, 'current', 'averageValue'), '<unknown>')}/${toText(average)}${marksAverage ? ' (avg)' : ''}`;
  }
  return `${textOr(readPath(current, 'current', 'value'), '<unknown>')}/${textOr(readPath(source, 'target', 'value'), '<nil>')}`;
}

function formatResourceMetric(source: JsonObject, current: JsonObject): string {
  const name = toText(source['name']);
  if (readPath(source, 'target', 'averageValue') !== undefined) return `${name}: ${formatQuantityMetric(source, current, false)}`;
  const wanted = readPath(source, 'target', 'averageUtilization');
  const found = readPath(current, 'current', 'averageUtilization');
  return `${name}: ${found === undefined ? '<unknown>' : `${toNumber(found)}%`}/${wanted === undefined ? '<auto>' : `${toNumber(wanted)}%`}`;
}

function formatMetric(metric: JsonObject, status: JsonObject | undefined): string {
  const type = toText(metric['type']);
  const source = readSource(metric, type);
  const current = readSource(status, type);
  switch (type) {
    case 'Resource':
    case 'ContainerResource':
      return formatResourceMetric(source, current);
    case 'Pods':
      return formatQuantityMetric(source, current, false);
    case 'Object':
    case 'External':
      return formatQuantityMetric(source, current, true);
    default:
      return '<unknown type>';
  }
}

function formatTargets(object: KubeObject): string {
  const metrics = toObjects(readPath(object, 'spec', 'metrics'));
  if (metrics.length === 0) return '<none>';
  const statuses = toObjects(readPath(object, 'status', 'currentMetrics'));
  const shown = metrics.slice(0, SHOWN_METRICS).map((metric, index) => formatMetric(metric, statuses[index])).join(', ');
  return metrics.length > SHOWN_METRICS ? `${shown} + ${metrics.length - SHOWN_METRICS} more...` : shown;
}

function formatReference(object: KubeObject): string {
  return `${toText(readPath(object, 'spec', 'scaleTargetRef', 'kind'))}/${toText(readPath(object, 'spec', 'scaleTargetRef', 'name'))}`;
}

/** Columns of horizontalpodautoscalers. */
const autoscalerColumns: readonly Column[] = withNameAndAge(
  column('Reference', formatReference),
  column('Targets', formatTargets),
  column('MinPods', (object) => textOr(readPath(object, 'spec', 'minReplicas'), '<unset>')),
  { ...integerColumn('MaxPods', 'spec', 'maxReplicas'), type: 'string' },
  { ...integerColumn('Replicas', 'status', 'currentReplicas'), type: 'string' },
);

/** Columns read the stored form; other forms are converted first. */
export const autoscalerRowColumns = convertColumns(autoscalerColumns, (object) => {
  return object.apiVersion === 'autoscaling/v1' ? convertAutoscaler(object, 'v1', 'v2') : object;
});
