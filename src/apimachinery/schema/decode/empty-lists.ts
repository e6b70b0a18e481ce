// Empty lists that Go would write as [] and that storing in protobuf turns into null: what a client sent is kept as it came until owners
// are known, then made what will be stored.
import type { Schema } from '../schema.ts';

type Json = Record<string, unknown>;

/** Fields of a struct that are such lists, and those below which there may be some. */
interface Walk {
  readonly lists: readonly string[];
  readonly below: readonly { readonly name: string; readonly schema: Schema }[];
}

const walks = new WeakMap<Schema, Walk>();

/** Makes empty lists of fields without omitempty null, in place. Custom resources keep theirs. */
export function nullEmptyLists(schema: Schema, object: Record<string, unknown>): void {
  if (schema.source === undefined) visitObject(schema, object);
}

function visitObject(schema: Schema, object: Json): void {
  const { lists, below } = walkOf(schema);
  for (const name of lists) {
    const list = object[name];
    if (Array.isArray(list) && list.length === 0) object[name] = null;
  }
  for (const { name, schema: inner } of below) visit(inner, object[name]);
}

function visit(schema: Schema, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) visit(schema.items as Schema, item);
  } else if (schema.type === 'object') visitObject(schema, value as Json);
  else if (schema.items !== undefined) for (const key of Object.keys(value)) visit(schema.items, (value as Json)[key]);
}

function walkOf(schema: Schema): Walk {
  let walk = walks.get(schema);
  if (walk === undefined) walks.set(schema, (walk = planWalk(schema)));
  return walk;
}

const becomesNull = (schema: Schema): boolean => schema.type === 'array' && schema.items !== undefined;

function planWalk(schema: Schema): Walk {
  const fields = [...(schema.fields?.values() ?? [])];
  return {
    lists: fields.filter((field) => becomesNull(field.schema) && !field.omitEmpty && !field.pointer).map(({ name }) => name),
    below: fields.filter((field) => mayHold(field.schema, new Set())).map(({ name, schema: inner }) => ({ name, schema: inner })),
  };
}

/** False when no such list can be inside of a value of this schema. */
function mayHold(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (schema.type === 'array' || schema.type === 'map') return schema.items !== undefined && mayHold(schema.items, seen);
  if (schema.type !== 'object') return false;
  return [...(schema.fields?.values() ?? [])].some((field) => (becomesNull(field.schema) && !field.omitEmpty && !field.pointer) || mayHold(field.schema, seen));
}
