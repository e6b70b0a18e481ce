// OpenAPI documents as protobuf: gnostic's Document messages, written from the JSON documents by tables of field numbers. Members that the
// messages have no field for (x-…) become named values whose text is YAML.
import type { Steps } from '../../base/index.ts';
import { stringifyYaml } from '../../codec/index.ts';
import { isLarge } from './json-steps.ts';
import { encodeText, joinBytes } from '../response/encoding.ts';

type Json = Record<string, unknown>;

/**
 * The number and type of a field. Types: a scalar, `strings`, `any`, `anys`; the name of a message; that name with `[]` for a list of
 * messages, with `{}` for a message that is a map: repeated (name, value) pairs in its first field.
 */
type FieldSpec = readonly [number, string];
interface MessageSpec {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Field of the x-… members. */
  readonly extensions?: number;
  /** Members that are not in `fields` are pairs of this type in that field (paths, response codes). */
  readonly others?: FieldSpec;
}
type Choose = (value: unknown) => readonly [number, string] | undefined;

interface Dialect {
  readonly messages: Readonly<Record<string, MessageSpec>>;
  /** Messages with one field out of several: the function picks the field and type for a value. */
  readonly choices: Readonly<Record<string, Choose>>;
}

const isReference = (value: unknown): boolean => typeof value === 'object' && value !== null && '$ref' in value;
const orReference = (type: string): Choose => (value) => (isReference(value) ? [2, 'Reference'] : [1, type]);
const schemaOrBoolean = (type: string): Choose => (value) => (typeof value === 'boolean' ? [2, 'bool'] : [1, type]);

/** Fields of a v3 Schema. */
const v3Schema: MessageSpec['fields'] = {
  nullable: [1, 'bool'], multipleOf: [10, 'double'], title: [9, 'string'], maximum: [11, 'double'], exclusiveMaximum: [12, 'bool'], minimum: [13, 'double'],
  exclusiveMinimum: [14, 'bool'], maxLength: [15, 'int'], minLength: [16, 'int'], pattern: [17, 'string'], maxItems: [18, 'int'], minItems: [19, 'int'],
  uniqueItems: [20, 'bool'], maxProperties: [21, 'int'], minProperties: [22, 'int'], required: [23, 'strings'], enum: [24, 'anys'], type: [25, 'string'],
  allOf: [26, 'SchemaOrReference[]'], oneOf: [27, 'SchemaOrReference[]'], anyOf: [28, 'SchemaOrReference[]'], not: [29, 'Schema'], items: [30, 'Items'],
  properties: [31, 'SchemaOrReference{}'], additionalProperties: [32, 'AdditionalProperties'], default: [33, 'Default'], description: [34, 'string'],
  format: [35, 'string'],
};

const v3: Dialect = {
  messages: {
    Document: { fields: { openapi: [1, 'string'], info: [2, 'Info'], paths: [4, 'Paths'], components: [5, 'Components'], security: [6, 'Security[]'] },
      extensions: 9 },
    Info: { fields: { title: [1, 'string'], version: [6, 'string'] } },
    Paths: { fields: {}, others: [1, 'PathItem'], extensions: 2 },
    PathItem: {
      fields: {
        get: [4, 'Operation'], put: [5, 'Operation'], post: [6, 'Operation'], delete: [7, 'Operation'], options: [8, 'Operation'], head: [9, 'Operation'],
        patch: [10, 'Operation'], parameters: [13, 'ParameterOrReference[]'],
      },
      extensions: 14,
    },
    Operation: {
      fields: {
        tags: [1, 'strings'], description: [3, 'string'], operationId: [5, 'string'], parameters: [6, 'ParameterOrReference[]'],
        requestBody: [7, 'RequestBodyOrReference'], responses: [8, 'Responses'],
      },
      extensions: 13,
    },
    Parameter: { fields: { name: [1, 'string'], in: [2, 'string'], description: [3, 'string'], required: [4, 'bool'], schema: [10, 'SchemaOrReference'] } },
    RequestBody: { fields: { content: [2, 'MediaType{}'], required: [3, 'bool'] } },
    Responses: { fields: {}, others: [2, 'ResponseOrReference'] },
    Response: { fields: { description: [1, 'string'], content: [3, 'MediaType{}'] } },
    MediaType: { fields: { schema: [1, 'SchemaOrReference'] } },
    Components: { fields: { schemas: [1, 'SchemaOrReference{}'], securitySchemes: [7, 'SecuritySchemeOrReference{}'] } },
    SecurityScheme: { fields: { type: [1, 'string'], description: [2, 'string'], name: [3, 'string'], in: [4, 'string'] } },
    Security: { fields: {}, others: [1, 'StringArray'] },
    Reference: { fields: { $ref: [1, 'string'] } },
    Schema: { fields: v3Schema, extensions: 36 },
  },
  choices: {
    SchemaOrReference: orReference('Schema'), ParameterOrReference: orReference('Parameter'), RequestBodyOrReference: orReference('RequestBody'),
    ResponseOrReference: orReference('Response'), SecuritySchemeOrReference: orReference('SecurityScheme'),
    Items: () => [1, 'SchemaOrReference'], AdditionalProperties: schemaOrBoolean('SchemaOrReference'),
    // The message has no field for defaults that are objects or lists.
    Default: (value) => (typeof value === 'number' ? [1, 'double'] : typeof value === 'boolean' ? [2, 'bool'] : typeof value === 'string' ? [3,
      'string'] : undefined),
  },
};

