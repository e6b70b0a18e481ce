// Pruning: what a custom resource's schema does not know is dropped, except below x-kubernetes-preserve-unknown-fields, where only the
// parts that are specified again are pruned. Mirrors the pruning of apiextensions-apiserver, its order of reports included.
import { compareKeys } from '../../../base/index.ts';
import { putKey } from '../../apply/value.ts';
import type { Schema } from '../schema.ts';

interface Pruned {
  /** A new object, keys in byte order as untyped objects are written; raw parts, and parts that the input shares with `before`, are those of the input. */
  readonly object: Record<string, unknown>;
  /** Paths of what was dropped (`spec.list[1].b`), sorted. */
  readonly unknownFields: readonly string[];
}

type Json = Record<string, unknown>;

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops the fields that `schema` does not declare. apiVersion, kind and metadata of the object and of embedded resources are kept as
 * they are: metadata is decoded as ObjectMeta, apart from this.
 */
export function pruneUnknown(schema: Schema, object: Record<string, unknown>, before?: Readonly<Record<string, unknown>>): Pruned {
  const pruner = new Pruner();
  const pruned = pruner.pruneObject(schema, { value: object, before }, true);
  return { object: pruned, unknownFields: pruner.unknownFields.sort() };
}

/** A value, and what is in its place in the object that the input was made from: the same value is as it should be. */
interface Part<T = unknown> {
  readonly value: T;
  readonly before: unknown;
}

class Pruner {
  readonly unknownFields: string[] = [];
  readonly #path: (string | number)[] = [];

  pruneObject(schema: Schema | undefined, { value: object, before }: Part<Json>, isRoot: boolean): Json {
    const hasMeta = isRoot || schema?.embeddedResource === true;
    const known = typeof before === 'object' ? before as Json | null : null;
    const pruned: Json = {};
    for (const key of Object.keys(object).sort(compareKeys)) {
      this.#path.push(key);
      const value = object[key];
      if (hasMeta && metaFields.has(key)) putKey(pruned, key, value);
      else this.#pruneKey(schema, { value, before: known?.[key] }, { key, pruned });
      this.#path.pop();
    }
    return pruned;
  }

  #pruneKey(schema: Schema | undefined, part: Part, { key, pruned }: { readonly key: string; readonly pruned: Json }): void {
    const known = schema?.fields?.get(key)?.schema ?? (schema?.type === 'array' ? undefined : schema?.items);
    if (known !== undefined) putKey(pruned, key, this.#prune(known, part));
    else if (schema?.preserveUnknownFields === true) putKey(pruned, key, sortDeep(part.value));
    else this.unknownFields.push(this.#formatPath());
  }

  #prune(schema: Schema | undefined, part: Part): unknown {
    const { value, before } = part;
    if (typeof value !== 'object' || value === null || value === before) return value;
    if (Array.isArray(value)) return this.#pruneArray(schema, value, Array.isArray(before) ? before : []);
    return this.pruneObject(schema, part as Part<Json>, false);
  }

  #pruneArray(schema: Schema | undefined, array: readonly unknown[], before: readonly unknown[]): unknown[] {
    if (schema?.preserveUnknownFields === true && schema.items === undefined) return array.map(sortDeep);
    return array.map((value, i) => {
      this.#path.push(i);
      const pruned = this.#prune(schema?.items, { value, before: before[i] });
      this.#path.pop();
      return pruned;
    });
  }

  #formatPath(): string {
    let path = '';
    for (const part of this.#path) path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`;
    return path;
  }
}

/**
 * pruneUnknown of an object that was another version's: nulls that the schema does not allow and has no default for are dropped as well. One with a
 * default stays, as does an item of a list.
 */
export function pruneConverted(schema: Schema, object: Record<string, unknown>): Record<string, unknown> {
  return dropNulls(schema, pruneUnknown(schema, object).object, true) as Json;
}

function dropNulls(schema: Schema | undefined, value: unknown, isRoot = false): unknown {
  if (typeof value !== 'object' || value === null || schema === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => dropNulls(schema.items, item));
  const kept: Json = {};
  for (const key of Object.keys(value)) {
    const member = (value as Json)[key];
    const field = schema.fields?.get(key);
    const known = field?.schema ?? (schema.type === 'array' ? undefined : schema.items);
    const mayBeNull = known === undefined || known.nullable === true || (field?.default ?? known.default ?? null) !== null;
    if (isRoot && metaFields.has(key)) putKey(kept, key, member);
    else if (member !== null || mayBeNull) putKey(kept, key, dropNulls(known, member));
  }
  return kept;
}

/** A copy with the keys of every object in byte order. */
export function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep);
  if (typeof value !== 'object' || value === null) return value;
  const sorted: Json = {};
  for (const key of Object.keys(value).sort(compareKeys)) putKey(sorted, key, sortDeep((value as Json)[key]));
  return sorted;
}
