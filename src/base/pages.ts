// Memory that has pages of its own. Any other comes from the C library's heap, where long-lived pieces among short-lived buffers leave room
// that nobody can give back; what may be resized is reserved page by page, and the system has it back as soon as it is collected.

/** Zeroed memory on pages of its own, as far as there are any; of use for some pages at once. It is resizable, but must not be resized. */
export function allocatePages(length: number): ArrayBuffer {
  try {
    return new ArrayBuffer(length, { maxByteLength: length });
  } catch {
    // A process may have so many mappings and no more.
    return new ArrayBuffer(length);
  }
}
