// The simple JSON paths of definitions: columns, scale, selectable fields. Fields, indices, all elements, and filters that compare one field
// with a literal; `\.` is a dot in a name. What a path does not lead to yields nothing, never an error.
type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'filter'; readonly path: readonly string[]; readonly operator: string; readonly literal: unknown };

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a path; undefined when it is none. */
export function parsePath(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  if (rest.startsWith('$')) rest = rest.slice(1);
  while (rest !== '') {
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
  if (text === '*') return { type: 'all' };
  if (/^-?\d+$/.test(text)) return { type: 'index', index: Number(text) };
  const quoted = /^'((?:[^'\\]|\\.)*)'$/.exec(text) ?? /^"((?:[^"\\]|\\.)*)"$/.exec(text);
  if (quoted !== null) return { type: 'field', name: (quoted[1] as string).replace(/\\(.)/g, '$1') };
  const filter = /^\?\(\s*@((?:\.[^.\s=!<>)]+)*)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?))?\s*\)$/.exec(text);
  if (filter === null) return undefined;
  return { type: 'filter', path: (filter[1] as string).split('.').slice(1), operator: filter[2] ?? '', literal: parseLiteral(filter[3] ?? '') };
}

function parseLiteral(text: string): unknown {
  const quoted = /^'(.*)'$|^"(.*)"$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Everything that a parsed path leads to, in order. */
export function findAll(steps: readonly Step[], root: unknown): unknown[] {
  let found: unknown[] = [root];
  for (const step of steps) found = found.flatMap((value) => follow(step, value));
  return found;
}

function follow(step: Step, value: unknown): unknown[] {
  if (step.type === 'field') return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
  if (step.type === 'index') {
    const at = step.index < 0 && Array.isArray(value) ? value.length + step.index : step.index;
    return Array.isArray(value) && at >= 0 && at < value.length ? [value[at]] : [];
  }
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return step.type === 'all' ? items : items.filter((item) => passes(step, item));
}

function passes({ path, operator, literal }: Extract<Step, { type: 'filter' }>, item: unknown): boolean {
  let value: unknown = item;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  switch (operator) {
    case '': return true;
    case '==': return value === literal;
    case '!=': return value !== literal;
    default: return compare(operator, value, literal);
  }
}

function compare(operator: string, value: unknown, literal: unknown): boolean {
  if (typeof value !== typeof literal || (typeof value !== 'number' && typeof value !== 'string')) return false;
  const [a, b] = [value as number, literal as number];
  return operator === '<' ? a < b : operator === '<=' ? a <= b : operator === '>' ? a > b : a >= b;
}

/** The value at a path of plain fields (`.spec.replicas`). */
export function readField(object: unknown, path: string): unknown {
  const steps = parsePath(path);
  return steps === undefined ? undefined : findAll(steps, object)[0];
}
