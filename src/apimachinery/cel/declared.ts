// Types of expressions from the structural schemas of custom resources, with what costs need to know of them: the most elements a value
// can have and the fewest bytes it can be written in. What has no schema (preserved unknown fields) cannot be seen by expressions.
import type { OpenAPIV3Schema } from '../schema/structural.ts';
import type { StructProvider } from './environment.ts';
import { escapeName } from './escape.ts';
import { type Range } from './estimate.ts';
import { maxRequestBytes } from './kubernetes.ts';
import {
  type CelType, boolType, bytesType, doubleType, durationType, dynType, intType, listOf, mapOf, stringType, structType, timestampType,
} from './types.ts';

/** A type declared by a schema. */
export interface DeclaredType {
  readonly type: CelType;
  readonly schema: OpenAPIV3Schema;
  /** Fields by escaped name. */
  readonly fields?: ReadonlyMap<string, DeclaredField>;
  readonly element?: DeclaredType;
  readonly key?: DeclaredType;
  readonly maxElements: number;
  readonly minBytes: number;
}

export interface DeclaredField {
  /** The property's name in JSON. */
  readonly name: string;
  readonly declared: DeclaredType;
}

const maxTextLength = maxRequestBytes - 2;
const textBounds = { duration: 32, date: 12, 'date-time': 32 };
const minBytesOf = { duration: 3, date: 12, 'date-time': 21 };
const plainText: OpenAPIV3Schema = { type: 'string' };
const resourceMeta: OpenAPIV3Schema = { type: 'object', properties: { name: plainText, generateName: plainText } };

/** The schema of a resource's root, with the identity that expressions always see. */
export function withTypeAndMeta(schema: OpenAPIV3Schema): OpenAPIV3Schema {
  const properties = { ...schema.properties, kind: plainText, apiVersion: plainText, metadata: resourceMeta };
  return { ...schema, properties };
}

/** The type that a schema declares; undefined when it declares none. */
export function declareType(given: OpenAPIV3Schema, options: { root: boolean; name: string }): DeclaredType | undefined {
  if (given['x-kubernetes-int-or-string'] === true) return { type: dynType, schema: given, maxElements: maxTextLength, minBytes: 1 };
  const schema = options.root ? withTypeAndMeta(given) : given;
  switch (schema.type) {
    case 'array': return declareList(schema, options.name);
    case 'object': return declareObject(schema, options.name);
    case 'string': return declareText(schema);
    case 'boolean': return { type: boolType, schema, maxElements: 0, minBytes: 4 };
    case 'number': return { type: doubleType, schema, maxElements: 0, minBytes: 1 };
    case 'integer': return { type: intType, schema, maxElements: 0, minBytes: 1 };
    default: return undefined;
  }
}

const bound = (value: unknown, otherwise: number): number => (typeof value === 'number' || typeof value === 'bigint' ? Math.max(0, Number(value)) : otherwise);
const isEmbedded = (schema: OpenAPIV3Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function declareList(schema: OpenAPIV3Schema, name: string): DeclaredType | undefined {
  if (schema.items === undefined) return undefined;
  const element = declareType(schema.items, { root: isEmbedded(schema.items), name: `${name}.@idx` });
  if (element === undefined) return undefined;
  const maxElements = bound(schema['maxItems'], Math.floor((maxRequestBytes - 2) / (element.minBytes + 1)));
  return { type: listOf(element.type), schema, element, maxElements, minBytes: 2 };
}

function declareObject(schema: OpenAPIV3Schema, name: string): DeclaredType | undefined {
  const values = schema.additionalProperties;
  if (typeof values !== 'object' || values === null) return declareFields(schema, name);
  const element = declareType(values, { root: isEmbedded(values), name: `${name}.@elem` });
  if (element === undefined) return undefined;
  const maxElements = bound(schema['maxProperties'], Math.floor((maxRequestBytes - 2) / (element.minBytes + 6)));
  const key: DeclaredType = { type: stringType, schema: plainText, maxElements: maxTextLength, minBytes: 2 };
  return { type: mapOf(stringType, element.type), schema, element, key, maxElements, minBytes: 2 };
}

function declareFields(schema: OpenAPIV3Schema, name: string): DeclaredType {
  const fields = new Map<string, DeclaredField>();
  let minBytes = 2;
  for (const [property, inner] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(property);
    const declared = declareType(inner, { root: isEmbedded(inner), name: `${name}.${escaped ?? property}` });
    if (declared === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, { name: property, declared });
    const required = Array.isArray(schema.required) && schema.required.includes(property);
    if (required && inner.default === undefined) minBytes += property.length + declared.minBytes + 4;
  }
  return { type: structType(name), schema, fields, maxElements: 0, minBytes };
}

function declareText(schema: OpenAPIV3Schema): DeclaredType {
  const format = schema.format as keyof typeof textBounds | undefined;
  switch (schema.format) {
    case 'byte': return { type: bytesType, schema, maxElements: bound(schema['maxLength'], maxTextLength), minBytes: 2 };
    case 'duration': return { type: durationType, schema, maxElements: textBounds[format!], minBytes: minBytesOf[format!] };
    case 'date': case 'date-time': return { type: timestampType, schema, maxElements: textBounds[format!], minBytes: minBytesOf[format!] };
    default: return { type: stringType, schema, maxElements: bound(schema['maxLength'], enumBound(schema.enum)), minBytes: 2 };
  }
}

function enumBound(values: readonly unknown[] | undefined): number {
  if (values === undefined || values.length === 0) return maxTextLength;
  return values.reduce((most: number, value) => Math.max(most, typeof value === 'string' ? value.length : 0), 0);
}

/** The fields of a declared type and of all types in it, for the checker. */
export function declaredStructs(root: DeclaredType): StructProvider {
  const types = new Map<string, ReadonlyMap<string, DeclaredField>>();
  collectStructs(root, types);
  return {
    has: (type) => types.has(type),
    fieldType: (type, field) => types.get(type)?.get(field)?.declared.type,
  };
}

function collectStructs(declared: DeclaredType, types: Map<string, ReadonlyMap<string, DeclaredField>>): void {
  if (declared.element !== undefined) collectStructs(declared.element, types);
  if (declared.fields === undefined) return;
  types.set(declared.type.name, declared.fields);
  for (const field of declared.fields.values()) collectStructs(field.declared, types);
}

/** Bounds of what stands at a path under a variable of the declared type. */
export function sizeHintsOf(root: DeclaredType): (path: readonly string[]) => Range | undefined {
  return (path) => {
    if (path.length === 0) return undefined;
    let current: DeclaredType | undefined = root;
    for (const name of path.slice(1)) {
      if (name === '@items' || name === '@values') current = current.element;
      else current = name === '@keys' ? current.key : current.fields?.get(name)?.declared;
      if (current === undefined) return undefined;
    }
    return { min: 0, max: current.maxElements };
  };
}
