// Validation of conditions in the form that all newer kinds share, and of the ids by which what is shared is told apart.
import {
  type FieldError, byteLength, checkQualifiedName, duplicate, invalidValue, required, tooLong,
} from '../../apimachinery/index.ts';
import { toNumber, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isEmptyText } from './check.ts';

const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;
const reasonSyntax = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonPattern = new RegExp(`^${reasonSyntax}$`);
const reasonProblem = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', "
  + "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', "
  + `regex used for validation is '${reasonSyntax}')`;

function checkReason(reason: Field): Errors {
  const text = toText(reason.value);
  if (text === '') return [required(reason.path)];
  const errors: FieldError[] = reasonPattern.test(text) ? [] : [invalidValue(reason.path, text, reasonProblem)];
  return byteLength(text) > maxReasonBytes ? [...errors, tooLong(reason.path, maxReasonBytes)] : errors;
}

function checkCondition(condition: Field): Errors {
  const part = (name: string): Field => at(condition, name);
  const [type, status, generation, time] = [part('type'), part('status'), part('observedGeneration'), part('lastTransitionTime')];
  return [
    ...checkText(type, checkQualifiedName), ...checkOneOf(status, ['False', 'True', 'Unknown']),
    ...(toNumber(generation.value ?? 0) < 0 ? [invalidValue(generation.path, generation.value, 'must be greater than or equal to zero')] : []),
    ...(isEmptyText(time) ? [required(time.path)] : []), ...checkReason(part('reason')),
    ...(byteLength(toText(part('message').value)) > maxMessageBytes ? [tooLong(part('message').path, maxMessageBytes)] : []),
  ];
}

/** Validates metav1.Conditions: each type once, each with a status, a time and a reason. */
export function checkConditions(list: Field): Errors {
  const types = new Set<string>();
  return each(list).flatMap((condition) => {
    const type = toText(at(condition, 'type').value);
    const isKnown = types.has(type);
    types.add(type);
    return [...(isKnown ? [duplicate(at(condition, 'type').path, type)] : []), ...checkCondition(condition)];
  });
}

const uuidLength = 36;
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const urn = 'urn:uuid:';

/** Why a text is none of the ways to write a UUID. */
function findUuidProblem(text: string): string | undefined {
  const format = (isRight: boolean): string | undefined => (isRight ? undefined : 'invalid UUID format');
  switch (byteLength(text)) {
    case uuidLength: return format(uuidPattern.test(text));
    case uuidLength + urn.length: {
      const prefix = text.slice(0, urn.length);
      return prefix.toLowerCase() === urn ? format(uuidPattern.test(text.slice(urn.length))) : `invalid urn prefix: ${JSON.stringify(prefix)}`;
    }
    case uuidLength + 2:
      return text.startsWith('{') && text.endsWith('}') ? format(uuidPattern.test(text.slice(1, -1))) : 'invalid bracketed UUID format';
    case uuidLength - 4: return format(/^[0-9a-f]{32}$/i.test(text));
    default: return `invalid UUID length: ${byteLength(text)}`;
  }
}

/** A UUID in the one form that is stored. */
export function checkUuid({ path, value }: Field): Errors {
  const text = toText(value);
  const problem = findUuidProblem(text);
  if (problem !== undefined) return [invalidValue(path, text, `error validating uid: ${problem}`)];
  if (text.length === uuidLength && text === text.toLowerCase()) return [];
  return [invalidValue(path, text, 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters')];
}
