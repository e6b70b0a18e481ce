// Ports of nodes. A claim is a key in the store, one per port, made only if absent: whichever replica commits it first has the port.
import { quoteGo } from '../../apimachinery/index.ts';
import { type Store, keyRange, prefixRange } from '../../storage/index.ts';
import type { Claims, Owner, Pool } from './pool.ts';

/** The ports of nodes that Services get. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const MAX_PORT = 65_535;
/** Smaller ranges have no part that is given out last. */
const SMALLEST_DIVIDED = 16;

const defaultRange: PortRange = { first: 30_000, last: 32_767 };

/** Reads `30000-32767`, `30000+2768`, `30000` (one port) and `` (the default range); the problem, in Go's words, where a text is no range. */
export function parsePortRange(text: string): PortRange | string {
  const range = text.trim();
  if (range === '') return defaultRange;
  const [isSpan, isOffset] = [range.includes('-'), range.includes('+')];
  if (isSpan && isOffset) return `unable to parse port range: ${range}`;
  const at = range.search(/[-+]/);
  const parts = at < 0 ? [range] : [range.slice(0, at), range.slice(at + 1)];
  const wrong = parts.find((part) => !/^[-+]?\d+$/.test(part));
  if (wrong !== undefined) return `strconv.Atoi: parsing ${quoteGo(wrong)}: invalid syntax`;
  const [first = 0, second = first] = parts.map(Number);
  const last = isOffset ? first + second : second;
  if (Math.max(first, last) > MAX_PORT) return `the port range cannot be greater than ${MAX_PORT}: ${range}`;
  return last < first ? `end port cannot be less than start port: ${range}` : { first, last };
}

/** The pool of a range, with the reference's part for requests by name. */
export function createPortPool({ first, last }: PortRange): Pool {
  const size = last - first + 1;
  const reserved = size < SMALLEST_DIVIDED ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  return { size, reserved, at: (index) => String(first + index) };
}

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
      const result = await store.range({ ...prefixRange(prefix), limit: MAX_PORT });
      return new Map(result.type === 'ok' ? result.kvs.map(({ key, value }) => [key.slice(prefix.length), parseOwner(value)]) : []);
    },
  };
}
