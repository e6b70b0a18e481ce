// Metrics of a HorizontalPodAutoscaler in the shape that v1 keeps in annotations (the one of v2beta1), and back.
// Quantities that v1 always writes are "0" when v2 has none.
import type { JsonObject, JsonValue } from '../../apimachinery/index.ts';
import { readPath, toObject, toText } from '../common/values.ts';

/** Drops the members without value. */
function compact(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

/** The member that describes a metric of each type. */
const sources: Readonly<Record<string, string>> = {
  Object: 'object', Pods: 'pods', Resource: 'resource', ContainerResource: 'containerResource', External: 'external',
};

/** Rewrites the member that the type names; an unknown type keeps nothing but its name. */
function rewrite(metric: JsonObject, change: (type: string, source: JsonObject) => JsonObject): JsonObject {
  const type = toText(metric['type']);
  const member = Object.hasOwn(sources, type) ? sources[type] : undefined;
  if (member === undefined || !isSet(metric[member])) return { type };
  return { type, [member]: change(type, toObject(metric[member])) };
}

/** Names of the values in v1: `target…` in a spec, `current…` in a status. */
function valuesToV1(type: string, source: JsonObject, word: 'target' | 'current'): JsonObject {
  const value = readPath(source, word, 'value');
  const averageValue = readPath(source, word, 'averageValue');
  const metricName = toText(readPath(source, 'metric', 'name'));
  const selector = readPath(source, 'metric', 'selector');
  switch (type) {
    case 'Object':
      return compact({ target: source['describedObject'] ?? { kind: '', name: '' }, metricName, [`${word}Value`]: value ?? '0', selector, averageValue });
    case 'Pods':
      return compact({ metricName, [`${word}AverageValue`]: averageValue ?? '0', selector });
    case 'External':
      return compact({
        metricName, metricSelector: selector, [`${word}Value`]: word === 'current' ? value ?? '0' : value, [`${word}AverageValue`]: averageValue,
      });
    default:
      return compact({
        name: toText(source['name']),
        [`${word}AverageUtilization`]: readPath(source, word, 'averageUtilization'),
        [`${word}AverageValue`]: word === 'current' ? averageValue ?? '0' : averageValue,
        container: source['container'],
      });
  }
}

/** The values of v1 as v2's `target` or `current`, without type. */
function valuesFromV1(type: string, source: JsonObject, word: 'target' | 'current'): JsonObject {
  return compact({
    value: source[`${word}Value`],
    averageValue: type === 'Object' ? source['averageValue'] : source[`${word}AverageValue`],
    averageUtilization: source[`${word}AverageUtilization`],
  });
}

function identityFromV1(type: string, source: JsonObject): JsonObject {
  if (type === 'Resource' || type === 'ContainerResource') return compact({ name: toText(source['name']), container: source['container'] });
  const selector = type === 'External' ? source['metricSelector'] : source['selector'];
  const metric = compact({ name: toText(source['metricName']), selector });
  return type === 'Object' ? { describedObject: source['target'], metric } : { metric };
}

/** The type of a target, from the value that is given; v1 has no type. */
function targetType(type: string, values: JsonObject): string {
  if (type === 'Object') return isSet(values['averageValue']) ? 'AverageValue' : 'Value';
  if (type === 'External') return isSet(values['value']) ? 'Value' : 'AverageValue';
  return isSet(values['averageUtilization']) ? 'Utilization' : 'AverageValue';
}

/** A metric of `spec.metrics` for the annotation. */
export function metricSpecToV1(metric: JsonObject): JsonObject {
  return rewrite(metric, (type, source) => valuesToV1(type, source, 'target'));
}

/** A metric of the annotation for `spec.metrics`. */
export function metricSpecFromV1(metric: JsonObject): JsonObject {
  return rewrite(metric, (type, source) => {
    const values = valuesFromV1(type, source, 'target');
    return { ...identityFromV1(type, source), target: { type: targetType(type, values), ...values } };
  });
}

/** A metric of `status.currentMetrics` for the annotation. */
export function metricStatusToV1(metric: JsonObject): JsonObject {
  return rewrite(metric, (type, source) => valuesToV1(type, source, 'current'));
}

/** A metric of the annotation for `status.currentMetrics`. */
export function metricStatusFromV1(metric: JsonObject): JsonObject {
  return rewrite(metric, (type, source) => ({ ...identityFromV1(type, source), current: valuesFromV1(type, source, 'current') }));
}
