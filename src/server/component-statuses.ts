// The componentstatuses: whether scheduler and controller manager of this machine and the store answer. Texts and addresses are those of the reference.
// `etcd-0` stands for the store of any kind: a caller that asks for it asks whether the store works. Parts of it in other etcds are the next ones.
import { request } from 'node:https';
import type { KubeObject } from '../apimachinery/index.ts';
import type { ComputedObjects } from '../registry/index.ts';
import { describeConnection } from './webhooks/describe-failure.ts';

const PROBE_MS = 20_000;
const MAX_BODY_BYTES = 10_240;
const FIRST_REFUSED_CODE = 400;

/** Where components serve their health, by name. */
const healthUrls: ReadonlyMap<string, string> = new Map([
  ['controller-manager', 'https://127.0.0.1:10257/healthz'], ['scheduler', 'https://127.0.0.1:10259/healthz'],
]);

interface Health {
  readonly isHealthy: boolean;
  readonly message: string;
  readonly error?: string;
}

/** Asks a component. Its certificate says nothing: it is made by itself, and the component is on this machine. */
function probe(url: string): Promise<Health> {
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve({ isHealthy: false, message: `Get "${url}": ${describeConnection(error)}` });
    const call = request(url, { rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(PROBE_MS) }, (response) => {
      const { statusCode = 0 } = response;
      if (statusCode >= FIRST_REFUSED_CODE) {
        response.destroy();
        return resolve({ isHealthy: false, message: `HTTP probe failed with statuscode: ${statusCode}` });
      }
      const parts: Buffer[] = [];
      let size = 0;
      const end = (): void => resolve({ isHealthy: true, message: Buffer.concat(parts).subarray(0, MAX_BODY_BYTES).toString() });
      response.on('data', (part: Buffer) => {
        parts.push(part);
        size += part.length;
        if (size < MAX_BODY_BYTES) return;
        end();
        response.destroy();
      }).on('end', end).on('error', fail);
    });
    call.on('error', fail).end();
  });
}

/** A component as it is now. */
const describeComponent = (name: string, { isHealthy, message, error }: Health): KubeObject => ({
  apiVersion: 'v1', kind: 'ComponentStatus', metadata: { name },
  conditions: [{ type: 'Healthy', status: isHealthy ? 'True' : 'False', ...(message !== '' && { message }), ...(error !== undefined && { error }) }],
});

/** The components; `checkStores` reject where the store, or a part of it, does not answer. */
export function createComponentStatuses(checkStores: readonly (() => Promise<unknown>)[], urls: ReadonlyMap<string, string> = healthUrls): ComputedObjects {
  const asking = new Map<string, Promise<Health>>();
  const stores = new Map(checkStores.map((check, index) => [`etcd-${index}`, check]));
  const probeStore = (name: string): Promise<Health> => stores.get(name)!().then(() => ({ isHealthy: true, message: 'ok' }),
    (error: Error) => ({ isHealthy: false, message: '', error: error.message }));
  /** Requests that come while a component is asked wait for the same answer. */
  const ask = (name: string): Promise<Health> => {
    const url = urls.get(name);
    const answer = asking.get(name) ?? (url === undefined ? probeStore(name) : probe(url)).finally(() => asking.delete(name));
    asking.set(name, answer);
    return answer;
  };
  const names = [...urls.keys(), ...stores.keys()].sort();
  return {
    list: () => Promise.all(names.map(async (name) => describeComponent(name, await ask(name)))),
    get: async (name) => (names.includes(name) ? describeComponent(name, await ask(name)) : undefined),
  };
}
