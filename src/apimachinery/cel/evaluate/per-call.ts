// One call of an expression: the limit of Kubernetes, or less where the turn of the caller ends earlier.
import { announceWork, remainingMs } from '../../../base/index.ts';
import { PER_CALL_LIMIT } from '../limits.ts';
import type { Evaluation, Program } from './evaluate.ts';
import type { Bindings } from './frame.ts';

/** Measured: units of cost that an evaluation spends in a millisecond, at least. */
const COST_PER_MS = 5_000;

/** Evaluates under the limit of a call. Where time ends before that limit does, nothing is known of the result: the work is announced as too long. */
export function evaluateCall(program: Program, bindings: Bindings): Evaluation {
  const limit = Math.min(PER_CALL_LIMIT, remainingMs() * COST_PER_MS);
  const evaluation = program.evaluate(bindings, limit);
  if (evaluation.exceeded && limit < PER_CALL_LIMIT) announceWork(Infinity);
  return evaluation;
}
