// Indexes of jobs in the notation of their status: `0,2-4,7`, ascending, below the number of completions.

type Interval = readonly [first: number, last: number];
const quote = (text: string): string => JSON.stringify(text);

/** The digits of a number that the reference reads, which has at most 63 bits; undefined for other texts. */
function readDigits(text: string): string | undefined {
  if (!/^\+?[0-9]+$/.test(text)) return undefined;
  const digits = text.replace(/^\+?0*(?=[0-9])/, '');
  return digits.length > 19 || BigInt(digits) >= 2n ** 63n ? undefined : digits;
}

/** Reads an index or a range of them; a returned text is the problem. */
function readInterval(text: string, completions: number): Interval | string {
  const parts = text.split('-');
  if (parts.length > 2) return `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const numbers: number[] = [];
  for (const part of parts) {
    const digits = readDigits(part);
    if (digits === undefined) return `cannot convert string to integer for index: ${quote(part)}`;
    if (Number(digits) >= completions) return `too large index: ${quote(part)}`;
    numbers.push(Number(digits));
  }
  const [first = 0, last = first] = numbers;
  return numbers.length > 1 && first >= last ? `non-increasing order, previous: ${first}, current: ${last}` : [first, last];
}

/** The number of indexes in a list; a returned text is the problem. */
export function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = readInterval(part, completions);
    if (typeof interval === 'string') return interval;
    if (previous !== undefined && previous >= interval[0]) return `non-increasing order, previous: ${previous}, current: ${interval[0]}`;
    total += interval[1] - interval[0] + 1;
    previous = interval[1];
  }
  return total;
}

/** The problem of a list of indexes; undefined when it is valid. */
export function findIndexProblem(text: string, completions: number): string | undefined {
  const total = countIndexes(text, completions);
  return typeof total === 'string' ? total : undefined;
}

/** The first index that two lists share; malformed parts are skipped. */
export function findOverlap(one: string, other: string, completions: number): number | undefined {
  if (one === '' || other === '') return undefined;
  const read = (text: string): readonly Interval[] => text.split(',').map((part) => readInterval(part, completions)).filter((part) => typeof part !== 'string');
  const [left, right] = [read(one), read(other)];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const [[a, b], [c, d]] = [left[i]!, right[j]!];
    if (a <= d && c <= b) return Math.max(a, c);
    if (a <= c) i++;
    else j++;
  }
  return undefined;
}
