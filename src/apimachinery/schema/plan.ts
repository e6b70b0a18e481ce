// What decoding needs to know of an object schema, worked out once: fields in Go's order, an index by name, which ones are written when
// absent. A plan resolves the schemas of its fields only when they are met, so that recursive definitions do no harm.
import type { Field, Schema } from './schema.ts';

/** How a value is read; see readValue of decode.ts. */
export type Operation =
  | 'string' | 'integer' | 'number' | 'boolean' | 'byte' | 'time' | 'micro-time' | 'quantity' | 'int-or-string' | 'object' | 'map' | 'array'
  | 'schema-or-array' | 'schema-or-bool' | 'schema-or-strings' | 'any';

/** One field of a plan. */
export interface PlannedField {
  readonly name: string;
  /** The name in errors, behind those of embedded structs. */
  readonly shownName: string;
  readonly schema: Schema;
  readonly operation: Operation;
  readonly pointer: boolean;
  /** Left out when empty, which a pointer never is, nor what is refused so. */
  readonly omitsEmpty: boolean;
  /** Written even when absent from the input. */
  readonly isWritten: boolean;
}

/** A decodable struct. */
export interface Plan {
  /** Name of the Go struct, as errors print it. */
  readonly structName: string;
  readonly fields: readonly PlannedField[];
  readonly index: ReadonlyMap<string, number>;
}

const plans = new WeakMap<Schema, Plan>();
const operations: Readonly<Record<string, Operation>> = {
  byte: 'byte', time: 'time', 'micro-time': 'micro-time', quantity: 'quantity', 'int-or-string': 'int-or-string',
  'schema-or-array': 'schema-or-array', 'schema-or-bool': 'schema-or-bool', 'schema-or-strings': 'schema-or-strings',
};

/** The plan of an object schema, made on first use. */
export function planOf(schema: Schema): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = createPlan(schema);
    plans.set(schema, plan);
  }
  return plan;
}

/** How values of a schema are read. */
export function operationOf(schema: Schema): Operation {
  return (schema.format !== undefined ? operations[schema.format] : undefined) ?? schema.type;
}

function createPlan(schema: Schema): Plan {
  const fields = [...(schema.fields?.values() ?? [])].map((field) => new LazyField(field));
  return {
    structName: schema.name?.slice(schema.name.lastIndexOf('.') + 1) ?? '',
    fields,
    index: new Map(fields.map((field, i) => [field.name, i])),
  };
}

class LazyField implements PlannedField {
  readonly name: string;
  readonly pointer: boolean;
  readonly omitsEmpty: boolean;
  readonly isWritten: boolean;
  readonly #field: Field;
  #operation: Operation | undefined;

  constructor(field: Field) {
    this.name = field.name;
    this.pointer = field.pointer;
    this.omitsEmpty = field.omitEmpty && !field.pointer && field.keepsEmpty !== true;
    this.isWritten = !field.omitEmpty;
    this.#field = field;
  }

  get shownName(): string {
    return [...this.#field.embeddedIn ?? [], this.name].join('.');
  }

  get schema(): Schema {
    return this.#field.schema;
  }

  get operation(): Operation {
    return (this.#operation ??= operationOf(this.#field.schema));
  }
}