const v2Schema: MessageSpec['fields'] = {
  $ref: [1, 'string'], format: [2, 'string'], title: [3, 'string'], description: [4, 'string'], default: [5, 'any'], multipleOf: [6, 'double'],
  maximum: [7, 'double'], exclusiveMaximum: [8, 'bool'], minimum: [9, 'double'], exclusiveMinimum: [10, 'bool'], maxLength: [11, 'int'],
  minLength: [12, 'int'], pattern: [13, 'string'],
  maxItems: [14, 'int'], minItems: [15, 'int'], uniqueItems: [16, 'bool'], maxProperties: [17, 'int'], minProperties: [18, 'int'], required: [19, 'strings'],
  enum: [20, 'anys'], additionalProperties: [21, 'AdditionalProperties'], type: [22, 'TypeItem'], items: [23, 'Items'], allOf: [24, 'Schema[]'],
  properties: [25, 'Schema{}'],
};
const pathMethods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

const v2: Dialect = {
  messages: {
    Document: {
      fields: {
        swagger: [1, 'string'], info: [2, 'Info'], paths: [8, 'Paths'], definitions: [9, 'Schema{}'], parameters: [10, 'Parameter{}'],
        security: [12, 'Security[]'], securityDefinitions: [13, 'SecurityDefinition{}'],
      },
      extensions: 16,
    },
    Info: { fields: { title: [1, 'string'], version: [2, 'string'] } },
    Paths: { fields: {}, others: [2, 'PathItem'], extensions: 1 },
    PathItem: {
      fields: { ...Object.fromEntries(pathMethods.map((method, index): [string, FieldSpec] => [method, [index + 2, 'Operation']])), parameters: [9,
        'ParametersItem[]'] },
      extensions: 10,
    },
    Operation: {
      fields: {
        tags: [1, 'strings'], description: [3, 'string'], operationId: [5, 'string'], produces: [6, 'strings'], consumes: [7, 'strings'],
        parameters: [8, 'ParametersItem[]'], responses: [9, 'Responses'], schemes: [10, 'strings'],
      },
      extensions: 13,
    },
    Responses: { fields: {}, others: [1, 'ResponseValue'] },
    Response: { fields: { description: [1, 'string'], schema: [2, 'SchemaItem'] } },
    BodyParameter: { fields: { description: [1, 'string'], name: [2, 'string'], in: [3, 'string'], required: [4, 'bool'], schema: [5, 'Schema'] } },
    QueryParameter: { fields: { required: [1, 'bool'], in: [2, 'string'], description: [3, 'string'], name: [4, 'string'], type: [6, 'string'],
      uniqueItems: [20, 'bool'] } },
    PathParameter: { fields: { required: [1, 'bool'], in: [2, 'string'], description: [3, 'string'], name: [4, 'string'], type: [5, 'string'],
      uniqueItems: [19, 'bool'] } },
    ApiKey: { fields: { type: [1, 'string'], name: [2, 'string'], in: [3, 'string'], description: [4, 'string'] } },
    Security: { fields: {}, others: [1, 'StringArray'] },
    Reference: { fields: { $ref: [1, 'string'] } },
    Schema: { fields: v2Schema, extensions: 31 },
  },
  choices: {
    ParametersItem: (value) => (isReference(value) ? [2, 'Reference'] : [1, 'Parameter']),
    Parameter: (value) => ((value as Json)['in'] === 'body' ? [1, 'BodyParameter'] : [2, 'NonBodyParameter']),
    NonBodyParameter: (value) => ((value as Json)['in'] === 'path' ? [4, 'PathParameter'] : [3, 'QueryParameter']),
    ResponseValue: () => [1, 'Response'], SchemaItem: () => [1, 'Schema'], SecurityDefinition: () => [2, 'ApiKey'],
    Items: () => [1, 'Schema'], TypeItem: () => [1, 'string'], AdditionalProperties: schemaOrBoolean('Schema'),
  },
};

/** Types that are not messages. */
const scalars: ReadonlySet<string> = new Set(['string', 'bool', 'int', 'double', 'any', 'anys', 'strings']);

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
  return out;
}

