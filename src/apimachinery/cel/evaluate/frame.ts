// The state of one evaluation: the variables it reads, the slots of its local names, and what it has cost so far. Every step charges the
// frame, and a step that is about to do long work or to build something large asks first: the evaluation ends where its limit is reached.
import { CostLimitExceeded, type Meter } from '../values/meter.ts';
import type { Value } from '../values/values.ts';

/** Values of variables by name; undefined when there is none. */
export type Bindings = (name: string) => Value | undefined;

/** The state of one evaluation. */
export class Frame implements Meter {
  readonly bindings: Bindings;
  readonly slots: Value[];
  readonly limit: number;
  cost = 0;
  /** What the costs of the reference do not show: it has the same limit, but is counted apart. */
  worked = 0;
  #paid: Set<string> | undefined;

  constructor(bindings: Bindings, slots: number, limit: number) {
    this.bindings = bindings;
    this.slots = new Array<Value>(slots).fill(null);
    this.limit = limit;
  }

  charge(cost: number): void {
    if ((this.cost += cost) > this.limit) throw new CostLimitExceeded();
  }

  work(units: number): void {
    if ((this.worked += units) > this.limit) throw new CostLimitExceeded();
  }

  workOnce(key: string, units: number): void {
    this.#paid ??= new Set();
    if (this.#paid.has(key)) return;
    this.#paid.add(key);
    this.work(units);
  }
}

/** One compiled node. */
export type Step = (frame: Frame) => Value;
