// The place of the cursor in YAML that is being typed: found by lines and their indentation, since the text may not be YAML yet.

/** Where something is typed. */
export interface Place {
  /** Names of fields, and [] for a member of a list, down to the object around the cursor; with the name of the field where a value is typed. */
  readonly steps: readonly string[];
  readonly kind: 'key' | 'value';
  /** The text before the cursor that a proposal replaces, and where it begins. */
  readonly word: string;
  readonly from: number;
  /** Column of the names beside the cursor. */
  readonly column: number;
  /** Names that the object around the cursor has already. */
  readonly siblings: ReadonlySet<string>;
}

interface Line {
  /** Columns of the dashes before the name. */
  readonly dashes: readonly number[];
  readonly column: number;
  /** undefined for a value without a name. */
  readonly name: string | undefined;
  readonly rest: string;
}

const LINES = 5000;

function readLine(text: string): Line | undefined {
  const dashes: number[] = [];
  let column = text.search(/[^ ]/);
  if (column === -1 || text[column] === '#') return undefined;
  while (text[column] === '-' && (text[column + 1] === ' ' || text.length === column + 1)) {
    dashes.push(column);
    column += 1;
    while (text[column] === ' ') column += 1;
  }
  const { name, rest } = readName(text.slice(column));
  return { dashes, column, name, rest };
}

/** The name before a colon, in quotes or not, and what follows it but for a comment. */
function readName(text: string): Pick<Line, 'name' | 'rest'> {
  const quote = text[0] === '"' || text[0] === "'" ? text[0] : '';
  const end = quote === '' ? text.search(/:( |$)/) : text.indexOf(`${quote}:`, 1) + 1;
  if (end <= 0 || '[{#'.includes(text[0] ?? '')) return { name: undefined, rest: '' };
  const rest = text.slice(end + 1).trim();
  return { name: quote === '' ? text.slice(0, end) : text.slice(1, end - 1), rest: rest.startsWith('#') ? '' : rest };
}

/** The place at an offset of a text; undefined where nothing can be proposed. */
export function findPlace(text: string, offset: number): Place | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const typed = text.slice(lineStart, offset);
  const indent = /^[ ]*(?:- +)*/.exec(typed)?.[0] ?? '';
  const rest = typed.slice(indent.length);
  const value = /^([\w./-]+): +([^\s[{]*)$/.exec(rest);
  if (value === null && !/^[\w./-]*$/.test(rest)) return undefined;
  const before = text.slice(0, lineStart).split('\n').slice(0, -1).slice(-LINES);
  const after = text.slice(offset).split('\n').slice(1, LINES);
  const dashes = readLine(`${indent}x`)?.dashes ?? [];
  const { steps, siblings } = climb({ dashes, column: indent.length }, before);
  for (const one of after) {
    const line = readLine(one);
    if (line === undefined) continue;
    if (line.column < indent.length || line.dashes.some((dash) => dash <= indent.length)) break;
    if (line.column === indent.length && line.name !== undefined) siblings.add(line.name);
  }
  const word = value?.[2] ?? rest;
  const [, name] = value ?? [];
  return {
    steps: name === undefined ? steps : [...steps, name], kind: name === undefined ? 'key' : 'value', word, from: offset - word.length,
    column: indent.length, siblings,
  };
}

/** Walks up from a line to the names and dashes around it. */
function climb({ dashes, column: start }: Pick<Line, 'dashes' | 'column'>, before: readonly string[]): { steps: string[]; siblings: Set<string> } {
  const steps: string[] = [];
  const siblings = new Set<string>();
  let [column, isInList] = [start, false];
  const passDashes = (columns: readonly number[]): void => {
    for (const dash of [...columns].reverse()) {
      if (dash >= column) continue;
      steps.unshift('[]');
      [column, isInList] = [dash, true];
    }
  };
  passDashes(dashes);
  for (const one of [...before].reverse()) {
    if (/^---|^\.\.\./.test(one)) break;
    const line = readLine(one);
    if (line === undefined) continue;
    if (line.name !== undefined && line.rest === '' && (isInList ? line.column <= column : line.column < column)) {
      steps.unshift(line.name);
      [column, isInList] = [line.column, false];
    } else if (line.name !== undefined && steps.length === 0 && line.column === column) {
      siblings.add(line.name);
    }
    passDashes(line.dashes);
  }
  return { steps, siblings };
}
