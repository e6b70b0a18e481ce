// How the reference shows what an update changed in a part that cannot change: the part as a Go struct, one member a line, with three
// lines around the change. All differences are shown in one piece.

/** A Go struct as it prints: the names of its members in their order, with the reader of each. */
interface StructShape {
  readonly [member: string]: string | readonly [string, StructShape];
}

const CONTEXT = 3;

/** A value in the shape of a struct: absent members are null, unless they are texts. */
export function shapeValue(value: unknown, shape: StructShape, texts: ReadonlySet<string> = new Set()): unknown {
  if (value === undefined || value === null) return null;
  return Object.fromEntries(Object.entries(shape).map(([shown, member]) => {
    const [name, inner] = typeof member === 'string' ? [member, undefined] : member;
    const own = (value as Record<string, unknown>)[name];
    return [shown, inner === undefined ? own ?? (texts.has(name) ? '' : null) : shapeValue(own, inner, texts)];
  }));
}

const toLines = (value: unknown): readonly string[] => JSON.stringify(value, null, 1).split('\n');

/** A run of lines that both texts have. */
interface Match {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

/** Longer texts are compared from both ends only: the search below takes more than linear time. */
const MAX_SEARCHED_LINES = 4000;

/** From this many lines on, frequent lines are no anchors, as in Python's difflib, which the reference follows. */
const MIN_POPULAR_LINES = 200;

const nowhere: readonly number[] = Object.freeze([]);

function findPlaces(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const found = places.get(line);
    if (found === undefined) places.set(line, [index]);
    else found.push(index);
  }
  if (lines.length < MIN_POPULAR_LINES) return places;
  const most = Math.floor(lines.length / 100) + 1;
  return new Map([...places].filter(([, found]) => found.length <= most));
}

/** The part of either text that is still to be compared: from, end, from, end. */
type Range = readonly [number, number, number, number];

/** Finds the runs that are the same: the longest first, then those before and after it. */
class LineMatcher {
  readonly matches: Match[] = [];
  readonly #old: readonly string[];
  readonly #next: readonly string[];
  /** Where each line of the older text stands in the newer one. */
  readonly #places: readonly (readonly number[])[];
  /** For each line of the newer text: the older line at which a run that ends here was seen last, and its length then. */
  readonly #seenAt: Int32Array;
  readonly #lengths: Int32Array;

  constructor(old: readonly string[], next: readonly string[]) {
    this.#old = old;
    this.#next = next;
    const places = findPlaces(next);
    this.#places = old.map((line) => places.get(line) ?? nowhere);
    this.#seenAt = new Int32Array(next.length);
    this.#lengths = new Int32Array(next.length);
    this.#match([0, old.length, 0, next.length]);
  }

  #match([oldFrom, oldEnd, nextFrom, nextEnd]: Range): void {
    const { from, to, size } = this.#findLongest([oldFrom, oldEnd, nextFrom, nextEnd]);
    if (size === 0) return;
    if (oldFrom < from && nextFrom < to) this.#match([oldFrom, from, nextFrom, to]);
    this.matches.push({ from, to, size });
    if (from + size < oldEnd && to + size < nextEnd) this.#match([from + size, oldEnd, to + size, nextEnd]);
  }

  #findLongest([oldFrom, oldEnd, nextFrom, nextEnd]: Range): Match {
    let [from, to, size] = [oldFrom, nextFrom, 0];
    const [seenAt, lengths] = [this.#seenAt.fill(-1, nextFrom, nextEnd), this.#lengths];
    for (let i = oldFrom; i < oldEnd; i++) {
      const places = this.#places[i]!;
      // From the last place on: the run before is that of the line above, not yet this line's.
      for (let at = places.length - 1; at >= 0; at--) {
        const j = places[at]!;
        if (j < nextFrom) break;
        if (j >= nextEnd) continue;
        const length = j > nextFrom && seenAt[j - 1] === i - 1 ? lengths[j - 1]! + 1 : 1;
        seenAt[j] = i;
        lengths[j] = length;
        // Of runs that end at one line the first one counts.
        if (length > size || (length === size && i - length + 1 === from && j - length + 1 < to)) {
          from = i - length + 1;
          to = j - length + 1;
          size = length;
        }
      }
    }
    while (from > oldFrom && to > nextFrom && this.#old[from - 1] === this.#next[to - 1]) [from, to, size] = [from - 1, to - 1, size + 1];
    while (from + size < oldEnd && to + size < nextEnd && this.#old[from + size] === this.#next[to + size]) size++;
    return { from, to, size };
  }
}

function matchEnds(old: readonly string[], next: readonly string[]): readonly Match[] {
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end++;
  return [{ from: 0, to: 0, size: start }, { from: old.length - end, to: next.length - end, size: end }];
}

/** A change: the lines between two common runs. */
type Change = readonly [oldFrom: number, oldEnd: number, nextFrom: number, nextEnd: number];

function listChanges(old: readonly string[], next: readonly string[]): readonly Change[] {
  const isShort = old.length <= MAX_SEARCHED_LINES && next.length <= MAX_SEARCHED_LINES;
  const matches = isShort ? new LineMatcher(old, next).matches : matchEnds(old, next);
  let [from, to] = [0, 0];
  return [...matches, { from: old.length, to: next.length, size: 0 }].flatMap((match): readonly Change[] => {
    const change: Change = [from, match.from, to, match.to];
    [from, to] = [match.from + match.size, match.to + match.size];
    return change[0] < change[1] || change[2] < change[3] ? [change] : [];
  });
}

/** Changes with less than two contexts between them are shown together. */
function groupChanges(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last === undefined || change[0] - last[1] > 2 * CONTEXT) groups.push([change]);
    else groups.at(-1)!.push(change);
  }
  return groups;
}

/** The range in a hunk header: first line, counted from 1, and length; an empty range follows the line before it. */
const formatPart = (from: number, end: number): string => (end - from === 1 ? `${from + 1}` : `${end === from ? from : from + 1},${end - from}`);

function formatGroup(group: readonly Change[], old: readonly string[], next: readonly string[]): string {
  const [first, last] = [group[0]!, group.at(-1)!];
  const before = Math.min(CONTEXT, first[0], first[2]);
  const after = Math.min(CONTEXT, old.length - last[1], next.length - last[3]);
  const lines = old.slice(first[0] - before, first[0]).map((line) => ` ${line}`);
  for (const [index, [from, end, to, nextEnd]] of group.entries()) {
    lines.push(...old.slice(from, end).map((line) => `-${line}`), ...next.slice(to, nextEnd).map((line) => `+${line}`));
    lines.push(...old.slice(end, group[index + 1]?.[0] ?? end + after).map((line) => ` ${line}`));
  }
  const where = `@@ -${formatPart(first[0] - before, last[1] + after)} +${formatPart(first[2] - before, last[3] + after)} @@`;
  return `${where}\n${lines.join('\n')}\n`;
}

/** The change from one value to another as a unified diff; '' when they print the same. */
export function diffStructs(before: unknown, after: unknown): string {
  const [old, next] = [toLines(before), toLines(after)];
  return groupChanges(listChanges(old, next)).map((group) => formatGroup(group, old, next)).join('');
}
