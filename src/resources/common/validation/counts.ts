// Counts that may be percentages: intstr.IntOrString of rolling updates and disruption budgets.
import { invalidValue } from '../../../apimachinery/index.ts';
import { type Errors, type Field, checkNotNegative } from './check.ts';

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
