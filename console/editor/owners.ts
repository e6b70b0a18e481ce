// Which manager owns which line of an object's text: the field sets of its managedFields, followed along the nodes of the YAML document.
import { type Document, type Node, type Pair, type YAMLMap, LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** A manager with the fields that it owns. */
export interface FieldOwner {
  readonly fieldsV1?: object | undefined;
}

interface Marking {
  readonly lines: LineCounter;
  readonly text: string;
  /** By line, from 1: indexes of the owners. */
  readonly owners: Map<number, Set<number>>;
}

type FieldSet = Readonly<Record<string, object>>;

/** By line of `text`, from 1, the indexes of its owners. */
export function findLineOwners(text: string, owners: readonly FieldOwner[]): ReadonlyMap<number, ReadonlySet<number>> {
  const lines = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: lines });
  const marking: Marking = { lines, text, owners: new Map() };
  for (const [index, { fieldsV1 = {} }] of owners.entries()) follow(document.contents, fieldsV1 as FieldSet, { marking, owner: index });
  return marking.owners;
}

interface Step {
  readonly marking: Marking;
  readonly owner: number;
}

/** Marks what a set of fields names below a node. */
function follow(node: unknown, fields: FieldSet, step: Step): void {
  for (const [name, below] of Object.entries(fields)) {
    const found = name === '.' ? undefined : findChild(node, name);
    if (found === undefined) continue;
    const [start, end] = found.range;
    const inner = below as FieldSet;
    const names = Object.keys(inner);
    if (names.length === 0) mark(start, end, step);
    else if ('.' in inner || !(isMap(found.node) || isSeq(found.node))) mark(start, start, step);
    if (names.length > 0) follow(found.node, inner, step);
  }
}

interface Found {
  readonly node: unknown;
  readonly range: readonly [start: number, end: number];
}

const keyOf = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);
const endOf = (node: unknown, otherwise: number): number => (node as Node | null)?.range?.[1] ?? otherwise;

/** The member that a path element of a field set names: f:field, k:{keys}, v:value or i:index. */
function findChild(node: unknown, name: string): Found | undefined {
  const rest = name.slice(2);
  if (name.startsWith('f:') && isMap(node)) {
    const pair = (node as YAMLMap).items.find((item) => keyOf(item) === rest);
    const start = (pair?.key as Node | undefined)?.range?.[0];
    return pair === undefined || start === undefined ? undefined : { node: pair.value, range: [start, endOf(pair.value, start)] };
  }
  if (!isSeq(node)) return undefined;
  const wanted = name.startsWith('i:') ? undefined : readJson(rest);
  const item = node.items.find((one, index) => {
    if (name.startsWith('i:')) return index === Number(rest);
    const value = (one as Node).toJSON() as unknown;
    if (name.startsWith('v:')) return value === wanted;
    return wanted instanceof Object && Object.entries(wanted).every(([key, expected]) => (value as Record<string, unknown> | null)?.[key] === expected);
  }) as Node | undefined;
  return item?.range == null ? undefined : { node: item, range: [item.range[0], item.range[1]] };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function mark(start: number, end: number, { marking: { lines, text, owners }, owner }: Step): void {
  let last = Math.max(start, end - 1);
  while (last > start && /\s/.test(text[last] ?? '')) last -= 1;
  for (let line = lines.linePos(start).line; line <= lines.linePos(last).line; line += 1) {
    owners.set(line, (owners.get(line) ?? new Set()).add(owner));
  }
}
