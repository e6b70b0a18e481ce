// Types of expressions from the schemas of whole kinds, built-in and custom: what policies are checked against. Definitions are read as an expression
// comes to them, so that recursion and size cost nothing.
import type { OpenAPIV3Schema } from '../../schema/structural.ts';
import type { Field, Schema } from '../../schema/schema.ts';
import { type DeclaredType, declareType } from './declared.ts';

const anything: OpenAPIV3Schema = { 'x-kubernetes-int-or-string': true };
const textFormats: ReadonlyMap<string, string> = new Map([['time', 'date-time'], ['micro-time', 'date-time'], ['byte', 'byte']]);

/** The type of a kind's objects; undefined when its schema declares none. */
export function declareKind(schema: Schema, name: string): DeclaredType | undefined {
  return declareType(publish(schema), { root: false, name });
}

/** A schema as it is published, as far as types go. */
function publish(schema: Schema): OpenAPIV3Schema {
  const { type, format, source } = schema;
  if (format === 'int-or-string') return anything;
  // A quantity is published as one of two types, and has none by itself: expressions do not know such fields.
  if (format === 'quantity') return {};
  switch (type) {
    // Formats of custom kinds are OpenAPI's own; a built-in duration is a plain text.
    case 'string': return withFormat(type, source === undefined ? textFormats.get(format ?? '') : format);
    case 'array': return { type, get items() { return schema.items && publish(schema.items); } };
    case 'map': return { type: 'object', get additionalProperties() { return schema.items && publish(schema.items); } };
    case 'object': return publishObject(schema);
    case 'any': return {};
    default: return { type };
  }
}

const withFormat = (type: string, format: string | undefined): OpenAPIV3Schema => ({ type, ...(format !== undefined && { format }) });

function publishObject(schema: Schema): OpenAPIV3Schema {
  if (schema.fields === undefined && schema.items !== undefined) {
    return { type: 'object', get additionalProperties() { return schema.items && publish(schema.items); } };
  }
  return { type: 'object', get properties() { return Object.fromEntries(Array.from(schema.fields?.values() ?? [], describeField)); } };
}

const describeField = (field: Field): [string, OpenAPIV3Schema] => [field.name, publish(field.schema)];
