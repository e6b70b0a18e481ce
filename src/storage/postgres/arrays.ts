// Arrays as PostgreSQL's binary format has them, so that a batch of values travels as it is in memory: no hexadecimal digits, no quotes.

const BYTEA = 17;
const INT8 = 20;
const FLOAT8 = 701;
const HEAD_BYTES = 20;

/** A parameter of type bytea[]. */
export function encodeBytesArray(items: readonly (Uint8Array | undefined)[]): Buffer {
  const total = items.reduce((sum, item) => sum + 4 + (item?.length ?? 0), HEAD_BYTES);
  const bytes = Buffer.allocUnsafe(total);
  let at = writeHead(bytes, BYTEA, items.length);
  for (const item of items) {
    at = bytes.writeInt32BE(item?.length ?? -1, at);
    if (item !== undefined) bytes.set(item, at);
    at += item?.length ?? 0;
  }
  return bytes;
}

/** A parameter of type bigint[]. */
export function encodeIntegerArray(items: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + 12 * items.length);
  let at = writeHead(bytes, INT8, items.length);
  for (const item of items) at = bytes.writeBigInt64BE(BigInt(item), bytes.writeInt32BE(8, at));
  return bytes;
}

/** A parameter of type double precision[]. */
export function encodeFloatArray(items: readonly (number | undefined)[]): Buffer {
  const bytes = Buffer.allocUnsafe(items.reduce<number>((sum, item) => sum + (item === undefined ? 4 : 12), HEAD_BYTES));
  let at = writeHead(bytes, FLOAT8, items.length);
  for (const item of items) at = item === undefined ? bytes.writeInt32BE(-1, at) : bytes.writeDoubleBE(item, bytes.writeInt32BE(8, at));
  return bytes;
}

/** One dimension that begins with index 1. */
function writeHead(bytes: Buffer, type: number, length: number): number {
  for (const [index, word] of [1, 1, type, length, 1].entries()) bytes.writeInt32BE(word, index * 4);
  return HEAD_BYTES;
}
