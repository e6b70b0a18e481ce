// Validation of HorizontalPodAutoscalers in their stored version (v2).
import {
  type FieldError, type KubeObject, checkDnsLabel, checkPathSegment, forbiddenField, invalidTyped, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkNotNegative, checkText, each, isGiven } from '../common/validation/check.ts';
import { checkNatural, quantityAt, showQuantity } from '../common/validation/quantities.ts';
import { toNumber, toText } from '../common/values.ts';
import { checkContainerResource } from '../core/pods/validation/resources.ts';
import { convertAutoscaler } from './convert.ts';

const countOf = (place: Field): number => toNumber(place.value ?? 0);

function checkName(place: Field): Errors {
  return toText(place.value) === '' ? [required(place.path)] : checkText(place, checkPathSegment);
}

/** What the API version of a reference may be: one of any group, one of a named group, or, where it stood there before, any text. */
type VersionRule = 'any group' | 'named group' | 'any text';

function checkVersion(version: Field, rule: VersionRule): Errors {
  const text = toText(version.value);
  const slashes = text.split('/').length - 1;
  if (rule === 'any text') return [];
  if (slashes > 1) return [invalidValue(version.path, text, `unexpected GroupVersion string: ${text}`)];
  return rule === 'any group' || /^[^/]+\//.test(text) ? [] : [invalidValue(version.path, text, 'apiVersion must specify API group')];
}

function checkReference(reference: Field, rule: VersionRule): Errors {
  return [...checkName(at(reference, 'kind')), ...checkName(at(reference, 'name')), ...checkVersion(at(reference, 'apiVersion'), rule)];
}

/** ReplicationControllers are the only targets of the core group. A target of the same kind and version as before is not looked at again. */
function ruleOfTarget(target: Field, before: Field | undefined): VersionRule {
  const textOf = (reference: Field, name: string): string => toText(at(reference, name).value);
  if (before !== undefined && ['apiVersion', 'kind'].every((name) => textOf(target, name) === textOf(before, name))) return 'any text';
  return textOf(target, 'kind') === 'ReplicationController' ? 'any group' : 'named group';
}

const describedIn = (metric: Field): Field => at(metric, 'object', 'describedObject');

/** An autoscaler that has a metric of an object with a malformed version keeps it. */
function ruleOfMetrics(before: Field | undefined): VersionRule {
  const isMalformed = (metric: Field): boolean => checkVersion(at(describedIn(metric), 'apiVersion'), 'any group').length > 0;
  return before !== undefined && each(at(before, 'metrics')).some(isMalformed) ? 'any text' : 'any group';
}

const targetTypes = ['Utilization', 'Value', 'AverageValue'];

function checkTarget(target: Field): Errors {
  const type = at(target, 'type');
  const utilization = at(target, 'averageUtilization');
  const errors: FieldError[] = toText(type.value) === '' ? [required(type.path, 'must specify a metric target type')] : [];
  if (!targetTypes.includes(toText(type.value))) {
    errors.push(invalidTyped(type.path, toText(type.value), 'must be either Utilization, Value, or AverageValue'));
  }
  for (const name of ['value', 'averageValue']) {
    const place = at(target, name);
    if (isGiven(place) && quantityAt(place).mantissa <= 0n) errors.push(invalidValue(place.path, showQuantity(place), 'must be positive'));
  }
  return isGiven(utilization) && countOf(utilization) < 1 ? [...errors, invalidValue(utilization.path, utilization.value, 'must be greater than 0')] : errors;
}

/** The types that the target of each kind of source may have. */
function checkAim(kind: string, target: Field): Errors {
  const [value, average, utilization] = [at(target, 'value'), at(target, 'averageValue'), at(target, 'averageUtilization')];
  if (kind === 'pods') return isGiven(average) ? [] : [required(average.path, 'must specify a positive target averageValue')];
  if (kind === 'object') return isGiven(value) || isGiven(average) ? [] : [required(average.path, 'must set either a target value or averageValue')];
  if (kind === 'external') {
    if (!isGiven(value) && !isGiven(average)) return [required(average.path, 'must set either a target value for metric or a per-pod target')];
    return isGiven(value) && isGiven(average) ? [forbiddenField(value.path, 'may not set both a target value for metric and a per-pod target')] : [];
  }
  if (!isGiven(utilization) && !isGiven(average)) return [required(utilization.path, 'must set either a target raw value or a target utilization')];
  return isGiven(utilization) && isGiven(average) ? [forbiddenField(average.path, 'may not set both a target raw value and a target utilization')] : [];
}

function checkNamed(kind: string, source: Field): Errors {
  const isResource = kind === 'resource' || kind === 'containerResource';
  const name = isResource ? at(source, 'name') : at(source, 'metric', 'name');
  const missing = `must specify a ${isResource ? 'resource' : 'metric'} name`;
  const container = at(source, 'container');
  return [
    ...(toText(name.value) === '' ? [required(name.path, missing)] : isResource ? [] : checkText(name, checkPathSegment)),
    ...(kind === 'containerResource' ? checkContainerOf(name, container) : []),
  ];
}

function checkContainerOf(resource: Field, container: Field): Errors {
  return [
    ...(toText(resource.value) === '' ? [] : checkContainerResource({ path: resource.path, value: resource.value, name: toText(resource.value) })),
    ...(toText(container.value) === '' ? [required(container.path, 'must specify a container')] : checkText(container, checkDnsLabel)),
  ];
}

function checkSource(kind: string, source: Field, rule: VersionRule): Errors {
  const described = kind === 'object' ? checkReference(at(source, 'describedObject'), rule) : [];
  return [...described, ...checkNamed(kind, source), ...checkTarget(at(source, 'target')), ...checkAim(kind, at(source, 'target'))];
}

