// Bytes that were made a moment ago and will be asked for again: one event goes to a thousand watchers, one hot object to many readers.
// First in, first out, bounded in bytes; losing an entry costs an encoding, nothing else.

/** Encoded forms of recent object versions. */
export interface EncodingMemo {
  /** The bytes kept for `owner` and `form`, or those that `make` makes. */
  get(owner: object, form: string, make: () => Uint8Array): Uint8Array;
}

/** Most bytes kept by one registry. */
const defaultLimitBytes = 8 * 1024 * 1024;

interface Entry {
  readonly forms: Map<string, Uint8Array>;
  bytes: number;
}

/** An empty memo of at most `limitBytes`. */
export function createEncodingMemo(limitBytes: number = defaultLimitBytes): EncodingMemo {
  const entries = new Map<object, Entry>();
  let total = 0;
  const evict = (): void => {
    for (const [owner, entry] of entries) {
      if (total <= limitBytes) return;
      entries.delete(owner);
      total -= entry.bytes;
    }
  };
  return {
    get(owner, form, make) {
      let entry = entries.get(owner);
      const kept = entry?.forms.get(form);
      if (kept !== undefined) return kept;
      const bytes = make();
      if (entry === undefined) entries.set(owner, (entry = { forms: new Map(), bytes: 0 }));
      entry.forms.set(form, bytes);
      entry.bytes += bytes.length;
      total += bytes.length;
      if (total > limitBytes) evict();
      return bytes;
    },
  };
}
