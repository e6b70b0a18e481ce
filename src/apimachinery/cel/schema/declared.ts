// Types of expressions from the structural schemas of custom resources, with what costs need to know of them: the most elements a value
// can have and the fewest bytes it can be written in. Expressions cannot see values without a schema (preserved unknown fields).
// Fields are declared when an expression asks for them: rules look at a few fields of schemas that have thousands.
import type { OpenAPIV3Schema } from '../../schema/structural.ts';
import { byteLength } from '../../names.ts';
import type { StructProvider } from '../check/environment.ts';
import { escapeName, isKeyword } from './escape.ts';
import { type Range } from '../cost/ranges.ts';
import { MAX_REQUEST_BYTES } from '../limits.ts';
import {
  type CelType, boolType, bytesType, doubleType, durationType, dynType, intType, listOf, mapOf, stringType, structType, timestampType,
} from '../values/types.ts';

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

interface DeclaredField {
  /** The property's name in JSON. */
  readonly name: string;
  readonly declared: DeclaredType;
}

const MAX_TEXT_LENGTH = MAX_REQUEST_BYTES - 2;
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
  if (given['x-kubernetes-int-or-string'] === true) return { type: dynType, schema: given, maxElements: textBound(given['maxLength'], MAX_TEXT_LENGTH), minBytes: 1 };
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
/** Characters are limited, bytes are counted: four for each. */
const textBound = (maxLength: unknown, otherwise: number): number => (maxLength === undefined ? otherwise : 4 * bound(maxLength, 0));
const isEmbedded = (schema: OpenAPIV3Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function declareList(schema: OpenAPIV3Schema, name: string): DeclaredType | undefined {
  if (schema.items === undefined) return undefined;
  const element = declareType(schema.items, { root: isEmbedded(schema.items), name: `${name}.@idx` });
  if (element === undefined) return undefined;
  const maxElements = bound(schema['maxItems'], Math.floor((MAX_REQUEST_BYTES - 2) / (element.minBytes + 1)));
  return { type: listOf(element.type), schema, element, maxElements, minBytes: 2 };
}

function declareObject(schema: OpenAPIV3Schema, name: string): DeclaredType | undefined {
  const values = schema.additionalProperties;
  if (typeof values !== 'object' || values === null) return declareFields(schema, name);
  const element = declareType(values, { root: isEmbedded(values), name: `${name}.@elem` });
  if (element === undefined) return undefined;
  const maxElements = bound(schema['maxProperties'], Math.floor((MAX_REQUEST_BYTES - 2) / (element.minBytes + 6)));
  // The reference takes no length for keys: rules on them cost next to nothing, and published definitions rely on that.
  const key: DeclaredType = { type: stringType, schema: plainText, maxElements: 0, minBytes: 2 };
  return { type: mapOf(stringType, element.type), schema, element, key, maxElements, minBytes: 2 };
}

/** A field whose type is declared on first use; its schema declares one. */
class LazyField implements DeclaredField {
  readonly name: string;
  readonly #schema: OpenAPIV3Schema;
  readonly #parent: string;
  #declared: DeclaredType | undefined;

  constructor(name: string, schema: OpenAPIV3Schema, parent: string) {
    this.name = name;
    this.#schema = schema;
    this.#parent = parent;
  }

  get declared(): DeclaredType {
    const name = `${this.#parent}.${escapeName(this.name) ?? this.name}`;
    return (this.#declared ??= declareType(this.#schema, { root: isEmbedded(this.#schema), name }) as DeclaredType);
  }
}

/** Whether `declareType` answers a type. */
export function declares(schema: OpenAPIV3Schema): boolean {
  if (schema['x-kubernetes-int-or-string'] === true) return true;
  const { type, items, additionalProperties: values } = schema;
  if (type === 'array') return items !== undefined && declares(items);
  if (type === 'object') return typeof values !== 'object' || values === null || declares(values);
  return type === 'string' || type === 'boolean' || type === 'number' || type === 'integer';
}

function declareFields(schema: OpenAPIV3Schema, name: string): DeclaredType {
  const fields = new Map<string, DeclaredField>();
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  let minBytes = 2;
  for (const [property, inner] of Object.entries(schema.properties ?? {})) {
    if (!declares(inner)) continue;
    const field = new LazyField(property, inner, name);
    const escaped = escapeName(property);
    if (escaped !== undefined) fields.set(escaped, field);
    if (required.has(property) && inner.default === undefined) minBytes += property.length + field.declared.minBytes + 4;
  }
  return { type: structType(name), schema, fields, maxElements: 0, minBytes };
}

function declareText(schema: OpenAPIV3Schema): DeclaredType {
  const format = schema.format as keyof typeof textBounds | undefined;
  switch (schema.format) {
    case 'byte': return { type: bytesType, schema, maxElements: bound(schema['maxLength'], MAX_TEXT_LENGTH), minBytes: 2 };
    case 'duration': return { type: durationType, schema, maxElements: textBounds[format!], minBytes: minBytesOf[format!] };
    case 'date': case 'date-time': return { type: timestampType, schema, maxElements: textBounds[format!], minBytes: minBytesOf[format!] };
    default: return { type: stringType, schema, maxElements: textBound(schema['maxLength'], enumBound(schema.enum)), minBytes: 2 };
  }
}

function enumBound(values: readonly unknown[] | undefined): number {
  if (values === undefined || values.length === 0) return MAX_TEXT_LENGTH;
  return values.reduce((most: number, value) => Math.max(most, typeof value === 'string' ? byteLength(value) : 0), 0);
}

type Fields = ReadonlyMap<string, DeclaredField>;

/** The fields of a declared type and of all types in it, for the checker: it knows those that it came across, others are looked for by name. */
export function declaredStructs(root: DeclaredType): StructProvider {
  const known = new Map<string, Fields>();
  const note = (declared: DeclaredType): CelType => {
    let inner = declared;
    while (inner.element !== undefined) inner = inner.element;
    if (inner.fields !== undefined) known.set(inner.type.name, inner.fields);
    return declared.type;
  };
  note(root);
  const find = (type: string): Fields | undefined => known.get(type) ?? findFields(root, type);
  return {
    has: (type) => find(type) !== undefined,
    fieldType(type, field) {
      const fields = find(type);
      const found = fields === undefined ? undefined : fieldOf(fields, field);
      return found && note(found.declared);
    },
  };
}

/** A field by its escaped name; names that are keywords may also be written as they are. */
export function fieldOf(fields: Fields, name: string): DeclaredField | undefined {
  return fields.get(name) ?? (isKeyword(name) ? fields.get(`__${name}__`) : undefined);
}

/** The fields of the struct of that name, which is a path from the root. */
function findFields(root: DeclaredType, type: string): Fields | undefined {
  const prefix = `${root.type.name}.`;
  if (!type.startsWith(prefix)) return undefined;
  let current: DeclaredType | undefined = root;
  for (const step of type.slice(prefix.length).split('.')) {
    current = step === '@idx' || step === '@elem' ? current.element : current.fields?.get(step)?.declared;
    if (current === undefined) return undefined;
  }
  return current.fields;
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
