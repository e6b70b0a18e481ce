// Synchronous work that can be broken off and begun again: code that calls itself, as compilers do, cannot yield from its depth. It is broken off by an
// error, called again, and meets what it has remembered on the way to the place where it was.
//
//   resumableSteps(work) ──work()──▶ remember(a) remember(b(remember(c) ─Broken─┐        step 1
//          ▲                                                                    │
//          └──────────── yield ◀────────────────────────────────────────────────┘
//          └──work()──▶ a is known, b is entered again, c is known, and so on             step 2
import type { Steps } from './steps.ts';

/** A piece of work: what its parts came to, in their order, and the part that was broken off. */
interface Piece {
  readonly done: unknown[];
  /** The part that is asked for next. */
  at: number;
  open: Piece | undefined;
}

class Broken extends Error {}

/** Whether an error says that the work is continued in another step: what catches errors of resumable work throws it on. */
export const isBrokenOff = (error: unknown): boolean => error instanceof Broken;

/** What a part threw: it throws it again. */
class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** Parts that are done in one step. */
const PARTS_IN_STEP = 1000;

/** A step of resumable work. */
interface Attempt {
  piece: Piece;
  partsLeft: number;
  hasBegun: boolean;
}

/** The step that is being done. */
let current: Attempt | undefined;

const createPiece = (): Piece => ({ done: [], at: 0, open: undefined });

/** Whether the work that calls can be broken off: where it cannot, `remember` is of no use. */
export const isResumable = (): boolean => current !== undefined;

/**
 * Does a part of resumable work, or knows what it came to. The work asks for the same parts in the same order whenever it is begun again, and what a part
 * changes besides its result outlives that: state is made in a part of its own. `weight` says how many usual parts it takes as long as. Elsewhere the part
 * is done, and nothing is remembered.
 */
export function remember<T>(part: () => T, weight: number = 1): T {
  const step = current;
  if (step === undefined) return part();
  const { piece } = step;
  const index = piece.at++;
  if (index < piece.done.length) {
    const known = piece.done[index];
    if (known instanceof Thrown) throw known.error;
    return known as T;
  }
  if (piece.open === undefined) {
    // What takes long waits for a step of its own.
    const isFull = step.partsLeft <= 0 || (weight > step.partsLeft && step.hasBegun);
    if (isFull) throw new Broken('the work is continued in another step');
    step.partsLeft -= weight;
    step.hasBegun = true;
  }
  const open = piece.open ??= createPiece();
  open.at = 0;
  step.piece = open;
  try {
    const result = part();
    finish(piece, result);
    return result;
  } catch (error) {
    if (!(error instanceof Broken)) finish(piece, new Thrown(error));
    throw error;
  } finally {
    step.piece = piece;
  }
}

/** A part that is never broken off inside: one that keeps for later what it has worked out would ask for other parts when it begins again. */
export function rememberWhole<T>(part: () => T, weight: number = 1): T {
  return remember(() => {
    const step = current;
    current = undefined;
    try {
      return part();
    } finally {
      current = step;
    }
  }, weight);
}

function finish(piece: Piece, result: unknown): void {
  piece.done.push(result);
  piece.open = undefined;
}

/** Does a step of the work; undefined where it was broken off. */
function attempt<T>(work: () => T, piece: Piece, parts: number): { readonly result: T } | undefined {
  const outer = current;
  current = { piece, partsLeft: parts, hasBegun: false };
  piece.at = 0;
  try {
    return { result: work() };
  } catch (error) {
    if (error instanceof Broken) return undefined;
    throw error;
  } finally {
    current = outer;
  }
}

/** Does synchronous work in steps of so many parts that `remember` sees. Each step begins the work again, which must not catch what it does not know. */
export function* resumableSteps<T>(work: () => T, partsInStep: number = PARTS_IN_STEP): Steps<T> {
  const piece = createPiece();
  for (;;) {
    const done = attempt(work, piece, partsInStep);
    if (done !== undefined) return done.result;
    yield;
  }
}
