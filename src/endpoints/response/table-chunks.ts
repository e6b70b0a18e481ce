// Rows of tables as encoded chunks. Rows change with the clock only in the cell of the age: when an age of a chunk has another text than before,
// the bytes are copied with the new text in place. Rows with other cells that depend on the time are encoded again for every list.
//
//   ,{"cells":["a",1,    "5m"    ],"object":{…}}        head, age, tail
//   └─ offsets[i]    └─ ageOffsets[i]           └─ offsets[i + 1]
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Steps, allocateLasting, createStride, partOf } from '../../base/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import type { ListRun, StoredObject } from '../../registry/index.ts';
import { byteLength, encodeText, joinBytes } from './encoding.ts';
import { type Chunk, type EncodedChunk, type EncodedChunkCache, COPIED_AT_ONCE, findOrEncode, joinItems, mapChunk } from './encoded-chunk-cache.ts';
import { type TableContext, columnsOf, rowConditions, rowObject, tableRow } from './table.ts';

/** The rows of a chunk. Responses that are being sent share `bytes`, so it is replaced and never changed in place. */
interface EncodedRows extends EncodedChunk {
  bytes: Uint8Array;
  offsets: Uint32Array;
  /** The offset of the age in each row; the end of the row when it has none. */
  ageOffsets: Uint32Array;
  /** The distinct creation times of the chunk's objects, and the text of each age in `bytes`. */
  readonly created: readonly string[];
  ages: readonly string[];
  /** The index in `created` of each row. */
  readonly createdIndexes: Uint16Array;
  /** Whether a cell besides the age changes with time; then the bytes must not be used. */
  readonly isVolatile: boolean;
}

/** So far from any moment that a cell which shows a time has another text. */
const FAR_MS = 40 * 365 * 86_400_000;

const encodeRow = (row: unknown): Uint8Array => encodeText(`,${stringifyJson(row)}`);

interface Row {
  readonly parts: readonly Uint8Array[];
  /** The offset of the age. */
  readonly ageOffset: number;
  readonly created: string;
  readonly isVolatile: boolean;
}

function encodeRowParts(object: KubeObject, context: TableContext): Row {
  const { nowMs } = context;
  const columns = columnsOf(context);
  const ageAt = columns.findIndex(({ age }) => age === true);
  let isVolatile = false;
  const cells = columns.map((column, i) => {
    if (i === ageAt) return '';
    const cell = column.cell(object, nowMs);
    isVolatile ||= column.age !== true && column.cell(object, nowMs + FAR_MS) !== cell;
    return stringifyJson(cell ?? null);
  });
  const conditions = rowConditions(object, context);
  const rest = `]${conditions.length > 0 ? `,"conditions":${stringifyJson(conditions)}` : ''},"object":${stringifyJson(rowObject(object, context))}}`;
  const head = encodeText(`,{"cells":[${cells.slice(0, Math.max(0, ageAt)).map((cell) => `${cell},`).join('')}`);
  const after = ageAt < 0 ? cells.join(',') : cells.slice(ageAt + 1).map((cell) => `,${cell}`).join('');
  const parts = [head, encodeText(after + rest)];
  return { parts, ageOffset: ageAt < 0 ? byteLength(parts) : head.length, created: object.metadata.creationTimestamp ?? '', isVolatile };
}

function* encodeRows(chunk: Chunk, context: TableContext): Steps<EncodedRows> {
  const rows = yield* mapChunk(chunk, (value) => encodeRowParts(value.object(context.served), context));
  const encoded = yield* joinItems(rows.map(({ parts }) => parts));
  const ageOffsets = Uint32Array.from(rows, ({ ageOffset }, i) => (encoded.offsets[i] as number) + ageOffset);
  const created = [...new Set(rows.map((row) => row.created))];
  const indexes = new Map(created.map((time, i) => [time, i]));
  const createdIndexes = Uint16Array.from(rows, (row) => indexes.get(row.created) as number);
  return { ...encoded, ageOffsets, created, ages: created.map(() => ''), createdIndexes, isVolatile: rows.some((row) => row.isVolatile) };
}

