// Validation of the capacity of a device, and of the portions in which several claims may request it.
import { type FieldError, addQuantities, compareQuantities, forbiddenField, formatQuantity, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at, each, isGiven } from '../common/validation/check.ts';
import { compareAt, quantityAt, roundUpToWhole, showQuantity } from '../common/validation/quantities.ts';
import { toList } from '../common/values.ts';
import { checkSet } from './parts.ts';

const MAX_OPTIONS = 10;

/** A request policy: the values it allows, its default, and the capacity. */
interface Policy {
  readonly standard: Field;
  readonly capacity: Field;
}

function checkOptions(options: Field, { standard, capacity }: Policy): Errors {
  const list = each(options);
  const unsorted = list.filter((option, index) => index > 0 && compareAt(list[index - 1]!, option) > 0)
    .map((option) => invalidValue(option.path, showQuantity(option), 'values must be sorted in ascending order'));
  const check = (option: Field): Errors => {
    const isMore = compareAt(option, capacity) > 0;
    return isMore ? [invalidValue(option.path, showQuantity(option), `option is larger than capacity value: ${showQuantity(capacity)}`)] : [];
  };
  const isListed = list.length <= MAX_OPTIONS && list.some((option) => compareAt(option, standard) === 0);
  return [
    ...unsorted, ...checkSet(options, MAX_OPTIONS, { check, keyOf: (option) => roundUpToWhole(option).toString() }),
    ...(isListed ? [] : [invalidValue(options.path, showQuantity(standard), 'default value is not valid according to the requestPolicy')]),
  ];
}

function checkSteps(step: Field, { min, value }: { readonly min: Field; readonly value: Field }): Errors {
  const size = roundUpToWhole(step);
  // The reference divides by zero here and does not answer.
  if (size !== 0n && (roundUpToWhole(value) - roundUpToWhole(min)) % size === 0n) return [];
  const text = `value is not a multiple of a given step (${showQuantity(step)}) from (${showQuantity(min)})`;
  return [invalidValue(step.path, showQuantity(value), text)];
}

function checkStep(range: Field, { standard, capacity }: Policy): Errors {
  const [min, max, step] = [at(range, 'min'), at(range, 'max'), at(range, 'step')];
  if (!isGiven(step)) return [];
  const first = addQuantities(quantityAt(min), quantityAt(step));
  const isMore = compareQuantities(first, quantityAt(capacity)) > 0;
  const text = `one step ${formatQuantity(first)} is larger than capacity value: ${showQuantity(capacity)}`;
  return [
    ...(isMore ? [invalidValue(step.path, showQuantity(step), text)] : []), ...checkSteps(step, { min, value: standard }),
    ...(isGiven(max) ? checkSteps(step, { min, value: max }) : []),
  ];
}

function checkRange(range: Field, policy: Policy): Errors {
  const { standard, capacity } = policy;
  const [min, max] = [at(range, 'min'), at(range, 'max')];
  if (!isGiven(min)) return [required(min.path, 'required when validRange is defined')];
  const errors: FieldError[] = [];
  const compare = (less: Field, more: Field, { path, value, text }: { path: string; value: Field; text: string }): void => {
    if (compareAt(less, more) > 0) errors.push(invalidValue(path, showQuantity(value), text));
  };
  compare(min, capacity, { path: min.path, value: min, text: `min is larger than capacity value: ${showQuantity(capacity)}` });
  compare(min, standard, { path: min.path, value: standard, text: `default is less than min: ${showQuantity(min)}` });
  if (isGiven(max)) {
    compare(min, max, { path: max.path, value: min, text: `min is larger than max: ${showQuantity(max)}` });
    compare(max, capacity, { path: max.path, value: max, text: `max is larger than capacity value: ${showQuantity(capacity)}` });
    compare(standard, max, { path: max.path, value: standard, text: `default is more than max: ${showQuantity(max)}` });
  }
  return [...errors, ...checkStep(range, policy)];
}

/** Validates a capacity; only a device with allowMultipleAllocations may have a request policy. */
export function checkCapacity(capacity: Field, isShared: boolean): Errors {
  const policy = at(capacity, 'requestPolicy');
  if (!isGiven(policy)) return [];
  if (!isShared) return [forbiddenField(policy.path, 'allowMultipleAllocations must be true')];
  const [options, range, standard] = [at(policy, 'validValues'), at(policy, 'validRange'), at(policy, 'default')];
  const hasOptions = toList(options.value).length > 0;
  if (hasOptions && isGiven(range)) {
    return [forbiddenField(policy.path, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time')];
  }
  if (!hasOptions && !isGiven(range)) return [];
  if (!isGiven(standard)) return [required(standard.path, `required when ${hasOptions ? 'validValues' : 'validRange'} is defined`)];
  const parts = { standard, capacity: at(capacity, 'value') };
  return hasOptions ? checkOptions(options, parts) : checkRange(range, parts);
}
