// Reads of resources whose objects are worked out for each request. As in the reference, lists take selectors and no other option, and have no version.
import { notFound } from '../../apimachinery/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Registry } from '../contract.ts';
import { ComputedObject } from '../objects/computed-object.ts';
import type { Resource } from '../resource.ts';

/** What works out the objects of a resource. */
export interface ComputedObjects {
  /** All objects, in the order of their names. */
  list(): Promise<readonly KubeObject[]>;
  /** One object; undefined where there is none of the name. */
  get(name: string): Promise<KubeObject | undefined>;
}

/** The registry, with resources whose objects are worked out. */
export function withComputedReads(registry: Registry, findComputed: (resource: Resource) => ComputedObjects | undefined): Registry {
  return {
    ...registry,
    get(target, options) {
      const { resource, name } = target;
      const computed = findComputed(resource);
      if (computed === undefined) return registry.get(target, options);
      return computed.get(name).then((object) => {
        if (object === undefined) throw notFound({ group: resource.group, resource: resource.singular }, name);
        return new ComputedObject(resource, object);
      });
    },
    async list(target, options) {
      const { resource } = target;
      const computed = findComputed(resource);
      if (computed === undefined) return registry.list(target, options);
      const items = (await computed.list()).map((object) => new ComputedObject(resource, object)).filter((object) => options.predicate.matches(object));
      return { revision: 0, items, count: items.length };
    },
  };
}
