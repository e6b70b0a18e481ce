// Versions that are read in the store and served no more: their schemas, and those that differ from the storage version in their name only.
import { type Schema, loadSchemas } from '../../apimachinery/index.ts';
import { invariant, once } from '../../base/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { formerSchemas } from '../schema/former.data.ts';
import { schemaData } from '../schema/index.ts';

/** Loaded with the first object that needs them, beside those of today, which they refer to. */
const schemas = once(() => loadSchemas([formerSchemas, ...schemaData]));

/** The schema of this name below `io.k8s.api`. */
export function formerSchema(name: string): () => Schema {
  return () => {
    const schema = schemas().definition(`io.k8s.api.${name}`);
    invariant(schema !== undefined, `no schema ${name}`);
    return schema;
  };
}

/** Group versions whose objects are those of the storage version. */
export const sameAs = (...groupVersions: readonly string[]): Readonly<Record<string, FormerVersion>> =>
  Object.fromEntries(groupVersions.map((groupVersion) => [groupVersion, {}]));
