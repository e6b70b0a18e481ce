// The schemas of definitions, compiled when a request first needs them and kept while they are used: a server may hold a thousand kinds of
// which a few are busy. The least recently used are dropped when the whole grows too large, and made again from the stored definition.
//
//   stand-in ──first look inside──▶ compiled, counted ──▶ … ──others need the room──▶ a new stand-in takes its place
//                                                               (a request that holds the old one keeps it alive until it is done)
import { type Steps, remember, resumableSteps } from '../base/index.ts';
import { type Field, type KubeObject, type OpenAPIV3Schema, type Schema, compileStructuralSchema, statesRules } from '../apimachinery/index.ts';
import type { DefinitionVersion } from './types.ts';

/** The weight of walks over a whole definition: each is a step. */
const HEAVY = 1000;

/** What compiled schemas may take together, as they are estimated. */
const DEFAULT_LIMIT_BYTES = 64 * 2 ** 20;
/** A node of a schema with everything that is worked out for it, and a character of text. */
const BYTES_PER_NODE = 700;
const BYTES_PER_CHARACTER = 1;

/** The schemas of the versions of one definition. */
export interface VersionSchemas extends Pick<ReadonlyMap<string, Schema>, 'get' | 'has' | 'size'> {
  /** Compiles the schema of a version in steps, before it is looked into; undefined where there is nothing to do. */
  prepare(version: string): Steps<void> | undefined;
}

const anything: OpenAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The schema of a version as the definition states it. */
export function sourceOf(definition: KubeObject, version: string): OpenAPIV3Schema {
  const { versions, preserveUnknownFields } = definition['spec'] as { readonly versions: readonly DefinitionVersion[]; preserveUnknownFields?: boolean };
  const source = versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
  // Only definitions that v1beta1 has stored say so.
  return source !== undefined && preserveUnknownFields === true ? { ...source, ...anything } : source ?? anything;
}

/** Roughly what a value of JSON takes as a compiled schema. */
function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return value.length * BYTES_PER_CHARACTER;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = Array.isArray(value) ? 0 : BYTES_PER_NODE;
  for (const each of Array.isArray(value) ? value : Object.values(value)) bytes += estimateBytes(each);
  return bytes;
}

/** One version of one definition: `current` changes when the cache lets go of it. */
interface Slot {
  current: StandIn;
  renew(): void;
}

/** The compiled schemas of a server. */
export class SchemaCache {
  readonly #limitBytes: number;
  /** With their sizes, the most recently used last. */
  readonly #kept = new Map<Slot, number>();
  #bytes = 0;

  constructor(limitBytes: number = DEFAULT_LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** The schemas that are compiled and counted. */
  get size(): { readonly schemas: number; readonly bytes: number } {
    return { schemas: this.#kept.size, bytes: this.#bytes };
  }

  /** A slot was compiled; others make room, it stays even if it is larger than all the room there is. */
  keep(slot: Slot, bytes: number): void {
    this.drop(slot);
    this.#kept.set(slot, bytes);
    this.#bytes += bytes;
    for (const [oldest] of this.#kept) {
      if (this.#bytes <= this.#limitBytes || oldest === slot) return;
      this.drop(oldest);
      oldest.renew();
    }
  }

  /** A slot is used. */
  touch(slot: Slot): void {
    const bytes = this.#kept.get(slot);
    if (bytes === undefined) return;
    this.#kept.delete(slot);
    this.#kept.set(slot, bytes);
  }

  drop(slot: Slot): void {
    this.#bytes -= this.#kept.get(slot) ?? 0;
    this.#kept.delete(slot);
  }
}

/** What the rows of a definition use of the cache. */
type SchemaStore = Pick<SchemaCache, 'keep' | 'touch'>;

/** The part of one row in the cache: when the row is no longer served, its schemas leave, and those that requests still compile do not come in. */
export class SchemaShare implements SchemaStore {
  readonly #cache: SchemaCache;
  readonly #slots = new Set<Slot>();
  #hasEnded = false;

  constructor(cache: SchemaCache) {
    this.#cache = cache;
  }

  keep(slot: Slot, bytes: number): void {
    if (this.#hasEnded) return;
    this.#slots.add(slot);
    this.#cache.keep(slot, bytes);
  }

  touch(slot: Slot): void {
    this.#cache.touch(slot);
  }

  end(): void {
    this.#hasEnded = true;
    for (const slot of this.#slots) this.#cache.drop(slot);
    this.#slots.clear();
  }
}

/** A schema that is compiled by the first look inside. */
class StandIn implements Schema {
  readonly type = 'object';
  readonly #compile: () => Schema;
  #compiled: Schema | undefined;
  #steps: Steps<Schema> | undefined;

  constructor(compile: () => Schema) {
    this.#compile = compile;
  }

  /** Compiles in steps; those that ask meanwhile continue the same work. */
  prepare(): Steps<void> | undefined {
    return this.#compiled === undefined ? this.#prepare() : undefined;
  }

  *#prepare(): Steps<void> {
    while (this.#compiled === undefined) {
      const steps = this.#steps ??= resumableSteps(this.#compile);
      const step = this.#guard(() => steps.next());
      if (step.done === true) this.#compiled = step.value;
      else yield;
    }
    this.#steps = undefined;
  }

  /** Steps that have failed are begun again by the next that asks. */
  #guard<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      this.#steps = undefined;
      throw error;
    }
  }

  get #schema(): Schema {
    return (this.#compiled ??= this.#compile());
  }
  get fields(): ReadonlyMap<string, Field> {
    return this.#schema.fields as ReadonlyMap<string, Field>;
  }
  get source(): unknown {
    return this.#schema.source;
  }
  get preserveUnknownFields(): boolean {
    return this.#schema.preserveUnknownFields === true;
  }
  get isOpen(): boolean {
    return this.#schema.isOpen === true;
  }
  /** Undefined where the schema has none, which the type of an optional member cannot say. */
  get items(): Schema {
    return this.#schema.items as Schema;
  }
  get default(): unknown {
    return this.#schema.default;
  }
  get mapType(): 'atomic' | 'granular' {
    return this.#schema.mapType ?? 'granular';
  }
}

/** What schemas are made with. */
interface SchemaDependencies {
  /** Returns the definition, parsed again. */
  readonly reload: () => KubeObject;
  /** Schema of metav1.ObjectMeta. */
  readonly objectMeta: Schema;
  readonly cache: SchemaStore;
}

function createSlot(version: string, { reload, objectMeta, cache }: SchemaDependencies): Slot {
  const compile = (): Schema => {
    const source = remember(() => sourceOf(reload(), version), HEAVY);
    const compiled = compileStructuralSchema(source, { objectMeta });
    const bytes = remember(() => estimateBytes(compiled.source), HEAVY);
    // The first object would ask in one turn what is known from here on.
    remember(() => statesRules(compiled.source as OpenAPIV3Schema), HEAVY);
    cache.keep(slot, bytes);
    return compiled;
  };
  const slot: Slot = { current: new StandIn(compile), renew: () => void (slot.current = new StandIn(compile)) };
  return slot;
}

/** The schemas of these versions of a definition; `get` counts as use. */
export function createSchemas(versions: readonly string[], dependencies: SchemaDependencies): VersionSchemas {
  const slots = new Map(versions.map((version) => [version, createSlot(version, dependencies)]));
  return {
    size: slots.size,
    has: (version) => slots.has(version),
    get(version) {
      const slot = slots.get(version);
      if (slot !== undefined) dependencies.cache.touch(slot);
      return slot?.current;
    },
    prepare: (version) => slots.get(version)?.current.prepare(),
  };
}
