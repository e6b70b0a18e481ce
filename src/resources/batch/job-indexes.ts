// Indexes of jobs in the notation of their status: `0,2-4,7`, ascending, below the number of completions.

type Interval = readonly [first: number, last: number];
const quote = (text: string): string => JSON.stringify(text);

/** Reads an index or a range of them; a returned text is the problem. */
function readInterval(text: string, completions: number): Interval | string {
  const parts = text.split('-');
  if (parts.length > 2) return `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const numbers: number[] = [];
  for (const part of parts) {
    if (!/^\+?[0-9]{1,18}$/.test(part)) return `cannot convert string to integer for index: ${quote(part)}`;
    if (Number(part) >= completions) return `too large index: ${quote(part)}`;
    numbers.push(Number(part));
  }
  const [first = 0, last = first] = numbers;
  return numbers.length > 1 && first >= last ? `non-increasing order, previous: ${first}, current: ${last}` : [first, last];
}

/** The problem of a list of indexes; undefined when it is valid. */
export function findIndexProblem(text: string, completions: number): string | undefined {
  if (text === '') return undefined;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = readInterval(part, completions);
    if (typeof interval === 'string') return interval;
    if (previous !== undefined && previous >= interval[0]) return `non-increasing order, previous: ${previous}, current: ${interval[0]}`;
    previous = interval[1];
  }
  return undefined;
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
