// Readers for field selectors: each maps a stored object to the text that a selector compares.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { FieldReader } from '../../registry/index.ts';
import { readPath, toNumber, toText } from './values.ts';

/** A reader that looks at nothing but what is at these dotted paths. */
export const readAt = (paths: readonly string[], read: (object: KubeObject) => string): FieldReader =>
  Object.assign((object: KubeObject) => read(object), { paths: paths.map((path) => path.split('.')) });

/** A reader of one value, at a dotted path. */
function readerOf(path: string, format: (value: unknown) => string): FieldReader {
  const names = path.split('.');
  return readAt([path], (object) => format(readPath(object, ...names)));
}

/** Reads a text at a dotted path. */
export const textAt = (path: string): FieldReader => readerOf(path, toText);

/** Readers for field labels that are the path they read. */
export function textFields(...paths: readonly string[]): Record<string, FieldReader> {
  return Object.fromEntries(paths.map((path) => [path, textAt(path)]));
}

/** Reads `true` or `false` at a dotted path. */
export const boolAt = (path: string): FieldReader => readerOf(path, (value) => String(value === true));

/** Reads a number at a dotted path; 0 when it is absent. */
export const countAt = (path: string): FieldReader => readerOf(path, (value) => String(toNumber(value)));
