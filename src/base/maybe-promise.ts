// Values that are there at once or come later. A known value is handed on in the same turn: an `await` of one costs a turn of the microtask queue and
// several allocations in each function that it passes through. That pays on the way of a get (filters, credentials, authorization, router, handler,
// Registry.get, response) and where a create looks at hundreds of webhooks (admission/webhooks), and all else is `async`: with these two functions
// made async, a get without a socket takes 9.6 µs of CPU instead of 8.4, a create (56 µs) 1 % more and a replacement (75 µs) 4 %, where two runs of
// the same differ by 1 to 3 % (`npm run bench -- micro`, requests; both in one process, in turns).

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
