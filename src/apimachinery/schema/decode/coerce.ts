// Embedded resources of custom resources: their metadata is read as ObjectMeta whatever the schema says, unknown fields are dropped and reported,
// wrong types refused. The decoder of the body decodes the metadata of the object itself the same way, with plainer errors.
import { isJsonObject } from '../../../base/index.ts';
import { invalidValue } from '../../field-error.ts';
import { DecodeError } from './error.ts';
import { decodeObject, setOwn } from './decode.ts';
import { sortDeep } from './prune.ts';
import type { Schema } from '../schema.ts';

interface Coerced {
  /** Parts without embedded resources are shared with the input. */
  readonly object: Record<string, unknown>;
  /** `unknown field "spec.template.metadata.nick"`, in the order of the walk. */
  readonly strictErrors: readonly string[];
}

type Json = Record<string, unknown>;
/** Fields by their names, items by their index, entries of maps in brackets. */
type Path = readonly (string | number | { readonly entry: string })[];

interface CoerceOptions {
  /** Members of a wrong type are dropped instead of refused, as when an object is read from the store. */
  readonly dropsMalformed?: boolean;
  /** Nulls in the place of kind and apiVersion are left for validation, as in what an apply has made. */
  readonly keepsNulls?: boolean;
}

/** Coerces every embedded resource of a pruned object; throws DecodeError where kind, apiVersion or metadata has a wrong type. */
export function coerceEmbedded(
  schema: Schema, object: Record<string, unknown>, objectMeta: Schema, { dropsMalformed = false, keepsNulls = false }: CoerceOptions = {},
): Coerced {
  const strictErrors: string[] = [];
  const walk = (node: Schema | undefined, value: unknown, path: Path): unknown => {
    if (node === undefined || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return node.items === undefined ? value : value.map((item, i) => walk(node.items, item, [...path, i]));
    const isEmbedded = node.embeddedResource === true && path.length > 0;
    if (node.fields === undefined && node.type !== 'map' && !isEmbedded) return value;
    const coerced: Json = {};
    for (const key of Object.keys(value)) {
      const item = (value as Json)[key];
      if (isEmbedded && isMetaField(key)) {
        const field = { key, value: dropsMalformed ? withoutMalformed(key, item, objectMeta) : item, path: [...path, key], objectMeta, strictErrors };
        const isKept = keepsNulls && field.value === null && key !== 'metadata';
        if (field.value !== undefined) setOwn(coerced, key, isKept ? null : coerceMetaField(field));
      } else setOwn(coerced, key, walk(node.fields?.get(key)?.schema ?? node.items, item, [...path, node.fields?.has(key) === true ? key : { entry: key }]));
    }
    return coerced;
  };
  return { object: walk(schema, object, []) as Json, strictErrors };
}

/** A member of an embedded resource without what has a wrong type: each field of metadata is kept or dropped as a whole. */
function withoutMalformed(key: string, value: unknown, objectMeta: Schema): unknown {
  if (key !== 'metadata') return typeof value === 'string' ? value : undefined;
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => fits(objectMeta, { [name]: member })));
}

/** Whether an object can be decoded by a schema. */
export function fits(schema: Schema, value: Json): boolean {
  try {
    decodeObject(schema, value);
    return true;
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

const embedding = new WeakMap<Schema, boolean>();

/** Whether objects of a schema hold embedded resources. */
export function hasEmbedded(schema: Schema): boolean {
  const known = embedding.get(schema);
  if (known !== undefined) return known;
  const parts = [...Array.from(schema.fields?.values() ?? [], (field) => field.schema), ...(schema.items === undefined ? [] : [schema.items])];
  const found = parts.some((part) => part.embeddedResource === true || hasEmbedded(part));
  embedding.set(schema, found);
  return found;
}

function isMetaField(key: string): boolean {
  return key === 'metadata' || key === 'kind' || key === 'apiVersion';
}

function coerceMetaField(field: { key: string; value: unknown; path: Path; objectMeta: Schema; strictErrors: string[] }): unknown {
  const { key, value, objectMeta, strictErrors } = field;
  const path = formatPath(field.path);
  if (key !== 'metadata') {
    if (typeof value !== 'string') throw refuse(path, value, 'must be a string');
    return value;
  }
  try {
    const decoded = decodeObject(objectMeta, value, { at: path });
    strictErrors.push(...decoded.strictErrors);
    return sortDeep(decoded.object);
  } catch (error) {
    throw error instanceof DecodeError ? refuse(path, value, error.message) : error;
  }
}

function refuse(path: string, value: unknown, detail: string): DecodeError {
  return new DecodeError(`${path}: ${invalidValue(path, sortDeep(value), detail).message}`);
}

function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'string') return text === '' ? part : `${text}.${part}`;
    return `${text}[${typeof part === 'number' ? part : part.entry}]`;
  }, '');
}
