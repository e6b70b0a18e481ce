// The frame of the warnings of a kind: which paths and which writes they come with.
import type { KubeObject } from '../../../apimachinery/index.ts';
import type { Strategy } from '../../../registry/index.ts';
import type { Field } from '../validation/check.ts';
import { readPath } from '../values.ts';

/** The texts of `Warning` headers for an object, whose root is handed in as a field; `old` is absent for new objects. */
export type Warn = (root: Field, old?: KubeObject) => readonly string[];

/** The warnings of a kind, as its spec holds them. */
export type KindWarnings = NonNullable<Strategy['warnings']>;

/** The object as a field without path. */
export const rootOf = (object: KubeObject): Field => ({ path: '', value: object });

/** Warnings of writes of the object itself, and of its status. */
export function warnWith(warn: Warn, onStatus: Warn = () => []): KindWarnings {
  return (object, old, { subresource }) => (subresource === '' ? warn(rootOf(object), old) : subresource === 'status' ? onStatus(rootOf(object), old) : []);
}

/** The value of an annotation. */
export const annotation = (root: Field, key: string): unknown => readPath(root.value, 'metadata', 'annotations', key);
