/** V8 begins to collect when 64 MB were allocated outside of its heap, and stops for all of it when that is half of what its heap may grow to. */
const PROVOKING_BYTES = 72 * 2 ** 20;

/**
 * Lets V8 begin a full collection, which it does beside other work: by a buffer larger than what V8 lets grow beside its heap between two collections,
 * of which no page is ever touched.
 */
export function provokeCollection(): void {
  try {
    void new ArrayBuffer(PROVOKING_BYTES);
  } catch {
    // The process may not have so much address space: V8 collects then, since the buffer could not be made.
  }
}
