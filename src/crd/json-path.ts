// The simple JSON paths of definitions: columns, scale, selectable fields. Fields, indices, slices, all elements, unions of these, everything
import { isJsonObject } from '../base/index.ts';
// below (`..`), and filters that compare one field with a literal; `\.` is a dot in a name. A field that is absent yields nothing; what cannot
// be done (an index beyond the list, a comparison of a text with a number) makes the whole path yield nothing, as errors do in the reference.
type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly from: number; readonly to: number | undefined; readonly every: number }
  | { readonly type: 'union'; readonly members: readonly Step[] }
  | { readonly type: 'all' }
  | { readonly type: 'below' }
  | { readonly type: 'filter'; readonly path: readonly string[]; readonly operator: string; readonly literal: unknown };

/** Reads a path; undefined when it is none. */
export function parsePath(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  if (rest.startsWith('$')) rest = rest.slice(1);
  while (rest !== '') {
    if (rest.startsWith('..')) {
      steps.push({ type: 'below' });
      rest = rest.slice(1);
    }
    const match = /^\.?\[((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]'"])*)\]|^\.((?:\\.|[^.[\\])*)/.exec(rest);
    if (match === null || match[0] === '') return undefined;
    const step = match[1] !== undefined ? parseBracket(match[1]) : parseName(match[2] as string);
    if (step === undefined) return undefined;
    if (step !== 'self') steps.push(step);
    rest = rest.slice(match[0].length);
  }
  return steps;
}

function parseName(text: string): Step | 'self' {
  if (text === '') return 'self';
  return text === '*' ? { type: 'all' } : { type: 'field', name: text.replace(/\\(.)/g, '$1') };
}

function parseBracket(text: string): Step | undefined {
  const members = text.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"]+/g) ?? [];
  if (members.length > 1 && !text.startsWith('?')) {
    const steps = members.map((member) => parseBracket(member.trim()));
    return steps.every((step) => step !== undefined) ? { type: 'union', members: steps } : undefined;
  }
  if (text === '*') return { type: 'all' };
  if (/^-?\d+$/.test(text)) return { type: 'index', index: Number(text) };
  const slice = /^(-?\d+)?:(-?\d+)?(?::(\d+))?$/.exec(text);
  if (slice !== null) {
    return { type: 'slice', from: Number(slice[1] ?? 0), to: slice[2] === undefined ? undefined : Number(slice[2]), every: Math.max(1, Number(slice[3] ?? 1)) };
  }
  const quoted = /^'((?:[^'\\]|\\.)*)'$/.exec(text) ?? /^"((?:[^"\\]|\\.)*)"$/.exec(text);
  if (quoted !== null) return { type: 'field', name: (quoted[1] as string).replace(/\\(.)/g, '$1') };
  return text.startsWith('?(') && text.endsWith(')') ? parseFilter(text.slice(2, -1).trim()) : undefined;
}

function parseFilter(text: string): Step | undefined {
  const match = /^@((?:\.[^.\s=!<>)]+)*)\s*(==|!=|<=|>=|<|>)?/.exec(text);
  if (match === null) return undefined;
  const [whole, path = '', operator = ''] = match;
  const literal = text.slice(whole.length).trim();
  return (operator === '') === (literal === '') ? { type: 'filter', path: path.split('.').slice(1), operator, literal: parseLiteral(literal) } : undefined;
}

function parseLiteral(text: string): unknown {
  const quoted = /^'(.*)'$|^"(.*)"$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** What paths may look at in one object: paths that branch again and again (`..a..a..a`, `[0,0][0,0]`) would never end. */
export const MOST_LOOKS = 200_000;

interface Budget {
  left: number;
}

/** Everything that a parsed path leads to, in order; nothing when there is more than `looks` to look at. */
export function findAll(steps: readonly Step[], root: unknown, looks = MOST_LOOKS): unknown[] {
  const budget: Budget = { left: looks };
  let found: unknown[] = [root];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of found) {
      const reached = follow(step, value, budget);
      budget.left -= 1 + (reached?.length ?? 0);
      if (reached === undefined || budget.left < 0) return [];
      for (const each of reached) next.push(each);
    }
    found = next;
  }
  return found;
}

/** Where a step leads from a value; undefined when it cannot be taken. */
function follow(step: Step, value: unknown, budget: Budget): readonly unknown[] | undefined {
  switch (step.type) {
    case 'field': return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index': return takeSlice(value, { from: step.index, to: step.index === -1 ? undefined : step.index + 1, every: 1 });
    case 'slice': return takeSlice(value, step);
    case 'all': return listChildren(value);
    case 'below': return listBelow(value, budget);
    case 'union': {
      const parts = step.members.map((member) => follow(member, value, budget));
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
    }
    case 'filter': return takePassing(step, value);
  }
}

const listChildren = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : []);

function takeSlice(value: unknown, { from, to, every }: { from: number; to: number | undefined; every: number }): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return [];
  const place = (at: number): number => (at < 0 ? at + value.length : at);
  const [start, end] = [place(from), to === undefined ? value.length : place(to)];
  if (start < 0 || start >= value.length || end > value.length || start > end) return undefined;
  return value.slice(start, end).filter((_, i) => i % every === 0);
}

/** Every list and map from here on, outer ones first. */
function listBelow(value: unknown, budget: Budget): readonly unknown[] {
  const found: unknown[] = [];
  const rest: unknown[] = [value];
  while (rest.length > 0 && budget.left >= 0) {
    const next = rest.pop();
    const children = listChildren(next);
    budget.left -= 1 + children.length;
    if (children.length > 0) found.push(next);
    for (let i = children.length - 1; i >= 0; i--) rest.push(children[i]);
  }
  return found;
}

type Filter = Extract<Step, { type: 'filter' }>;

function takePassing(filter: Filter, value: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found: unknown[] = [];
  for (const item of value) {
    const passed = passes(filter, item);
    if (passed === undefined) return undefined;
    if (passed) found.push(item);
  }
  return found;
}

/** Whether an item passes; undefined when its field and the literal cannot be compared. */
function passes({ path, operator, literal }: Filter, item: unknown): boolean | undefined {
  let value: unknown = item;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  if (operator === '') return true;
  const kind = kindOf(value);
  if (kind === undefined || kind !== kindOf(literal)) return undefined;
  if (operator === '==') return value === literal;
  return operator === '!=' ? value !== literal : kind === 'boolean' ? undefined : isOrdered(operator, value as number, literal as number);
}

function kindOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined;
}

/** Texts compare as numbers do. */
function isOrdered(operator: string, a: number, b: number): boolean {
  return operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : a >= b;
}

/** The value at a path of plain fields (`.spec.replicas`). */
export function readField(object: unknown, path: string): unknown {
  const steps = parsePath(path);
  return steps === undefined ? undefined : findAll(steps, object)[0];
}
