// The state of one evaluation: the variables it reads, the slots of its local names, and what it has cost so far. Every step charges the
// frame, and a step that is about to do long work or to build something large asks first: the evaluation ends where its limit is reached.
import type { Value } from '../values/values.ts';

/** Values of variables by name; undefined when there is none. */
export type Bindings = (name: string) => Value | undefined;

/** Thrown when an evaluation reaches its cost limit. */
export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** The state of one evaluation. */
export class Frame {
  readonly bindings: Bindings;
  readonly slots: Value[];
  readonly limit: number;
  cost = 0;
  #built = 0;

  constructor(bindings: Bindings, slots: number, limit: number) {
    this.bindings = bindings;
    this.slots = new Array<Value>(slots).fill(null);
    this.limit = limit;
  }

  charge(cost: number): void {
    if ((this.cost += cost) > this.limit) throw new CostLimitExceeded();
  }

  /** Asks to build something, before it is built. Costs of the reference do not tell of it, so it is counted apart, under the same limit. */
  build(units: number): void {
    if ((this.#built += units) > this.limit) throw new CostLimitExceeded();
  }
}

/** One compiled node. */
export type Step = (frame: Frame) => Value;