/** Makes a function for the text of an age at the moment of the list; objects of a list often have the same creation time. */
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

/** Replaces ages by texts of the same lengths. */
function replaceAges(rows: EncodedRows, ages: readonly string[]): void {
  const bytes = allocateLasting(rows.bytes.length);
  bytes.set(rows.bytes);
  for (const [i, index] of rows.createdIndexes.entries()) writeAge(bytes, rows.ageOffsets[i] as number, ages[index] as string);
  rows.bytes = bytes;
  rows.ages = ages;
}

/** The rows with texts of other lengths in place of their ages, which moves all bytes after them; large rows are copied one in a step. */
function* moveAges(rows: Readonly<EncodedRows>, ages: readonly string[]): Steps<Pick<EncodedRows, 'bytes' | 'offsets' | 'ageOffsets'>> {
  const { bytes: before, ages: agesBefore, offsets: offsetsBefore, ageOffsets: ageOffsetsBefore, createdIndexes } = rows;
  const growth = ages.map((age, i) => age.length - (agesBefore[i] as string).length);
  const bytes = allocateLasting(before.length + createdIndexes.reduce((sum, index) => sum + (growth[index] as number), 0));
  const [offsets, ageOffsets] = [new Uint32Array(offsetsBefore.length), new Uint32Array(createdIndexes.length)];
  const isDue = createStride(COPIED_AT_ONCE);
  let [at, read] = [0, 0];
  for (const [i, index] of createdIndexes.entries()) {
    offsets[i] = at + (offsetsBefore[i] as number) - read;
    const ageOffset = ageOffsetsBefore[i] as number;
    bytes.set(before.subarray(read, ageOffset), at);
    if (isDue(ageOffset - read)) yield;
    at += ageOffset - read;
    ageOffsets[i] = at;
    writeAge(bytes, at, ages[index] as string);
    at += (ages[index] as string).length;
    read = ageOffset + (agesBefore[index] as string).length;
  }
  bytes.set(before.subarray(read), at);
  offsets[createdIndexes.length] = bytes.length;
  return { bytes, offsets, ageOffsets };
}

/** Brings the ages in the bytes up to date. */
function* updateAges(rows: EncodedRows, ageOf: (created: string) => string): Steps<void> {
  const ages = rows.created.map(ageOf);
  if (ages.every((age, i) => age === rows.ages[i])) return;
  const isInPlace = rows.bytes.length <= COPIED_AT_ONCE && ages.every((age, i) => age.length === (rows.ages[i] as string).length);
  if (isInPlace) replaceAges(rows, ages);
  else Object.assign(rows, yield* moveAges(rows, ages), { ages });
}

/** Makes an encoder of rows, each with a comma in front. */
export function createRowEncoder(context: TableContext, cache: EncodedChunkCache,
): { run(run: ListRun): Steps<Uint8Array>; item(item: StoredObject): Uint8Array } {
  const { resource, served, tableVersion, include } = context;
  const hasAge = columnsOf(context).some(({ age }) => age === true);
  const ageOf = createAges(context);
  const key = `table ${resource.group}/${served} ${tableVersion} ${include}`;
  const item = (stored: StoredObject): Uint8Array => encodeRow(tableRow(stored.object(served), context));
  return {
    item,
    *run(run) {
      const rows = yield* findOrEncode(run, { key, cache }, (chunk) => encodeRows(chunk, context));
      if (rows.isVolatile) return joinBytes(yield* mapChunk(run.chunk.slice(run.from, run.to), item));
      if (hasAge) yield* updateAges(rows, ageOf);
      return partOf(rows.bytes, rows.offsets[run.from] as number, rows.offsets[run.to] as number);
    },
  };
}
