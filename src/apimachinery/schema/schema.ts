// Schemas as data, and the compiled form that every mechanism reads: decoding and type errors, defaults, pruning, patches, apply,
// protobuf and OpenAPI. Built-in kinds are compiled from generated data (resources/schema), custom ones from their CRD: the same Schema.
//
// Worked example, from the data of apps/v1:
//   Deployment = { fields: { kind, apiVersion, metadata: {ref ObjectMeta, number 1}, spec: {ref DeploymentSpec, number 2, default {}}, … } }
//   DeploymentSpec.replicas = { type 'integer', format 'int32', number 1, pointer true }
import type { Description } from './descriptions.ts';

/** JSON types, plus `map` (an object with arbitrary keys and values of one schema) and `any` (anything, kept as it is). */
export type SchemaType = 'object' | 'map' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'any';

/**
 * What a scalar really is, where JSON does not say.
 * time, micro-time: metav1.Time and MicroTime · duration: metav1.Duration · quantity, int-or-string: as named · byte: base64 ·
 * raw: runtime.RawExtension (an object kept as it is) · fields-v1: FieldsV1 · json: apiextensions JSON
 * schema-or-array, schema-or-bool, schema-or-strings: the alternatives in JSONSchemaProps; `items` is JSONSchemaProps
 * wrapped: on an array, protobuf puts the elements in a message of their own, as field 1 (ExtraValue, Verbs)
 */
export type SchemaFormat =
  | 'int32' | 'int64' | 'double' | 'byte' | 'time' | 'micro-time' | 'duration' | 'quantity' | 'int-or-string' | 'raw' | 'fields-v1' | 'json'
  | 'schema-or-array' | 'schema-or-bool' | 'schema-or-strings' | 'wrapped'
  | (string & {});

/** A compiled schema. Properties that refer to other schemas are getters, so that recursion and laziness cost nothing. */
export interface Schema {
  readonly type: SchemaType;
  readonly format?: SchemaFormat;
  /** Name of the definition, as OpenAPI spells it (`io.k8s.api.apps.v1.DeploymentSpec`); only for definitions. */
  readonly name?: string;
  /** type 'object': the declared fields in the order of the Go struct, which is the order of the JSON written. */
  readonly fields?: ReadonlyMap<string, Field>;
  /** type 'array': the schema of an element; type 'map': of a value. */
  readonly items?: Schema;

  // How lists and maps merge (structured-merge-diff and strategic merge patch). On the schema of the list or map itself.
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  /** `mapType` was said by the field that refers to this definition, not by the definition. */
  readonly ownMapType?: boolean;
  /** `merge`, `replace`, `retainKeys`, or `merge,retainKeys` as upstream writes them. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;

  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly default?: unknown;
  /** The Go type as decoding errors print it (`v1.Protocol`, `v1.ResourceList`), where the schema does not give it away. */
  readonly goType?: string;
  /** Group, version and kind of the definition; several where a type is shared by groups. */
  readonly kinds?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
  /** OpenAPI's x-kubernetes-unions, as published. */
  readonly unions?: readonly unknown[];

  // Custom resources only.
  readonly preserveUnknownFields?: boolean;
  /** Unknown fields are preserved here or around it: apply takes any fields, though reading drops those that are not preserved here. */
  readonly isOpen?: boolean;
  readonly embeddedResource?: boolean;
  /** The OpenAPI v3 schema that this was compiled from: value validations (patterns, bounds, CEL) live there. */
  readonly source?: unknown;
}

/** A field of an object schema. */
export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /** Applied when the field is absent (OpenAPI `default`; the zero value of required Go strings is '' and is not a default in JSON). */
  readonly default?: unknown;
  /** The default that OpenAPI publishes, Go zero values ('' and 0 and {}) included; undefined when none is. */
  readonly publishedDefault?: unknown;
  /** The values that OpenAPI lists for the field, or for its elements; published, never checked. */
  readonly publishedEnum?: readonly string[] | undefined;
  /** OpenAPI's `required`. */
  readonly required: boolean;
  /**
   * Go's JSON encoder leaves the field out when it is empty (omitempty, omitzero). False: the zero value is written, e.g.
   * `"name": ""`, `"status": {}`, and null for lists, maps, pointers and unset times.
   */
  readonly omitEmpty: boolean;
  /** The Go field is a pointer: absent and zero differ (`replicas: 0` is kept), and protobuf writes a present zero. */
  readonly pointer: boolean;
  /** Protobuf field number; 0 when the kind has no protobuf form. */
  readonly number: number;
  /**
   * Protobuf nests the field in messages that JSON does not show: their field numbers, outermost first (`[2]`: the field is inside
   * message 2 of this one, where it has its own `number`). Fields that share a prefix share the message; they are neighbours in `fields`.
   * A wrapper of a non-pointer Go struct, which all are, is written even when nothing in it is set.
   */
  readonly inlined?: readonly number[] | undefined;
  /** The Go structs that these messages are, embedded one in the other; JSON does not show them either, errors do. */
  readonly embeddedIn?: readonly string[] | undefined;
  /** OpenAPI v3 refers to the definition without allOf, as it does for fields that have neither a description nor a default. */
  readonly bareReference?: boolean | undefined;
  /** An empty list or map is none to leave out: validation refuses it. */
  readonly keepsEmpty?: boolean | undefined;
}

/** Definitions by OpenAPI name. */
export interface SchemaSet {
  /** The definition, compiled on first use; undefined when there is none of that name. */
  definition(name: string): Schema | undefined;
  /** The definition that carries this group, version and kind. */
  forKind(gvk: { group: string; version: string; kind: string }): Schema | undefined;
  /** The descriptions of the definition of this name and of its fields. */
  describe(name: string): Description | undefined;
  /** Names of all definitions, sorted. */
  names(): readonly string[];
}
