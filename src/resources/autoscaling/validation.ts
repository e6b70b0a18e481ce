// Validation of HorizontalPodAutoscalers in their stored version (v2).
import {
  type FieldError, type KubeObject, checkDnsLabel, checkPathSegment, forbiddenField, invalidValue, notSupported, required,
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

/** The API version of a referenced object. The scale target needs a group, other objects may be of the core group. */
function checkReference(reference: Field, allowsCore = false): Errors {
  const version = at(reference, 'apiVersion');
  const text = toText(version.value);
  const errors: FieldError[] = [...checkName(at(reference, 'kind')), ...checkName(at(reference, 'name'))];
  const slashes = text.split('/').length - 1;
  if (slashes > 1) errors.push(invalidValue(version.path, text, `unexpected GroupVersion string: ${text}`));
  else if (!allowsCore && !/^[^/]+\//.test(text)) errors.push(invalidValue(version.path, text, 'apiVersion must specify API group'));
  return errors;
}

const targetTypes = ['Utilization', 'Value', 'AverageValue'];

function checkTarget(target: Field): Errors {
  const type = at(target, 'type');
  const utilization = at(target, 'averageUtilization');
  const errors: FieldError[] = toText(type.value) === '' ? [required(type.path, 'must specify a metric target type')] : [];
  if (!targetTypes.includes(toText(type.value))) {
    errors.push(invalidValue(type.path, toText(type.value), 'must be either Utilization, Value, or AverageValue'));
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
    ...(toText(resource.value) === '' ? [] : checkContainerResource({ ...resource, name: toText(resource.value) })),
    ...(toText(container.value) === '' ? [required(container.path, 'must specify a container')] : checkText(container, checkDnsLabel)),
  ];
}

function checkSource(kind: string, source: Field): Errors {
  const described = kind === 'object' ? checkReference(at(source, 'describedObject'), true) : [];
  return [...described, ...checkNamed(kind, source), ...checkTarget(at(source, 'target')), ...checkAim(kind, at(source, 'target'))];
}

const sources: Readonly<Record<string, string>> = {
  Object: 'object', External: 'external', Pods: 'pods', Resource: 'resource', ContainerResource: 'containerResource',
};

function checkMetric(metric: Field): Errors {
  const type = at(metric, 'type');
  const text = toText(type.value);
  const present = Object.values(sources).filter((kind) => isGiven(at(metric, kind)));
  const expected = Object.hasOwn(sources, text) ? sources[text] as string : undefined;
  const unknown = notSupported(type.path, text, Object.keys(sources));
  const errors: FieldError[] = text === '' ? [required(type.path, 'must specify a metric source type')] : [];
  if (expected === undefined) errors.push(unknown);
  const [first] = present;
  if (first !== undefined) errors.push(...checkSource(first, at(metric, first)));
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

function checkCounts(spec: Field): Errors {
  const [min, max] = [at(spec, 'minReplicas'), at(spec, 'maxReplicas')];
  const errors: FieldError[] = isGiven(min) && countOf(min) < 1 ? [invalidValue(min.path, min.value, 'must be greater than or equal to 1')] : [];
  if (countOf(max) === 0) errors.push(required(max.path, 'must be set and greater than 0'));
  else if (countOf(max) < 0) errors.push(invalidValue(max.path, max.value, 'must be greater than or equal to 1'));
  const isSmaller = isGiven(min) && countOf(max) < countOf(min);
  return isSmaller ? [...errors, invalidValue(max.path, countOf(max), 'must be greater than or equal to `minReplicas`')] : errors;
}

/** Validates horizontalpodautoscalers of either version. */
export function validateAutoscaler(autoscaler: KubeObject): Errors {
  const stored = autoscaler.apiVersion === 'autoscaling/v1' ? convertAutoscaler(autoscaler, 'v1', 'v2') : autoscaler;
  const spec: Field = { path: 'spec', value: stored['spec'] };
  const min = at(spec, 'minReplicas');
  const metrics = each(at(spec, 'metrics'));
  const isIdle = isGiven(min) && countOf(min) === 0 && !metrics.some((metric) => ['Object', 'External'].includes(toText(at(metric, 'type').value)));
  const toZero = forbiddenField('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas');
  return [
    ...checkCounts(spec), ...checkReference(at(spec, 'scaleTargetRef')), ...metrics.flatMap(checkMetric), ...(isIdle ? [toZero] : []),
    ...checkRules(at(spec, 'behavior', 'scaleUp')), ...checkRules(at(spec, 'behavior', 'scaleDown')),
  ];
}

/** Validates what the status path of horizontalpodautoscalers writes. */
export function validateAutoscalerStatus(autoscaler: KubeObject): Errors {
  const status: Field = { path: 'status', value: autoscaler['status'] };
  return checkNotNegative(at(status, 'currentReplicas'), at(status, 'desiredReplicas'));
}
