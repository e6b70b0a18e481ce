// What of an apply configuration replaces whole lists and maps: policies may not do that, since fields that they do not name would be lost.
// Mirrors upstream's findAtomics, which follows declared fields and items of lists.
import { isJsonObject } from '../../base/index.ts';
import type { Schema } from '../schema/schema.ts';
import { shapeOf } from './value.ts';

/** Paths of the lists and maps in a value that its schema merges as a whole, as upstream writes them (`.spec.args`, `.spec.items[0].selector`). */
export function findAtomics(schema: Schema, value: unknown): string[] {
  const found: string[] = [];
  collect(schema, value, { path: '', found });
  return found;
}

function collect(schema: Schema, value: unknown, { path, found }: { readonly path: string; readonly found: string[] }): void {
  const isList = Array.isArray(value);
  if (!isList && !isJsonObject(value)) return;
  const isUntyped = schema.type === 'any' || schema.format === 'raw' || schema.format === 'json';
  const fits = isList ? schema.type === 'array' : schema.type === 'object' || schema.type === 'map';
  if ((fits || isUntyped) && shapeOf(schema, value).type === 'leaf') found.push(path);
  if (isUntyped) return;
  if (isList) {
    const { items } = schema;
    if (items !== undefined) value.forEach((item, index) => collect(items, item, { path: `${path}[${index}]`, found }));
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const field = schema.fields?.get(key)?.schema;
    if (field !== undefined) collect(field, inner, { path: `${path}.${key}`, found });
  }
}
