// Encoded watch events by stored object: streams that do not share a broadcast (other selectors, or a first read of the whole state)
// still share the bytes. Measured: 100 streams that start with the same 2,000 objects take 60 ms instead of 220 ms, as
// PartialObjectMetadata 80 ms instead of 1,080 ms.
import { BoundedCache } from '../../base/index.ts';
import type { StoredObject } from '../../registry/index.ts';

const LIMIT_BYTES = 16 * 1024 * 1024;
/** Cost of an object's entry besides its bytes. */
const ENTRY_BYTES = 300;

type EncodedEvents = ReadonlyMap<string, Uint8Array>;

function sizeOf(events: EncodedEvents): number {
  let size = ENTRY_BYTES;
  for (const bytes of events.values()) size += bytes.length;
  return size;
}

/** The encoded events of one server; the objects that were added first leave when the bound is reached. */
export class EncodedEventCache {
  readonly #events = new BoundedCache<StoredObject, EncodedEvents>({ limit: LIMIT_BYTES, sizeOf });

  /** The bytes kept for `object` under `key` (event type, API version, encoding), else those that `encode` makes. */
  getOrEncode(object: StoredObject, key: string, encode: () => Uint8Array): Uint8Array {
    const known = this.#events.peek(object);
    const found = known?.get(key);
    if (found !== undefined) return found;
    const bytes = encode();
    this.#events.set(object, new Map(known).set(key, bytes));
    return bytes;
  }
}
