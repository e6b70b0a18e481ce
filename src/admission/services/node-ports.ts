// Ports of nodes. A claim is a key in the store, one per port, made only if absent: whichever replica commits it first has the port.
import { type Store, keyRange, prefixRange } from '../../storage/index.ts';
import type { Claims, Owner, Pool } from './pool.ts';

/** First and last port of nodes that Services get. */
export const nodePortRange = { first: 30_000, last: 32_767 } as const;

const { first, last } = nodePortRange;
const POOL_SIZE = last - first + 1;

/** The pool of all of them; the first 86 are given out last. */
export const nodePortPool: Pool = { size: POOL_SIZE, reserved: Math.min(Math.max(16, Math.floor(POOL_SIZE / 32)), 128), at: (index) => String(first + index) };

const keyOf = (root: string, port: string): string => `${root}/ranges/servicenodeports/${port}`;
function parseOwner(value: Uint8Array): Owner {
  const [namespace = '', name = ''] = new TextDecoder().decode(value).split('/');
  return { namespace, name };
}

const textOf = ({ namespace, name }: Owner): string => `${namespace}/${name}`;

/** Claims on ports, under `root` in the store. */
export function createPortClaims(store: Store, root: string): Claims {
  const read = async (port: string) => {
    const result = await store.range({ ...keyRange(keyOf(root, port)), limit: 1 });
    return result.type === 'ok' ? result.kvs[0] : undefined;
  };
  return {
    async claim(port, owner) {
      const result = await store.txn({ key: keyOf(root, port), expect: 0, value: new TextEncoder().encode(textOf(owner)) });
      return result.type === 'committed';
    },
    isTaken: async (port) => (await read(port)) !== undefined,
    async release(port, owner) {
      const found = await read(port);
      if (found === undefined || new TextDecoder().decode(found.value) !== textOf(owner)) return;
      await store.txn({ key: found.key, expect: found.modRevision });
    },
    async taken() {
      const prefix = keyOf(root, '');
      const result = await store.range({ ...prefixRange(prefix), limit: POOL_SIZE });
      return new Map(result.type === 'ok' ? result.kvs.map(({ key, value }) => [key.slice(prefix.length), parseOwner(value)]) : []);
    },
  };
}
