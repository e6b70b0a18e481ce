// Assertions about our own code. They stay on in production: a broken invariant must never turn into a wrong answer.

/** An assertion of our own that does not hold. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws when `condition` does not hold; for our own bugs only, never for bad input. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(`invariant broken: ${message}`);
}
