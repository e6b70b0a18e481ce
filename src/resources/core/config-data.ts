// The data of ConfigMaps and Secrets: keys, total size, and immutability.
import { type FieldError, type KubeObject, checkConfigMapKey, equalJson, forbiddenField, invalidValue } from '../../apimachinery/index.ts';
import type { Errors } from '../common/validation/check.ts';
import { type Cell, toObject } from '../common/values.ts';

/** The number of entries in some maps of the object. */
export function countEntries(...fields: readonly string[]): (object: KubeObject) => Cell {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(toObject(object[field])).length, 0);
}

/** Most bytes of all values together. */
export const MAX_DATA_BYTES = 1_048_576;
const SEALED_TEXT = 'field is immutable when `immutable` is set';

/** The number of bytes that a base64 text encodes. */
export function decodedLength(text: string): number {
  return Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
}

/** A key: letters, digits, `-`, `_` and `.`. */
export function checkKey(path: string, key: string): Errors {
  return checkConfigMapKey(key).map((problem) => invalidValue(`${path}[${key}]`, key, problem));
}

/** Errors of a change of an immutable object, in the order of the reference. */
export function checkSealed(object: KubeObject, old: KubeObject, fields: readonly string[]): Errors {
  if (old['immutable'] !== true) return [];
  const errors: FieldError[] = object['immutable'] === true ? [] : [forbiddenField('immutable', SEALED_TEXT)];
  return [...errors, ...fields.filter((name) => !equalJson(toObject(object[name]), toObject(old[name]))).map((name) => forbiddenField(name, SEALED_TEXT))];
}
