// The quotas of all namespaces, kept by a Reflector: a write in a namespace without quotas costs one look-up. Statuses are written through the
// registry's own loop, which calls a change again when another writer was faster.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Clock } from '../../base/index.ts';
import { type Catalog, type Reflector, type Registry, type StoredObject, type SystemClient, createSystemClient, startReflector } from '../../registry/index.ts';
import type { QuotaStore } from './quota.ts';

/** What the store is made of; registry and catalog are asked for when the first write needs quotas. */
interface StoreOptions {
  readonly registry: () => Registry;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** Receives failures of the watch, which begins again after them. */
  readonly onError: (error: unknown) => void;
}

/** A QuotaStore with a watch of its own. */
export interface ReflectedQuotaStore extends QuotaStore {
  /** Resolves when every quota that existed at the start is known. */
  start(): Promise<void>;
  stop(): void;
}

/** Makes a store; nothing is known before `start`. */
export function createQuotaStore({ registry, catalog, clock, onError }: StoreOptions): ReflectedQuotaStore {
  const known = new Map<string, Map<string, StoredObject>>();
  let client: SystemClient | undefined;
  let reflector: Reflector | undefined;
  const onChange = (type: 'present' | 'deleted', object: StoredObject): void => {
    const quotas = known.get(object.namespace) ?? new Map<string, StoredObject>();
    if (type === 'present') quotas.set(object.name, object);
    else quotas.delete(object.name);
    if (quotas.size === 0) known.delete(object.namespace);
    else known.set(object.namespace, quotas);
  };
  return {
    start() {
      client = createSystemClient({ registry: registry(), catalog: catalog() }, ['', 'v1', 'resourcequotas'], 'kube-apiserver');
      reflector = startReflector({
        registry: registry(), clock, target: client.target(''), delivery: 'on-demand', onReset: () => known.clear(), onChange, onError });
      return reflector.synced;
    },
    stop: () => reflector?.stop(),
    list(namespace) {
      reflector?.catchUp();
      const quotas = known.get(namespace);
      return quotas === undefined ? [] : [...quotas.values()].map((quota) => quota.object('v1')).sort((one, two) => compareNames(one, two));
    },
    updateStatus: async ({ namespace, name }, change) => (await client?.update({ namespace, name }, 'status', change)) !== undefined,
  };
}

const compareNames = (one: KubeObject, two: KubeObject): number => ((one.metadata.name ?? '') < (two.metadata.name ?? '') ? -1 : 1);
