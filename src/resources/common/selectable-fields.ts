// Readers for field selectors: each maps a stored object to the text that a selector compares.
import type { KubeObject } from '../../apimachinery/index.ts';
import { readPath, toNumber, toText } from './values.ts';

/** Reads a field of the stored object; '' when it is absent. */
export type FieldReader = (object: KubeObject) => string;

/** Reads a text at a dotted path. */
export function textAt(path: string): FieldReader {
  const names = path.split('.');
  return (object) => toText(readPath(object, ...names));
}

/** Readers for field labels that are the path they read. */
export function textFields(...paths: readonly string[]): Record<string, FieldReader> {
  return Object.fromEntries(paths.map((path) => [path, textAt(path)]));
}

/** Reads `true` or `false` at a dotted path. */
export const boolAt = (path: string): FieldReader => (object) => String(readPath(object, ...path.split('.')) === true);

/** Reads a number at a dotted path; 0 when it is absent. */
export const countAt = (path: string): FieldReader => (object) => String(toNumber(readPath(object, ...path.split('.'))));
