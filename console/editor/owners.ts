// Which manager owns which line of an object's text: the field sets of its managedFields, followed along the nodes of the YAML document.
import { type Document, type Node, type Pair, type YAMLMap, LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml';

/** A manager with the fields that it owns. */
export interface FieldOwner {
  readonly fieldsV1?: object | undefined;
}

/** A field that a set names, where the text has it. */
export interface OwnedField {
  /** The path of the set. */
  readonly path: string;
  readonly node: unknown;
  readonly range: readonly [start: number, end: number];
  /** Whether the whole value is owned; else only that it is there. */
  readonly isWhole: boolean;
}

type FieldSet = Readonly<Record<string, object>>;

/** By line of `text`, from 1, the indexes of its owners. */
export function findLineOwners(text: string, owners: readonly FieldOwner[]): ReadonlyMap<number, ReadonlySet<number>> {
  const lines = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: lines });
  const found = new Map<number, Set<number>>();
  for (const [index, owner] of owners.entries()) {
    visitOwned(document.contents, owner, ({ range: [start, end], isWhole }) => {
      let last = isWhole ? Math.max(start, end - 1) : start;
      while (last > start && /\s/.test(text[last] ?? '')) last -= 1;
      for (let line = lines.linePos(start).line; line <= lines.linePos(last).line; line += 1) found.set(line, (found.get(line) ?? new Set()).add(index));
    });
  }
  return found;
}

/** Calls back for each field below a node that a manager owns. */
export function visitOwned(node: unknown, { fieldsV1 = {} }: FieldOwner, visit: (field: OwnedField) => void): void {
  follow({ node, fields: fieldsV1 as FieldSet, path: '' }, visit);
}

interface Step {
  readonly node: unknown;
  readonly fields: FieldSet;
  readonly path: string;
}

function follow({ node, fields, path: above }: Step, visit: (field: OwnedField) => void): void {
  for (const [name, below] of Object.entries(fields)) {
    const found = name === '.' ? undefined : findChild(node, name);
    if (found === undefined) continue;
    const path = `${above} ${name}`;
    const inner = below as FieldSet;
    const names = Object.keys(inner);
    const isWhole = names.length === 0;
    if (isWhole || '.' in inner || !(isMap(found.node) || isSeq(found.node))) visit({ ...found, path, isWhole });
    if (!isWhole) follow({ node: found.node, fields: inner, path }, visit);
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
