// Rows of tables, as bytes that are kept by chunk. A row changes with the clock only where it tells ages: when some age of a chunk says
// something else than the last time, the bytes are made again from themselves; rows with other cells that tell time are made anew for every list.
//
//   ,{"cells":["a",1,    "5m"    ],"object":{…}}        head, age, tail
//   └─ offsets[i]    └─ holes[i]                └─ offsets[i + 1]
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Steps, allocateLasting } from '../../base/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import type { ListRun, StoredObject } from '../../registry/index.ts';
import { byteLength, encodeText, joinBytes } from './encoding.ts';
import { type EncodedChunk, type EncodedChunkCache, formOfRun, joinRun, stepsOfChunk } from './encoded-chunk-cache.ts';
import { type TableContext, columnsOf, rowConditions, rowObject, tableRow } from './table.ts';

/** Bytes are never changed in place, since they may be on their way to somebody; they are replaced. */
interface RowRun extends EncodedChunk {
  bytes: Uint8Array;
  offsets: Uint32Array;
  /** Where the age is in each row; the end of the row when it has none. */
  holes: Uint32Array;
  /** The times at which objects of the chunk were created, and what their ages say in `bytes`. */
  readonly created: readonly string[];
  ages: readonly string[];
  /** Which of them each row tells. */
  readonly tells: Uint16Array;
  /** Some cell besides the age changes with time: nothing of this may be used. */
  readonly volatile: boolean;
}

/** Far enough from any moment that a cell which tells time says something else. */
const FAR_MS = 40 * 365 * 86_400_000;

const encodeRow = (row: unknown): Uint8Array => encodeText(`,${stringifyJson(row)}`);

interface Row {
  readonly parts: readonly Uint8Array[];
  /** Offset of the hole. */
  readonly hole: number;
  readonly created: string;
  readonly volatile: boolean;
}

function makeRow(object: KubeObject, context: TableContext): Row {
  const { nowMs } = context;
  const columns = columnsOf(context);
  const ageAt = columns.findIndex(({ age }) => age === true);
  let volatile = false;
  const cells = columns.map((column, i) => {
    if (i === ageAt) return '';
    const cell = column.cell(object, nowMs);
    volatile ||= column.age !== true && column.cell(object, nowMs + FAR_MS) !== cell;
    return stringifyJson(cell ?? null);
  });
  const conditions = rowConditions(object, context);
  const rest = `]${conditions.length > 0 ? `,"conditions":${stringifyJson(conditions)}` : ''},"object":${stringifyJson(rowObject(object, context))}}`;
  const head = encodeText(`,{"cells":[${cells.slice(0, Math.max(0, ageAt)).map((cell) => `${cell},`).join('')}`);
  const after = ageAt < 0 ? cells.join(',') : cells.slice(ageAt + 1).map((cell) => `,${cell}`).join('');
  const parts = [head, encodeText(after + rest)];
  return { parts, hole: ageAt < 0 ? byteLength(parts) : head.length, created: object.metadata.creationTimestamp ?? '', volatile };
}

function* makeRun(chunk: ListRun['chunk'], context: TableContext): Steps<RowRun> {
  const rows = yield* stepsOfChunk(chunk, (value) => makeRow(value.object(context.served), context));
  const form = joinRun(rows.map(({ parts }) => parts));
  const holes = Uint32Array.from(rows, ({ hole }, i) => (form.offsets[i] as number) + hole);
  const created = [...new Set(rows.map((row) => row.created))];
  const indexes = new Map(created.map((time, i) => [time, i]));
  const tells = Uint16Array.from(rows, (row) => indexes.get(row.created) as number);
  return { ...form, holes, created, ages: created.map(() => ''), tells, volatile: rows.some((row) => row.volatile) };
}

/** Texts of ages at one moment; neighbours are often as old as each other. */
function createAges(context: TableContext): (created: string) => string {
  const column = columnsOf(context).find(({ age }) => age === true);
  const known = new Map<string, string>();
  return (created) => {
    let text = known.get(created);
    if (text === undefined) {
      const metadata = created === '' ? {} : { creationTimestamp: created };
      text = stringifyJson(column?.cell({ metadata } as KubeObject, context.nowMs) ?? null);
      known.set(created, text);
    }
    return text;
  };
}

/** Ages are ASCII. */
function writeAge(bytes: Uint8Array, at: number, age: string): void {
  for (let i = 0; i < age.length; i++) bytes[at + i] = age.charCodeAt(i);
}

/** The same places, other texts of the same lengths. */
function replaceAges(run: RowRun, ages: readonly string[]): void {
  const bytes = allocateLasting(run.bytes.length);
  bytes.set(run.bytes);
  for (let i = 0; i < run.tells.length; i++) writeAge(bytes, run.holes[i] as number, ages[run.tells[i] as number] as string);
  run.bytes = bytes;
}

/** Texts of other lengths move everything that comes after them. */
function moveAges(run: RowRun, ages: readonly string[]): void {
  const { tells } = run;
  const growth = ages.map((age, i) => age.length - (run.ages[i] as string).length);
  const bytes = allocateLasting(run.bytes.length + tells.reduce((sum, told) => sum + (growth[told] as number), 0));
  const [offsets, holes] = [new Uint32Array(run.offsets.length), new Uint32Array(tells.length)];
  let [at, read] = [0, 0];
  for (let i = 0; i < tells.length; i++) {
    const told = tells[i] as number;
    offsets[i] = at + (run.offsets[i] as number) - read;
    const hole = run.holes[i] as number;
    bytes.set(run.bytes.subarray(read, hole), at);
    at += hole - read;
    holes[i] = at;
    writeAge(bytes, at, ages[told] as string);
    at += (ages[told] as string).length;
    read = hole + (run.ages[told] as string).length;
  }
  bytes.set(run.bytes.subarray(read), at);
  offsets[tells.length] = bytes.length;
  Object.assign(run, { bytes, offsets, holes });
}

/** Makes the bytes tell the ages of this moment. */
function showAges(run: RowRun, ageOf: (created: string) => string): void {
  const ages = run.created.map(ageOf);
  if (ages.every((age, i) => age === run.ages[i])) return;
  if (ages.every((age, i) => age.length === (run.ages[i] as string).length)) replaceAges(run, ages);
  else moveAges(run, ages);
  run.ages = ages;
}

/** Makes the rows of runs, with a comma before each. */
export function createRowEncoder(context: TableContext, forms: EncodedChunkCache,
): { run(run: ListRun): Steps<Uint8Array>; item(item: StoredObject): Uint8Array } {
  const { resource, served, tableVersion, include } = context;
  const hasAge = columnsOf(context).some(({ age }) => age === true);
  const ageOf = createAges(context);
  const key = `table ${resource.group}/${served} ${tableVersion} ${include}`;
  const item = (version: StoredObject): Uint8Array => encodeRow(tableRow(version.object(served), context));
  return {
    item,
    *run(run) {
      const rows = yield* formOfRun(run, { key, forms }, (chunk) => makeRun(chunk, context));
      if (rows.volatile) return joinBytes(yield* stepsOfChunk(run.chunk.slice(run.from, run.to), item));
      if (hasAge) showAges(rows, ageOf);
      return rows.bytes.subarray(rows.offsets[run.from] as number, rows.offsets[run.to] as number);
    },
  };
}
