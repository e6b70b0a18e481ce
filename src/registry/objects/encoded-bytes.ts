// Bytes that were made a moment ago and will be asked for again: one event is sent to a thousand watchers, one hot object to many readers.
// Two generations: when the young one is full it becomes the old one, and what was not asked for since is gone. Losing an entry costs an
// encoding, nothing else.

/** Encoded forms of recent object versions. */
export interface EncodingMemo {
  /** The bytes kept for `owner` and `form`, or those that `make` makes. */
  get(owner: object, form: string, make: () => Uint8Array): Uint8Array;
}

/** Most bytes kept by one registry, in both generations. */
const DEFAULT_LIMIT_BYTES = 8 * 1024 * 1024;

type Forms = Map<string, Uint8Array>;

/** An empty memo of at most `limitBytes`. */
export function createEncodingMemo(limitBytes: number = DEFAULT_LIMIT_BYTES): EncodingMemo {
  let young = new Map<object, Forms>();
  let old = new Map<object, Forms>();
  let youngBytes = 0;
  const keep = (owner: object, form: string, bytes: Uint8Array): void => {
    if (youngBytes + bytes.length > limitBytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    const forms = young.get(owner);
    if (forms === undefined) young.set(owner, new Map([[form, bytes]]));
    else forms.set(form, bytes);
    youngBytes += bytes.length;
  };
  return {
    get(owner, form, make) {
      const recent = young.get(owner)?.get(form);
      if (recent !== undefined) return recent;
      const bytes = old.get(owner)?.get(form) ?? make();
      keep(owner, form, bytes);
      return bytes;
    },
  };
}
