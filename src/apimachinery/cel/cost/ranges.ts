// Ranges of sizes and costs, as the estimator computes with them. Numbers stop at the largest of 64 bits, which stands for "unbounded".

/** From the least to the most. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The largest estimate. */
export const UNBOUNDED = 18446744073709551615;

const cap = (value: number): number => (value >= UNBOUNDED ? UNBOUNDED : value);

/** A range of one value. */
export const exactly = (value: number): Range => ({ min: value, max: value });
/** Nothing is known of the size. */
export const unknownSize: Range = { min: 0, max: UNBOUNDED };
/** Nothing. */
export const zero: Range = exactly(0);

/** Sum, bounded as all costs are. */
export const addRanges = (a: Range, b: Range): Range => ({ min: cap(a.min + b.min), max: cap(a.max + b.max) });
/** Product, bounded as all costs are. */
export const multiplyRanges = (a: Range, b: Range): Range => ({ min: cap(a.min * b.min), max: cap(a.max * b.max) });
/** The smallest range that holds both. */
export const unionRanges = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });

/** The range scaled, and rounded up to whole units. */
export const scaleRange = (range: Range, factor: number): Range => ({ min: cap(Math.ceil(range.min * factor)), max: cap(Math.ceil(range.max * factor)) });
