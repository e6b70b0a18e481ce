// Distinguishes a disk without room from a disk that fails. After the first nothing was written, and writes can be tried again. After the
// second the content of the disk is unknown, and the same bytes are never flushed a second time as if they were sound.

/** Node's names for: no space, no quota, a limit on the size of files. */
const refusalCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27]);
/** LMDB's text for the same errors of the system, where it gives no number. */
const refusalTexts = ['no space left on device', 'disk quota exceeded', 'file too large'];
/** Errors that hide the first cause are at most this deep. */
const CAUSES_LIMIT = 5;

/** True when the error, or one that caused it, is a disk without room. */
export function isDiskFull(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < CAUSES_LIMIT; depth += 1, cause = cause.cause) {
    const text = cause.message.toLowerCase();
    if (refusalCodes.has((cause as { code?: unknown }).code) || refusalTexts.some((known) => text.includes(known))) return true;
  }
  return false;
}
