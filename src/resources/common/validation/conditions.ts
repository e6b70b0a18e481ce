// metav1.Condition in a status: types, reasons and messages (upstream's ValidateConditions).
import { type FieldError, byteLength, checkQualifiedName, duplicate, invalidValue, required, tooLong } from '../../../apimachinery/index.ts';
import { toNumber, toText } from '../values.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isEmptyText } from './check.ts';

const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;
const REASON_SYNTAX = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonPattern = new RegExp(`^${REASON_SYNTAX}$`);

const REASON_PROBLEM = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', "
  + "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', "
  + `regex used for validation is '${REASON_SYNTAX}')`;

function checkReason(reason: Field): Errors {
  const text = toText(reason.value);
  if (text === '') return [required(reason.path)];
  const errors: FieldError[] = reasonPattern.test(text) ? [] : [invalidValue(reason.path, text, REASON_PROBLEM)];
  return byteLength(text) > MAX_REASON_BYTES ? [...errors, tooLong(reason.path, MAX_REASON_BYTES)] : errors;
}

function checkCondition(condition: Field): Errors {
  const part = (name: string): Field => at(condition, name);
  const [type, status, generation, time] = [part('type'), part('status'), part('observedGeneration'), part('lastTransitionTime')];
  return [
    ...checkText(type, checkQualifiedName), ...checkOneOf(status, ['False', 'True', 'Unknown']),
    ...(toNumber(generation.value ?? 0) < 0 ? [invalidValue(generation.path, generation.value, 'must be greater than or equal to zero')] : []),
    ...(isEmptyText(time) ? [required(time.path)] : []), ...checkReason(part('reason')),
    ...(byteLength(toText(part('message').value)) > MAX_MESSAGE_BYTES ? [tooLong(part('message').path, MAX_MESSAGE_BYTES)] : []),
  ];
}

/** Validates metav1.Conditions: each type at most once, each with a status, a time and a reason. */
export function checkConditions(list: Field): Errors {
  const types = new Set<string>();
  return each(list).flatMap((condition) => {
    const type = toText(at(condition, 'type').value);
    const isKnown = types.has(type);
    types.add(type);
    return [...(isKnown ? [duplicate(at(condition, 'type').path, type)] : []), ...checkCondition(condition)];
  });
}
