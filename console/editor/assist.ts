// Help with a text by the schema of its kind: what can be typed here, what a field means, what is wrong.
import { type Completion, type CompletionContext, type CompletionResult, autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { type Diagnostic, linter } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import { type EditorView, type Tooltip, hoverTooltip, keymap } from '@codemirror/view';
import { type Document, LineCounter, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { type Schema, describeBounds, describeType, findField, findPlace, typesOf } from '../model/index.ts';
import { checkSchema } from './check-schema.ts';

/** The schema of a kind; undefined where the server has none. */
export type SchemaSource = (apiVersion: string, kind: string) => Promise<Schema | undefined>;

/** Longer texts are only read as YAML. */
const LONGEST = 400_000;
const DELAY_MS = 300;

function readDocuments(text: string): readonly Document[] {
  const documents = parseAllDocuments(text, { lineCounter: new LineCounter() });
  return Array.isArray(documents) ? documents as Document[] : [];
}

const textOf = (document: Document, name: string): string => {
  const value = isMap(document.contents) ? document.contents.get(name) : undefined;
  return typeof value === 'string' ? value : '';
};

const schemaOf = (document: Document, source: SchemaSource): Promise<Schema | undefined> => {
  const [apiVersion, kind] = [textOf(document, 'apiVersion'), textOf(document, 'kind')];
  return apiVersion === '' || kind === '' ? Promise.resolve(undefined) : source(apiVersion, kind).catch(() => undefined);
};

/** The kind of the document around an offset, by its lines: the text may be no YAML while it is typed. */
function findSchemaAt(text: string, offset: number, source: SchemaSource): Promise<Schema | undefined> {
  const marks = [...text.matchAll(/^---/gm)].map(({ index }) => index);
  const start = marks.filter((mark) => mark < offset).at(-1) ?? 0;
  const part = text.slice(start, marks.find((mark) => mark >= offset) ?? text.length);
  const read = (name: string): string => new RegExp(`^${name}: +["']?([\\w./-]+)`, 'm').exec(part)?.[1] ?? '';
  const [apiVersion, kind] = [read('apiVersion'), read('kind')];
  return apiVersion === '' || kind === '' ? Promise.resolve(undefined) : source(apiVersion, kind).catch(() => undefined);
}

/** What stands behind the name of a field when it is chosen. */
function endOf(schema: Schema, column: number): string {
  const [type] = typesOf(schema);
  if (type === 'array') return `:\n${' '.repeat(column)}- `;
  return type === 'object' || schema.properties !== undefined ? `:\n${' '.repeat(column + 2)}` : ': ';
}

function describe(schema: Schema): HTMLElement {
  const box = document.createElement('div');
  box.className = 'field-help';
  const add = (tag: string, text: string): void => void Object.assign(box.appendChild(document.createElement(tag)), { textContent: text });
  add('strong', describeType(schema));
  for (const bound of describeBounds(schema)) add('div', bound);
  if (schema.description !== undefined) add('p', schema.description);
  return box;
}

async function complete({ state, pos, explicit }: CompletionContext, source: SchemaSource): Promise<CompletionResult | null> {
  const text = state.doc.toString();
  const place = text.length > LONGEST ? undefined : findPlace(text, pos);
  if (place === undefined || (place.word === '' && !explicit && place.kind === 'key')) return null;
  const schema = findField(await findSchemaAt(text, pos, source), place.steps);
  if (schema === undefined) return null;
  if (place.kind === 'value') {
    const values = schema.enum ?? (typesOf(schema).includes('boolean') ? [true, false] : []);
    return values.length === 0 ? null : { from: place.from, options: values.map((value) => ({ label: String(value), type: 'enum' })) };
  }
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !place.siblings.has(name));
  return {
    from: place.from, validFor: /^[\w./-]*$/,
    options: fields.map(([label, below]): Completion => {
      const isRequired = schema.required?.includes(label) === true;
      return {
        label, type: 'property', detail: `${describeType(below)}${isRequired ? ', required' : ''}`, boost: isRequired ? 1 : 0,
        apply: `${label}${endOf(below, place.column)}`, info: () => describe(below),
      };
    }),
  };
}

/** The names of the fields down to an offset, and the range of the last one; undefined where no name is. */
function findName(node: unknown, offset: number, steps: readonly string[] = []): { steps: readonly string[]; from: number; to: number } | undefined {
  if (isSeq(node)) return firstOf(node.items, (item) => findName(item, offset, [...steps, '[]']));
  if (!isMap(node)) return undefined;
  return firstOf(node.items, ({ key, value }) => {
    const [from = 0, to = 0] = isScalar(key) ? key.range ?? [] : [];
    const here = [...steps, isScalar(key) ? String(key.value) : ''];
    return offset >= from && offset < to ? { steps: here, from, to } : findName(value, offset, here);
  });
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function hover(view: EditorView, offset: number, source: SchemaSource): Promise<Tooltip | null> {
  const text = view.state.doc.toString();
  if (text.length > LONGEST) return null;
  for (const document of readDocuments(text)) {
    const found = findName(document.contents, offset);
    if (found === undefined) continue;
    const schema = findField(await schemaOf(document, source), found.steps);
    return schema === undefined ? null : { pos: found.from, end: found.to, above: true, create: () => ({ dom: describe(schema) }) };
  }
  return null;
}

async function check(view: EditorView, source: SchemaSource): Promise<Diagnostic[]> {
  const text = view.state.doc.toString();
  const limit = (offset: number): number => Math.min(offset, text.length);
  const found = await Promise.all(readDocuments(text).map(async (document): Promise<Diagnostic[]> => {
    const faults = document.errors.map(({ message, pos: [from, to] }) =>
      ({ from: limit(from), to: limit(Math.max(from, to)), severity: 'error' as const, message: message.split('\n')[0] ?? message }));
    const schema = faults.length > 0 || text.length > LONGEST ? undefined : await schemaOf(document, source);
    return schema === undefined ? faults : checkSchema(document, schema).map(({ from, to, ...problem }) => ({ ...problem, from: limit(from), to: limit(to) }));
  }));
  return found.flat();
}

/** The help, by the schemas of `source`; of YAML alone without one. */
export const assist = (source: SchemaSource): Extension => [
  autocompletion({ override: [(context) => complete(context, source)], icons: false }), keymap.of(completionKeymap),
  hoverTooltip((view, offset) => hover(view, offset, source)), linter((view) => check(view, source), { delay: DELAY_MS }),
];
