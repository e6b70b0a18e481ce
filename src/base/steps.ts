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

/** Items that are sorted at once. */
const SORTED_AT_ONCE = 2000;

/** Sorts texts as `sort` does. */
export function* sortSteps(texts: readonly string[]): Steps<string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += SORTED_AT_ONCE) {
    runs.push(texts.slice(at, at + SORTED_AT_ONCE).sort());
    if (texts.length > SORTED_AT_ONCE) yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* mergeSteps(runs[i] as string[], runs[i + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeSteps(a: readonly string[], b: readonly string[]): Steps<string[]> {
  const merged: string[] = [];
  const isDue = createStride(SORTED_AT_ONCE);
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (isDue()) yield;
    merged.push((j === b.length || (i < a.length && (a[i] as string) <= (b[j] as string)) ? a[i++] : b[j++]) as string);
  }
  return merged;
}

/** Makes a function that says when to yield where pieces are small: once those since the last time come to `every`, each counted once or as its caller says. */
export function createStride(every: number): (amount?: number) => boolean {
  let sum = 0;
  return (amount = 1) => {
    sum += amount;
    if (sum < every) return false;
    sum = 0;
    return true;
  };
}
