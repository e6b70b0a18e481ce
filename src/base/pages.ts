// Memory for long-lived data. It comes from the C library's heap as any other does when it is small; there, long-lived pieces among short-lived
// buffers leave room that cannot be given back. A resizable buffer has pages of its own, which the system gets back once the buffer is collected.

/** Below this the part of a page that is left over weighs more than what the pages are taken for. */
const PAGED_BYTES = 2 ** 14;

/**
 * Memory whose content is not set yet, on pages of its own when it is large. It is for copying as a whole: V8 reads it byte by byte several
 * times slower, as it does any memory in a function that has once met such, so code that reads single bytes reads a copy.
 */
export function allocateLasting(length: number): Uint8Array<ArrayBuffer> {
  if (typeof Buffer === 'undefined') return new Uint8Array(length);
  if (length < PAGED_BYTES) return Buffer.allocUnsafeSlow(length);
  try {
    return Buffer.from(new ArrayBuffer(length, { maxByteLength: length }), 0, length);
  } catch {
    // A process may have so many mappings and no more.
    return Buffer.allocUnsafeSlow(length);
  }
}

/** `bytes` from `start` to `end`: itself where that is all of it. A view into a resizable buffer takes 0.6 µs, and a list has hundreds of chunks. */
export function partOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return start <= 0 && end >= bytes.length ? bytes : bytes.subarray(start, end);
}
