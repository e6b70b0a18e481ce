// The work of an evaluation that costs do not show. The reference charges one unit for many functions that read a whole text or walk through
// a list; functions whose time depends on their arguments report that time to a meter before they spend it, and the meter ends the evaluation.

/** Work of one character that is read. A unit of work is about 200 ns, as a unit of cost is at worst. */
export const TEXT_WORK = 0.02;
/** Work of one character that a result is built of: the bound of work bounds the memory of an evaluation too. */
export const BUILD_WORK = 0.1;
/** Work of one element that a native loop copies. */
export const COPY_WORK = 0.05;
/** Work of one element or entry that is compared, printed or counted. */
export const VISIT_WORK = 0.5;

/** Counts work; throws where the evaluation may do no more. */
export interface Meter {
  work(units: number): void;
  /** Counts work that an evaluation does once for all equal keys. */
  workOnce(key: string, units: number): void;
}

/** Thrown when an evaluation reaches its limit. */
export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** A meter of its own, for work on a result after its evaluation. */
export class WorkLimit implements Meter {
  readonly #limit: number;
  #worked = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  work(units: number): void {
    if ((this.#worked += units) > this.#limit) throw new CostLimitExceeded();
  }

  workOnce(_key: string, units: number): void {
    this.work(units);
  }
}

/** Counts nothing: for values outside evaluations. */
export const unmetered: Meter = { work: () => undefined, workOnce: () => undefined };
