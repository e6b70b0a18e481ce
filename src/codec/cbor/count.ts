// How much there is in CBOR bytes, seen without reading it.

/** Whether bytes hold more data items than `limit`. Assumes nothing about the bytes; those that are not well formed have some number of items. */
export function hasManyItems(bytes: Uint8Array, limit: number): boolean {
  let count = 0;
  for (let at = 0; at < bytes.length; count++) {
    if (count >= limit) return true;
    const first = bytes[at++] as number;
    const info = first & 31;
    let argument = info;
    if (info >= 24 && info < 28) {
      const size = 1 << (info - 24);
      argument = 0;
      for (let i = 0; i < size; i++) argument = argument * 256 + (bytes[at + i] ?? 0);
      at += size;
    }
    const type = first >> 5;
    if ((type === 2 || type === 3) && info !== 31) at += argument;
  }
  return false;
}
