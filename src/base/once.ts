// Values of the process that are made when they are first asked for: starts do not pay for what they may not need.

/** A function that answers the value that `make` makes at its first call. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
