// What plugins look up: objects by name and lists of a row, as new as the store has them.
import { type KubeObject, StatusError } from '../apimachinery/index.ts';
import { invariant } from '../base/index.ts';
import { type Catalog, type Registry, type Resource, everything } from '../registry/index.ts';

/** Reads of one row of the catalog. */
export interface RowReads {
  find(name: string, namespace?: string): Promise<KubeObject | undefined>;
  list(namespace?: string): Promise<readonly KubeObject[]>;
}

/** Reads of `plural` of `group`, in its storage version. */
export type ReadsOf = (group: string, plural: string) => RowReads;

/** Makes reads; both functions are asked when a read happens. */
export function createReads(registry: () => Registry, catalog: () => Catalog): ReadsOf {
  return (group, plural) => {
    const row = (): Resource => {
      const resource = catalog().findResource(group, plural);
      invariant(resource !== undefined, `${plural} are served`);
      return resource;
    };
    const target = (namespace: string) => ({ resource: row(), version: row().storageVersion, namespace });
    return {
      async find(name, namespace = '') {
        try {
          return (await registry().get({ ...target(namespace), name }, {})).object(row().storageVersion);
        } catch (error) {
          if (error instanceof StatusError && error.code === 404) return undefined;
          throw error;
        }
      },
      async list(namespace = '') {
        const { items } = await registry().list(target(namespace), { predicate: everything });
        return Array.from(items, (item) => item.object(row().storageVersion));
      },
    };
  };
}