/** A length-delimited field. */
function delimited(number: number, bytes: Uint8Array): Uint8Array {
  return joinBytes([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function double(number: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return joinBytes([Uint8Array.from(varint(number * 8 + 1)), bytes]);
}

const anyBytes = (value: unknown): Uint8Array => delimited(2, encodeText(stringifyYaml(value)));
const named = (name: string, value: Uint8Array): Uint8Array => joinBytes([delimited(1, encodeText(name)), delimited(2, value)]);

class DocumentEncoder {
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** The bytes of a message. */
  message(type: string, value: unknown): Uint8Array {
    if (type === 'StringArray') return joinBytes((value as string[]).map((text) => delimited(1, encodeText(text))));
    const choose = this.#dialect.choices[type];
    if (choose) {
      const chosen = choose(value);
      return chosen ? this.#field(chosen, value) : new Uint8Array(0);
    }
    const spec = this.#dialect.messages[type] as MessageSpec;
    const chunks: Uint8Array[] = [];
    for (const [key, member] of Object.entries(value as Json)) this.#member(spec, [key, member], chunks);
    return joinBytes(chunks);
  }

  /** The bytes of a message in steps: a step for each member, of large members too. */
  *steps(type: string, value: unknown): Steps<Uint8Array> {
    if (!isLarge(value)) return this.message(type, value);
    const choose = this.#dialect.choices[type];
    if (choose) {
      const chosen = choose(value);
      return chosen ? yield* this.#fieldSteps(chosen, value) : new Uint8Array(0);
    }
    const spec = this.#dialect.messages[type] as MessageSpec;
    const chunks: Uint8Array[] = [];
    for (const [key, member] of Object.entries(value as Json)) {
      const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] as FieldSpec : undefined;
      if (field === undefined) this.#member(spec, [key, member], chunks);
      else chunks.push(yield* this.#fieldSteps(field, member));
      yield;
    }
    return joinBytes(chunks);
  }

  *#fieldSteps(field: FieldSpec, value: unknown): Steps<Uint8Array> {
    const [number, type] = field;
    if (scalars.has(type) || type.endsWith('[]') || !isLarge(value)) return this.#field(field, value);
    return delimited(number, type.endsWith('{}') ? yield* this.#mapSteps(type.slice(0, -2), value as Json) : yield* this.steps(type, value));
  }

  *#mapSteps(type: string, value: Json): Steps<Uint8Array> {
    const pairs: Uint8Array[] = [];
    for (const [key, member] of Object.entries(value)) {
      pairs.push(delimited(1, named(key, yield* this.steps(type, member))));
      yield;
    }
    return joinBytes(pairs);
  }

  #member(spec: MessageSpec, [key, member]: readonly [string, unknown], chunks: Uint8Array[]): void {
    if (Object.hasOwn(spec.fields, key)) chunks.push(this.#field(spec.fields[key] as FieldSpec, member));
    else if (key.startsWith('x-') && spec.extensions) chunks.push(delimited(spec.extensions, named(key, anyBytes(member))));
    else if (spec.others) chunks.push(delimited(spec.others[0], named(key, this.message(spec.others[1], member))));
  }

  #field([number, type]: FieldSpec, value: unknown): Uint8Array {
    if (type === 'string') return delimited(number, encodeText(String(value)));
    if (type === 'bool') return Uint8Array.from([...varint(number * 8), value ? 1 : 0]);
    if (type === 'int') return Uint8Array.from([...varint(number * 8), ...varint(Number(value))]);
    if (type === 'double') return double(number, Number(value));
    if (type === 'any') return delimited(number, anyBytes(value));
    if (type === 'anys') return joinBytes((value as unknown[]).map((item) => delimited(number, anyBytes(item))));
    if (type === 'strings') return joinBytes((value as string[]).map((item) => delimited(number, encodeText(item))));
    if (type.endsWith('[]')) return joinBytes((value as unknown[]).map((item) => delimited(number, this.message(type.slice(0, -2), item))));
    return delimited(number, type.endsWith('{}') ? this.#map(type.slice(0, -2), value as Json) : this.message(type, value));
  }

  #map(type: string, value: Json): Uint8Array {
    const pairs = Object.entries(value).map(([key, member]) => delimited(1, named(key, this.message(type, member))));
    return joinBytes(pairs);
  }
}

/** An OpenAPI v3 document as gnostic's openapi.v3.Document, in steps. */
export function encodeDocumentV3(document: Json): Steps<Uint8Array> {
  return new DocumentEncoder(v3).steps('Document', document);
}

/** A Swagger document as gnostic's openapi.v2.Document, in steps. */
export function encodeDocumentV2(document: Json): Steps<Uint8Array> {
  return new DocumentEncoder(v2).steps('Document', document);
}
