// From the path of a field, as a Status names it, to the line where the field stands: `spec.containers[0].image`, `.spec.ports[port=80].name`,
// `metadata.annotations[example.com/a]`. Of a field that is missing, the nearest one around it is found.
import { type Document, LineCounter, type Node, type Pair, type YAMLMap, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { DocumentPlace } from './documents.ts';

/** A place in a file; both count from one. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

interface ParsedText {
  readonly document: Document;
  readonly lines: LineCounter;
}

const parsed = new WeakMap<DocumentPlace, ParsedText>();
const LONGEST_PATH = 100;

/** Where a field stands; undefined where not even a part of its path is there. */
export function locateField(place: DocumentPlace, path: string): Position | undefined {
  const { document, lines } = parse(place);
  let node: unknown = document.contents;
  let offset: number | undefined;
  let rest = [...splitPath(place.inside), ...splitPath(path)].slice(0, LONGEST_PATH);
  while (rest.length > 0) {
    const step = descend(node, rest);
    if (step === undefined) break;
    ({ node, offset, rest } = step);
  }
  if (offset === undefined) return undefined;
  const { line, col } = lines.linePos(offset);
  return { line: place.startLine + line - 1, column: col };
}

function parse(place: DocumentPlace): ParsedText {
  const known = parsed.get(place);
  if (known !== undefined) return known;
  const lines = new LineCounter();
  const document = parseDocument(place.text, { lineCounter: lines, version: '1.1', schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
  const made = { document, lines };
  parsed.set(place, made);
  return made;
}

/** `a.b[0].c` as a, b, [0], c; what stands in brackets keeps them. */
function splitPath(path: string): string[] {
  const parts: string[] = [];
  let [part, isInside, isQuoted] = ['', false, false];
  const take = (): void => {
    if (part !== '') parts.push(part);
    part = '';
  };
  for (const character of path) {
    if (!isInside && (character === '.' || character === '[')) take();
    if (character === '"' && isInside) isQuoted = !isQuoted;
    if (isInside || character !== '.') part += character;
    if (character === '[') isInside = true;
    if (character === ']' && isInside && !isQuoted) {
      isInside = false;
      take();
    }
  }
  take();
  return parts;
}

interface Step {
  readonly node: unknown;
  readonly offset: number | undefined;
  readonly rest: string[];
}

function descend(node: unknown, [first = '', ...rest]: readonly string[]): Step | undefined {
  if (isSeq(node)) {
    const item = first.startsWith('[') ? findItem(node.items, first.slice(1, -1)) : undefined;
    return item === undefined ? undefined : { node: item, offset: startOf(item), rest };
  }
  if (!isMap(node)) return undefined;
  if (first.startsWith('[')) return take(node, unquote(first.slice(1, -1)), rest);
  // Keys may have dots: the longest one that is there counts.
  const dotted = [first, ...rest.slice(0, Math.max(0, rest.findIndex((part) => part.startsWith('[')) >>> 0))];
  for (let count = dotted.length; count > 0; count--) {
    const step = take(node, dotted.slice(0, count).join('.'), [first, ...rest].slice(count));
    if (step !== undefined) return step;
  }
  return undefined;
}

function take(map: YAMLMap, name: string, rest: string[]): Step | undefined {
  const pair = map.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  return pair && { node: pair.value, offset: startOf(pair.key) ?? startOf(pair.value), rest };
}

/** By its index, by its value (`=a`), or by fields of it (`name="a",port=80`). */
function findItem(items: readonly unknown[], text: string): unknown {
  if (/^\d{1,9}$/.test(text)) return items[Number(text)];
  if (text.startsWith('=')) return items.find((item) => isScalar(item) && String(item.value) === unquote(text.slice(1)));
  const wanted = text.split(',').map((part) => [part.slice(0, part.indexOf('=')), unquote(part.slice(part.indexOf('=') + 1))] as const);
  return items.find((item) => isMap(item) && wanted.every(([name, value]) => item.items.some(({ key, value: found }: Pair) =>
    isScalar(key) && isScalar(found) && String(key.value) === name && String(found.value) === value)));
}

const unquote = (text: string): string => (/^".*"$/s.test(text) ? text.slice(1, -1).replaceAll('\\"', '"') : text);

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];