const sources: Readonly<Record<string, string>> = {
  Object: 'object', External: 'external', Pods: 'pods', Resource: 'resource', ContainerResource: 'containerResource',
};

function checkMetric(metric: Field, rule: VersionRule): Errors {
  const type = at(metric, 'type');
  const text = toText(type.value);
  const present = Object.values(sources).filter((kind) => isGiven(at(metric, kind)));
  const expected = Object.hasOwn(sources, text) ? sources[text] as string : undefined;
  const unknown = notSupported(type.path, text, Object.keys(sources));
  const errors: FieldError[] = text === '' ? [required(type.path, 'must specify a metric source type')] : [];
  if (expected === undefined) errors.push(unknown);
  const [first] = present;
  if (first !== undefined) errors.push(...checkSource(first, at(metric, first), rule));
  if (expected === undefined) errors.push(unknown);
  else if (!present.includes(expected)) errors.push(required(at(metric, expected).path, 'must populate information for the given metric source'));
  if (present.length === 1) return errors;
  const others = present.filter((kind) => kind !== expected);
  return [...errors, ...others.map((kind) => forbiddenField(at(metric, kind).path, 'must populate the given metric source only'))];
}

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

function checkPolicy(policy: Field): Errors {
  const [type, value, period] = [at(policy, 'type'), at(policy, 'value'), at(policy, 'periodSeconds')];
  const types = ['Percent', 'Pods'];
  return [
    ...(types.includes(toText(type.value)) ? [] : [notSupported(type.path, toText(type.value), types)]),
    ...[value, period].filter((place) => countOf(place) <= 0).map((place) => invalidValue(place.path, countOf(place), 'must be greater than zero')),
    ...(countOf(period) > MAX_PERIOD_SECONDS ? [invalidValue(period.path, period.value, `must be less than or equal to ${MAX_PERIOD_SECONDS}`)] : []),
  ];
}

function checkRules(rules: Field): Errors {
  if (!isGiven(rules)) return [];
  const [window, select, policies] = [at(rules, 'stabilizationWindowSeconds'), at(rules, 'selectPolicy'), each(at(rules, 'policies'))];
  const choices = ['Disabled', 'Max', 'Min'];
  const errors: FieldError[] = [];
  if (countOf(window) < 0) errors.push(invalidValue(window.path, window.value, 'must be greater than or equal to zero'));
  if (countOf(window) > MAX_WINDOW_SECONDS) errors.push(invalidValue(window.path, window.value, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  if (isGiven(select) && !choices.includes(toText(select.value))) errors.push(notSupported(select.path, select.value, choices));
  if (policies.length === 0) errors.push(required(at(rules, 'policies').path, 'must specify at least one Policy'));
  const tolerance = at(rules, 'tolerance');
  return [...errors, ...policies.flatMap(checkPolicy), ...(isGiven(tolerance) ? checkNatural(tolerance) : [])];
}

/** The gate of autoscalers that scale to no pod at all. */
export const TO_ZERO_GATE = 'HPAScaleToZero';

function checkCounts(spec: Field): Errors {
  const [min, max] = [at(spec, 'minReplicas'), at(spec, 'maxReplicas')];
  const least = (bound: number): FieldError[] =>
    (isGiven(min) && countOf(min) < bound ? [invalidValue(min.path, min.value, `must be greater than or equal to ${bound}`)] : []);
  const errors: FieldError[] = [
    ...least(1).map((error) => ({ ...error, when: `!${TO_ZERO_GATE}` })), ...least(0).map((error) => ({ ...error, when: TO_ZERO_GATE })),
  ];
  if (countOf(max) === 0) errors.push(required(max.path, 'must be set and greater than 0'));
  else if (countOf(max) < 0) errors.push(invalidValue(max.path, max.value, 'must be greater than or equal to 1'));
  const isSmaller = isGiven(min) && countOf(max) < countOf(min);
  return isSmaller ? [...errors, invalidValue(max.path, countOf(max), 'must be greater than or equal to `minReplicas`')] : errors;
}

function specOf(autoscaler: KubeObject): Field {
  const stored = autoscaler.apiVersion === 'autoscaling/v1' ? convertAutoscaler(autoscaler, 'v1', 'v2') : autoscaler;
  return { path: 'spec', value: stored['spec'] };
}

/** Validates horizontalpodautoscalers of either version; `old` is what an update replaces. */
export function validateAutoscaler(autoscaler: KubeObject, old?: KubeObject): Errors {
  const [spec, before] = [specOf(autoscaler), old === undefined ? undefined : specOf(old)];
  const target = at(spec, 'scaleTargetRef');
  const rule = ruleOfMetrics(before);
  const min = at(spec, 'minReplicas');
  const metrics = each(at(spec, 'metrics'));
  const isIdle = isGiven(min) && countOf(min) === 0 && !metrics.some((metric) => ['Object', 'External'].includes(toText(at(metric, 'type').value)));
  const toZero = forbiddenField('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas');
  return [
    ...checkCounts(spec), ...checkReference(target, ruleOfTarget(target, before && at(before, 'scaleTargetRef'))),
    ...metrics.flatMap((metric) => checkMetric(metric, rule)), ...(isIdle ? [toZero] : []),
    ...checkRules(at(spec, 'behavior', 'scaleUp')), ...checkRules(at(spec, 'behavior', 'scaleDown')),
  ];
}

/** Validates what the status path of horizontalpodautoscalers writes. */
export function validateAutoscalerStatus(autoscaler: KubeObject): Errors {
  const status: Field = { path: 'status', value: autoscaler['status'] };
  return checkNotNegative(at(status, 'currentReplicas'), at(status, 'desiredReplicas'));
}
