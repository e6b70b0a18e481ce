// How a parse ends that cannot go on.

/** Stops the parse; its problem is among the issues already. */
export class Stop extends Error {}

/** The result of a parse; undefined where it was stopped. */
export function untilStop<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Stop) return undefined;
    throw error;
  }
}
