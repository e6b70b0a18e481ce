// Validation that the kinds of apps share: selectors and update strategies.
import { type KubeObject, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkImmutable, isGiven, specOf } from '../common/validation/check.ts';
import { checkSelector, isEmptySelector, isSelectable } from '../common/validation/selectors.ts';
import { readPath, toText } from '../common/values.ts';
import { checkTemplate, checkTemplateLabels } from '../core/pods/template.ts';

/** The selector is required and must not be empty. */
export function checkWorkloadSelector(spec: Field, kind: string): Errors {
  const selector = at(spec, 'selector');
  if (!isGiven(selector)) return [required(selector.path)];
  if (isEmptySelector(selector.value)) return [invalidValue(selector.path, {}, `empty selector is invalid for ${kind}`)];
  return checkSelector(selector);
}

/** The selector of a deployment or replica set and its template; an invalid selector leaves the template unchecked. */
export function checkSelectedTemplate(spec: Field): Errors {
  const selector = at(spec, 'selector');
  const errors = checkWorkloadSelector(spec, 'deployment');
  if (!isSelectable(selector.value)) return [...errors, invalidValue(selector.path, selector.value, 'invalid label selector')];
  const isOpen = !isGiven(selector) || isEmptySelector(selector.value);
  return [...errors, ...(isOpen && isGiven(selector) ? [] : checkTemplateLabels(spec, selector.value)), ...checkTemplate(spec, 'ReplicaSet')];
}

/** Whether a count or percentage is zero; a text that is neither a percentage nor a number counts as zero. */
export function isZero(value: unknown): boolean {
  if (typeof value !== 'string') return value === 0;
  const digits = value.endsWith('%') ? value.slice(0, -1) : value.replace(/^[+-]/, '');
  return !/^[0-9]+$/.test(digits) || !/[1-9]/.test(digits);
}

/** A rolling update as messages print it: in the form of the Go struct. */
export function showStrategy(strategy: Field): unknown {
  const rolling = readPath(strategy.value, 'rollingUpdate');
  const shown = { MaxUnavailable: readPath(rolling, 'maxUnavailable') ?? 0, MaxSurge: readPath(rolling, 'maxSurge') ?? 0 };
  return { Type: toText(readPath(strategy.value, 'type')), RollingUpdate: rolling === undefined ? null : shown };
}

/** The validation of an update: that of new objects, and the selector, which is immutable. */
export function withImmutableSelector(validate: (object: KubeObject) => Errors): (object: KubeObject, old: KubeObject) => Errors {
  return (object, old) => [...validate(object), ...checkImmutable(at(specOf(object), 'selector'), at(specOf(old), 'selector'))];
}

/** Inside of the reference the number of replicas is never absent. */
export const blankWorkload = { metadata: {}, spec: { replicas: 0 } } as const;
