// How the reference shows what an update changed in a part that cannot change: the part as a Go struct, one member a line, with three
// lines around the change. What differs is shown in one piece.

/** A Go struct as it prints: the names of its members in their order, with how each reads. */
interface StructShape {
  readonly [member: string]: string | readonly [string, StructShape];
}

const context = 3;

/** A value in the shape of a struct: members that are not there are null, unless they are texts. */
export function shapeValue(value: unknown, shape: StructShape, texts: ReadonlySet<string> = new Set()): unknown {
  if (value === undefined || value === null) return null;
  return Object.fromEntries(Object.entries(shape).map(([shown, member]) => {
    const [name, inner] = typeof member === 'string' ? [member, undefined] : member;
    const own = (value as Record<string, unknown>)[name];
    return [shown, inner === undefined ? own ?? (texts.has(name) ? '' : null) : shapeValue(own, inner, texts)];
  }));
}

const toLines = (value: unknown): readonly string[] => JSON.stringify(value, null, 1).split('\n');

/** The change from one value to another as a unified diff; '' when they print the same. */
export function diffStructs(before: unknown, after: unknown): string {
  const [old, next] = [toLines(before), toLines(after)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end++;
  if (start === old.length && start === next.length) return '';
  const from = Math.max(0, start - context);
  const kept = Math.min(end, context);
  const [oldEnd, nextEnd] = [old.length - end, next.length - end];
  const lines = [
    ...old.slice(from, start).map((line) => ` ${line}`), ...old.slice(start, oldEnd).map((line) => `-${line}`),
    ...next.slice(start, nextEnd).map((line) => `+${line}`), ...old.slice(oldEnd, oldEnd + kept).map((line) => ` ${line}`),
  ];
  const where = `@@ -${from + 1},${oldEnd + kept - from} +${from + 1},${nextEnd + kept - from} @@`;
  return `${where}\n${lines.join('\n')}\n`;
}
