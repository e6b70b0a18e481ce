// Values that are there at once or come later. A known value is handed on in the same turn: an `await` of a known value costs a turn of
// the microtask queue and several allocations in each function that it passes through.

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** Hands the value to `next`: in this turn when it is there, else once it is. */
export function mapMaybe<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What `run` answers, or what `mend` makes of the error that it threw or rejected with. */
export function catchMaybe<T>(run: () => MaybePromise<T>, mend: (error: unknown) => MaybePromise<T>): MaybePromise<T> {
  try {
    const value = run();
    return value instanceof Promise ? value.catch(mend) : value;
  } catch (error) {
    return mend(error);
  }
}

/** Visits items one after the other: in this turn as far as each is done at once, the others once those before them are. */
export function visitInOrder<T>(items: readonly T[], visit: (item: T) => unknown, from = 0): MaybePromise<void> {
  for (let index = from; index < items.length; index++) {
    const visited = visit(items[index] as T);
    if (visited instanceof Promise) return visited.then(() => visitInOrder(items, visit, index + 1));
  }
}

/** Takes steps one after the other, as visitInOrder does. */
export function runInOrder(steps: readonly (() => unknown)[]): MaybePromise<void> {
  return visitInOrder(steps, (step) => step());
}
