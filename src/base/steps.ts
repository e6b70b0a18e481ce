// Work that can pause: a generator that yields between its steps, run at once or in several turns.

/** Work in steps that comes to a T. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all of it at once. */
export function finishSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does it with a pause between steps wherever `pause` returns one. */
export async function runStepsInSlices<T>(steps: Steps<T>, pause: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const turn = pause();
    if (turn !== undefined) await turn;
  }
}

/** The same steps, each under a guard: what it calls is one step. */
export function* guardSteps<T>(steps: Steps<T>, guard: (step: () => IteratorResult<undefined, T>) => IteratorResult<undefined, T>): Steps<T> {
  for (;;) {
    const step = guard(() => steps.next());
    if (step.done === true) return step.value;
    yield;
  }
}

/** Makes a function that says when to yield where each piece is small: once in `every` pieces. */
export function createStride(every: number): () => boolean {
  let count = 0;
  return () => ++count % every === 0;
}
