// Forms by schemas: which fields an object shows, which can be added, and the values that new fields begin with.
import { type Schema, typesOf } from './schema.ts';

/** How a value is entered. */
export type Entry = 'object' | 'map' | 'list' | 'choice' | 'truth' | 'number' | 'text' | 'any';

/** Fields that the server writes, or that the form has already. */
const rootHidden = new Set(['apiVersion', 'kind', 'status']);
const metadataShown = ['name', 'generateName', 'labels', 'annotations', 'finalizers', 'ownerReferences'];
const first = ['metadata', 'name', 'spec', 'data'];

/** How a value of a schema is entered. */
export function findEntry(schema: Schema): Entry {
  const [type, ...others] = typesOf(schema);
  if (schema.enum !== undefined) return 'choice';
  if (schema.properties !== undefined) return 'object';
  if (typeof schema.additionalProperties === 'object') return 'map';
  if (type === 'array') return 'list';
  if (type === 'boolean') return 'truth';
  if ((type === 'integer' || type === 'number') && others.length === 0) return 'number';
  return type === 'string' || others.length > 0 ? 'text' : 'any';
}

/** The fields of an object with their schemas, the required ones first; `steps` lead to it from the root. */
export function listFields(schema: Schema, steps: readonly string[]): [name: string, schema: Schema][] {
  const all = Object.entries(schema.properties ?? {});
  const isMetadata = steps.length === 1 && steps[0] === 'metadata';
  const kept = all.filter(([name]) => (steps.length === 0 ? !rootHidden.has(name) : !isMetadata || metadataShown.includes(name)));
  const rank = (name: string): number => (schema.required?.includes(name) === true ? 0 : first.includes(name) ? 1 : 2);
  return kept.sort(([a], [b]) => rank(a) - rank(b));
}

/** Whether an object shows a field before a user adds it. */
export function isShownAtFirst(schema: Schema, name: string, steps: readonly string[]): boolean {
  if (schema.required?.includes(name) === true) return true;
  if (steps.length === 0) return ['metadata', 'spec', 'data'].includes(name);
  return steps.length === 1 && steps[0] === 'metadata' && name === 'name';
}

/** The value that a field begins with: empty, with one member where a list needs one. */
export function beginValue(schema: Schema): unknown {
  switch (findEntry(schema)) {
    case 'object': case 'map': case 'any': return {};
    case 'list': return schema.items === undefined || (schema.minItems ?? 0) === 0 ? [] : [beginValue(schema.items)];
    case 'choice': return schema.default ?? schema.enum?.[0];
    case 'truth': return schema.default ?? true;
    case 'number': return schema.default ?? schema.minimum ?? 0;
    default: return schema.default ?? '';
  }
}

/** A text as the value of a field that takes several types: a number where it is one. */
export const readText = (schema: Schema, text: string): unknown =>
  (typesOf(schema).some((type) => type === 'integer' || type === 'number') && /^-?\d{1,15}$/.test(text) ? Number(text) : text);
