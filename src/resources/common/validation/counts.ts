// Counts: those that may be percentages (intstr.IntOrString of rolling updates and disruption budgets), and those of a status.
import { type FieldError, type KubeObject, invalidValue } from '../../../apimachinery/index.ts';
import { toNumber } from '../values.ts';
import { type Errors, type Field, at, checkNotNegative, statusOf } from './check.ts';

const PERCENT_TEXT = "a valid percent string must be a numeric string followed by an ending '%' "
  + "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A count or a percentage. */
export function checkCountOrPercent({ path, value }: Field, limitsPercent: boolean): Errors {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string') return checkNotNegative({ path, value });
  if (!/^[0-9]+%$/.test(value)) {
    return [invalidValue(path, value, PERCENT_TEXT)];
  }
  return limitsPercent ? checkShare({ path, value }) : [];
}

/** A percentage, where given, is at most 100 %. */
export function checkShare({ path, value }: Field): Errors {
  const isMore = typeof value === 'string' && /^[0-9]+%$/.test(value) && Number.parseInt(value, 10) > 100;
  return isMore ? [invalidValue(path, value, 'must not be greater than 100%')] : [];
}

/** A count must not exceed another; absent ones are zero. */
export function checkAtMost(status: Field, names: readonly string[], { limit, shown }: { readonly limit: string; readonly shown: string }): FieldError[] {
  const most = toNumber(at(status, limit).value ?? 0);
  return names.map((name) => at(status, name)).filter(({ value }) => toNumber(value ?? 0) > most)
    .map(({ path, value }) => invalidValue(path, value ?? 0, `cannot be greater than ${shown}`));
}

/** Validates the counts of a status. */
export function checkCounts(object: KubeObject, { counts, parts }: { readonly counts: readonly string[]; readonly parts: readonly string[] }): Errors {
  const status = statusOf(object);
  return [
    ...checkNotNegative(...counts.map((name) => at(status, name))),
    ...checkAtMost(status, parts, { limit: 'replicas', shown: 'status.replicas' }),
    ...checkAtMost(status, ['availableReplicas'], { limit: 'readyReplicas', shown: 'readyReplicas' }),
  ];
}
