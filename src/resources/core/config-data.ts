// The data of ConfigMaps and Secrets: keys, total size, and immutability.
import { type FieldError, type KubeObject, checkConfigMapKey, forbiddenField, invalidValue } from '../../apimachinery/index.ts';
import { type Errors, isSame } from '../common/validation/check.ts';
import { type Cell, toObject } from '../common/values.ts';

/** How many entries some maps of the object have; declared as text by the reference. */
export function countEntries(...fields: readonly string[]): (object: KubeObject) => Cell {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(toObject(object[field])).length, 0);
}

export const MAX_DATA_BYTES = 1_048_576;
const SEALED_TEXT = 'field is immutable when `immutable` is set';

/** Bytes that a base64 text stands for. */
export function decodedLength(text: string): number {
  return Math.floor((text.length * 3) / 4) - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
}

export function checkKey(path: string, key: string): Errors {
  return checkConfigMapKey(key).map((problem) => invalidValue(`${path}[${key}]`, key, problem));
}

/** What `immutable: true` seals, and that it cannot be undone; the order is the reference's. */
export function checkSealed(object: KubeObject, old: KubeObject, fields: readonly string[]): Errors {
  if (old['immutable'] !== true) return [];
  const errors: FieldError[] = object['immutable'] === true ? [] : [forbiddenField('immutable', SEALED_TEXT)];
  return [...errors, ...fields.filter((name) => !isSame(toObject(object[name]), toObject(old[name]))).map((name) => forbiddenField(name, SEALED_TEXT))];
}
