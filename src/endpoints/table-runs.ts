// Rows of tables, as bytes that are kept by chunk. A row changes with the clock only where it tells ages: the age of the object is filled in
// when the list is written; rows with other cells that tell time are made anew for every list.
//
//   ,{"cells":["a",1,"        5m        "],"object":{…}}        head, hole, tail
//   └─ offsets[i]    └─ holes[i]                        └─ offsets[i + 1]
import type { KubeObject } from '../apimachinery/index.ts';
import { stringifyJson } from '../codec/index.ts';
import type { Column, ListRun, ObjectVersion } from '../registry/index.ts';
import { encodeText, joinBytes } from './encoding.ts';
import { type RunForm, formOfRun, joinRun } from './run-forms.ts';
import { type TableContext, columnsOf, rowConditions, rowObject, tableRow } from './table.ts';

interface RowRun extends RunForm {
  /** Where the age goes in each row; the end of the row when it has none. */
  readonly holes: Uint32Array;
  /** creationTimestamp of each row's object. */
  readonly created: readonly string[];
  /** Some cell besides the age changes with time: nothing of this may be used. */
  readonly volatile: boolean;
}

/** Far enough from any moment that a cell which tells time says something else. */
const FAR_MS = 40 * 365 * 86_400_000;

const encodeRow = (row: unknown): Uint8Array => encodeText(`,${stringifyJson(row)}`);

interface Row {
  readonly bytes: Uint8Array;
  /** Offset of the hole. */
  readonly hole: number;
  readonly created: string;
  readonly volatile: boolean;
}

function makeRow(object: KubeObject, context: TableContext): Row {
  const { nowMs } = context;
  const columns = columnsOf(context);
  const tells = (column: Column): boolean => column.age !== true && column.cell(object, nowMs) !== column.cell(object, nowMs + FAR_MS);
  const ageAt = columns.findIndex(({ age }) => age === true);
  const cells = columns.map((column, i) => (i === ageAt ? '' : stringifyJson(column.cell(object, nowMs) ?? null)));
  const conditions = rowConditions(object, context);
  const rest = `]${conditions.length > 0 ? `,"conditions":${stringifyJson(conditions)}` : ''},"object":${stringifyJson(rowObject(object, context))}}`;
  const head = encodeText(`,{"cells":[${cells.slice(0, Math.max(0, ageAt)).map((cell) => `${cell},`).join('')}`);
  const after = ageAt < 0 ? cells.join(',') : cells.slice(ageAt + 1).map((cell) => `,${cell}`).join('');
  const bytes = joinBytes([head, encodeText(after + rest)]);
  return { bytes, hole: ageAt < 0 ? bytes.length : head.length, created: object.metadata.creationTimestamp ?? '', volatile: columns.some(tells) };
}

function makeRun(chunk: ListRun['chunk'], context: TableContext): RowRun {
  const rows = chunk.map(({ value }) => makeRow(value.object(context.served), context));
  const form = joinRun(rows.map(({ bytes }) => bytes));
  const holes = Uint32Array.from(rows, ({ hole }, i) => (form.offsets[i] as number) + hole);
  return { ...form, holes, created: rows.map(({ created }) => created), volatile: rows.some((row) => row.volatile) };
}

/** Texts of ages at one moment; neighbours are often as old as each other. */
function createAges(context: TableContext): (created: string) => Uint8Array {
  const column = columnsOf(context).find(({ age }) => age === true);
  const known = new Map<string, Uint8Array>();
  return (created) => {
    let text = known.get(created);
    if (text === undefined) {
      const metadata = created === '' ? {} : { creationTimestamp: created };
      text = encodeText(stringifyJson(column?.cell({ metadata } as KubeObject, context.nowMs) ?? null));
      known.set(created, text);
    }
    return text;
  };
}

function fillAges({ bytes, offsets, holes, created }: RowRun, { from, to }: ListRun, ageOf: (created: string) => Uint8Array): Uint8Array {
  const ages: Uint8Array[] = [];
  let size = (offsets[to] as number) - (offsets[from] as number);
  for (let i = from; i < to; i++) {
    const age = ageOf(created[i] as string);
    ages.push(age);
    size += age.length;
  }
  const out = Buffer.allocUnsafeSlow(size);
  let at = 0;
  let read = offsets[from] as number;
  for (let i = from; i < to; i++) {
    const hole = holes[i] as number;
    out.set(bytes.subarray(read, hole), at);
    at += hole - read;
    out.set(ages[i - from] as Uint8Array, at);
    at += (ages[i - from] as Uint8Array).length;
    read = hole;
  }
  out.set(bytes.subarray(read, offsets[to] as number), at);
  return out;
}

/** Makes the rows of runs, with a comma before each. */
export function createRowEncoder(context: TableContext): { run(run: ListRun): Uint8Array; item(item: ObjectVersion): Uint8Array } {
  const { resource, served, tableVersion, include } = context;
  const hasAge = columnsOf(context).some(({ age }) => age === true);
  const ageOf = createAges(context);
  const key = `table ${resource.group}/${served} ${tableVersion} ${include}`;
  const item = (version: ObjectVersion): Uint8Array => encodeRow(tableRow(version.object(served), context));
  return {
    item,
    run(run) {
      const rows = formOfRun(run, key, (chunk) => makeRun(chunk, context));
      if (rows.volatile) return joinBytes(run.chunk.slice(run.from, run.to).map(({ value }) => item(value)));
      return hasAge ? fillAges(rows, run, ageOf) : rows.bytes.subarray(rows.offsets[run.from] as number, rows.offsets[run.to] as number);
    },
  };
}
