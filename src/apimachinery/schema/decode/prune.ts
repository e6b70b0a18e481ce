// Pruning: what a custom resource's schema does not know is dropped, except below x-kubernetes-preserve-unknown-fields, where only the
// parts that are specified again are pruned. Mirrors the pruning of apiextensions-apiserver, its order of reports included.
import { compareKeys } from '../../../base/index.ts';
import { setOwn } from './decode.ts';
import type { Schema } from '../schema.ts';

interface Pruned {
  /** A new object, keys in byte order as untyped objects are written; raw parts are shared with the input. */
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
export function pruneUnknown(schema: Schema, object: Record<string, unknown>): Pruned {
  const pruner = new Pruner();
  const pruned = pruner.pruneObject(schema, object, true);
  return { object: pruned, unknownFields: pruner.unknownFields.sort() };
}

class Pruner {
  readonly unknownFields: string[] = [];
  readonly #path: (string | number)[] = [];

  pruneObject(schema: Schema | undefined, object: Json, isRoot: boolean): Json {
    const hasMeta = isRoot || schema?.embeddedResource === true;
    const pruned: Json = {};
    for (const key of Object.keys(object).sort(compareKeys)) {
      this.#path.push(key);
      if (hasMeta && metaFields.has(key)) setOwn(pruned, key, object[key]);
      else this.#pruneKey(schema, { object, key, pruned });
      this.#path.pop();
    }
    return pruned;
  }

  #pruneKey(schema: Schema | undefined, place: { object: Json; key: string; pruned: Json }): void {
    const value = place.object[place.key];
    const known = schema?.fields?.get(place.key)?.schema ?? (schema?.type === 'map' ? schema.items : undefined);
    if (known !== undefined) setOwn(place.pruned, place.key, this.#prune(known, value));
    else if (schema?.preserveUnknownFields === true) setOwn(place.pruned, place.key, sortDeep(value));
    else this.unknownFields.push(this.#formatPath());
  }

  #prune(schema: Schema | undefined, value: unknown): unknown {
    if (Array.isArray(value)) return this.#pruneArray(schema, value);
    if (typeof value !== 'object' || value === null) return value;
    return this.pruneObject(schema, value as Json, false);
  }

  #pruneArray(schema: Schema | undefined, array: readonly unknown[]): unknown[] {
    if (schema?.preserveUnknownFields === true && schema.items === undefined) return array.map(sortDeep);
    return array.map((item, i) => {
      this.#path.push(i);
      const pruned = this.#prune(schema?.items, item);
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

/** A copy with the keys of every object in byte order. */
export function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep);
  if (typeof value !== 'object' || value === null) return value;
  const sorted: Json = {};
  for (const key of Object.keys(value).sort(compareKeys)) setOwn(sorted, key, sortDeep((value as Json)[key]));
  return sorted;
}
