// Which label and field values occur among neighbouring objects, as sorted hashes: a read that selects by them passes over chunks that
// hold none. Hashes may collide, so a chunk that is not passed over is looked at object by object. Chunks never change: what was found
// out about one stays true for as long as it lives.
import type { LabelRequirement } from '../../apimachinery/index.ts';
import { type Steps, createStride } from '../../base/index.ts';

/** The parts of an object that are indexed, and how many bytes may have to be read for them. */
interface Valued {
  readonly size: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: readonly string[];
  /** Brings the object into the form in which it is read; undefined where it is. */
  settle?(): Steps<unknown> | undefined;
}

/** Hashes, one of which an object must have in each group to be selected. */
type WantedValues = readonly (readonly number[])[];

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a over the units of the text, going on from `hash`. */
function hashText(hash: number, text: string): number {
  let out = hash;
  for (let i = 0; i < text.length; i++) out = Math.imul(out ^ text.charCodeAt(i), PRIME);
  return out >>> 0;
}

const hashKey = (key: string): number => hashText(OFFSET, key);
const hashLabel = (key: string, value: string): number => hashText(hashText(hashKey(key), '='), value);
/** No label begins with a slash. */
const hashField = (index: number, value: string): number => hashText(OFFSET, `/${index}=${value}`);

/** What the labels of an object must hold for this requirement; undefined where nothing need be there. */
export function wantedLabel({ key, operator, values }: LabelRequirement): readonly number[] | undefined {
  if (operator === '=' || operator === '==' || operator === 'in') return values.map((value) => hashLabel(key, value));
  return operator === 'exists' || operator === 'gt' || operator === 'lt' ? [hashKey(key)] : undefined;
}

/** The same for a selectable field of the row. */
export const wantedField = (index: number, value: string): readonly number[] => [hashField(index, value)];

type Chunk<V> = readonly { readonly value: V }[];

/** Bytes of objects that are read for their labels and fields without a pause. */
export const READ_AT_ONCE = 2 ** 18;

/** Brings an object of more than READ_AT_ONCE bytes into the form in which it is read, in steps. What reads it then comes upon one that cannot be read. */
export function* settleLarge(value: Pick<Valued, 'settle'>): Steps<void> {
  try {
    yield* value.settle?.() ?? [];
  } catch {
    yield;
  }
}

function* collectValues<V extends Valued>(chunk: Chunk<V>, withFields: boolean): Steps<Uint32Array> {
  const found = new Set<number>();
  const isPauseDue = createStride(READ_AT_ONCE);
  for (const { value } of chunk) {
    if (value.size > READ_AT_ONCE) yield* settleLarge(value);
    const { labels } = value;
    for (const key in labels) {
      found.add(hashKey(key));
      found.add(hashLabel(key, labels[key] as string));
    }
    if (withFields) for (const [i, field] of value.fields.entries()) found.add(hashField(i, field));
    if (isPauseDue(value.size)) yield;
  }
  return Uint32Array.from(found).sort();
}

function includesSorted(sorted: Uint32Array, wanted: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}

const known = new WeakMap<Chunk<Valued>, Uint32Array>();

/** Whether `mayHold` answers for the chunk without looking at its objects. */
export const isIndexed = <V extends Valued>(chunk: Chunk<V>): boolean => known.has(chunk);

/** False when no object of the chunk can have what is wanted; large objects are read in a step each. `withFields`: the row has selectable fields. */
export function* mayHold<V extends Valued>(chunk: Chunk<V>, wanted: WantedValues, withFields: boolean): Steps<boolean> {
  let values = known.get(chunk);
  try {
    if (values === undefined) known.set(chunk, (values = yield* collectValues(chunk, withFields)));
  } catch {
    // Objects that cannot be read are for the reader to come upon.
    return true;
  }
  const sorted = values;
  return wanted.every((group) => group.some((hash) => includesSorted(sorted, hash)));
}
