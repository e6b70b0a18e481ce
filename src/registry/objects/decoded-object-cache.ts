// Objects in decoded form, for those that would decode them again. None of them ever changes.
//
//   updated ones   those that were updated last: the next update begins with what the last one made, and builds the next object beside it, with which
//                  it shares what does not change
//   passing ones   the last few that were created or decoded: the answer, watches in protobuf, selectable fields and look-ups ask for an object within
//                  a moment of its write. No more are kept: what new objects leave in memory would cost each create a twelfth more CPU, and many are
//                  never updated.
import { type KubeObject, type ObjectMeta, formatGroupVersion } from '../../apimachinery/index.ts';
import { PassingMap } from '../../base/index.ts';
import type { KeyValue } from '../../storage/index.ts';
import { type EncodedObject, isReadAsStored } from './layout.ts';
import type { Resource } from '../resource.ts';

/** So many bytes of JSON are kept decoded, those written last; in memory they take about four times as much. */
const MOST_BYTES = 2 * 2 ** 20;
/** Larger objects would push many others out. */
export const MOST_OBJECT_BYTES = 32 * 1024;
/** Those that outlive a collection of young objects cost CPU: a create of a Pod takes 1 % more with 8, and 3 % with 32. */
const MOST_PASSING = 8;

/** What an object is decoded for: row and version as its updates name them. Another definition of a custom resource is another row. */
interface Form {
  readonly resource: Resource;
  readonly version: string;
}

/** A written object. */
interface Kept {
  readonly form: Form;
  readonly revision: number;
  /** Length of its JSON. */
  readonly bytes: number;
  /** As it would be decoded. */
  readonly object: KubeObject;
}

/** What a value will decode to. */
interface Foreseen extends Pick<Kept, 'form' | 'bytes'> {
  readonly value: Uint8Array;
  readonly document: EncodedObject['document'];
  readonly isUpdate: boolean;
}

/** The decoded objects of one registry. */
export class DecodedObjectCache {
  /** In the order of their writes. */
  readonly #kept = new PassingMap<string, Kept>();
  readonly #passing = new PassingMap<string, Kept>();
  #bytes = 0;
  /** Values on their way to the store, by key: of two writes of one object the later one. */
  readonly #foreseen = new PassingMap<string, Foreseen>();

  /** Says what a value decodes to before it is stored: watches ask for its object before the write has its answer. */
  foresee(key: string, foreseen: Foreseen): void {
    if (foreseen.bytes <= MOST_OBJECT_BYTES) this.#foreseen.set(key, foreseen);
  }

  /** Forgets what was foreseen of a value. */
  forget(key: string, value: Uint8Array): void {
    if (this.#foreseen.get(key)?.value === value) this.#foreseen.delete(key);
  }

  /**
   * Keeps the object of a value of the store, if it was foreseen, and answers whether that of an update at this revision is kept. The cache of the row calls
   * it when the value comes there, and the write when it is done: a store elsewhere brings another copy of the bytes.
   */
  arrive({ key, value, modRevision: revision }: Pick<KeyValue, 'key' | 'value' | 'modRevision'>): boolean {
    const foreseen = this.#foreseen.get(key);
    if (foreseen?.value !== value) return this.#kept.get(key)?.revision === revision;
    this.#foreseen.delete(key);
    const { form, bytes, document, isUpdate } = foreseen;
    const decoded = { form, revision, bytes, object: asDecoded(document, form, revision) };
    if (isUpdate) this.keep(key, decoded);
    else this.pass(key, decoded);
    return isUpdate;
  }

  /** Keeps an object that was written, unless it is large. */
  keep(key: string, written: Kept): void {
    this.drop(key);
    if (written.bytes > MOST_OBJECT_BYTES) return;
    this.#kept.set(key, written);
    this.#bytes += written.bytes;
    while (this.#bytes > MOST_BYTES) this.drop(this.#kept.firstKey as string);
  }

  /** Keeps an object for a moment, unless it is large. */
  pass(key: string, decoded: Kept): void {
    if (decoded.bytes > MOST_OBJECT_BYTES) return;
    this.#passing.delete(key);
    this.#passing.set(key, decoded);
    if (this.#passing.size > MOST_PASSING) this.#passing.delete(this.#passing.firstKey as string);
  }

  /** The object as it is at a revision, which must not be changed; undefined when it is not kept. */
  get(key: string, form: Form, revision: number): KubeObject | undefined {
    const kept = this.#kept.get(key);
    if (kept !== undefined && isOf(kept, form, revision)) return kept.object;
    const passing = this.#passing.get(key);
    return passing !== undefined && isOf(passing, form, revision) ? passing.object : undefined;
  }

  /** Forgets an object that is gone. */
  drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }
}

const isOf = ({ form, revision }: Kept, { resource, version }: Form, wanted: number): boolean =>
  revision === wanted && form.resource === resource && form.version === version;

/** A write that is about to be stored. */
interface Written {
  readonly key: string;
  readonly value: Uint8Array;
  readonly target: Form;
  readonly storage: { readonly resource: Resource };
  readonly encoded: Pick<EncodedObject, 'document' | 'json'>;
  /** Whether the object was there before. */
  readonly isUpdate: boolean;
}

/** Says what a value decodes to in the version of its request, where that reads what is stored. */
export function foresee({ hot }: { readonly hot: DecodedObjectCache }, { key, value, target, storage, encoded, isUpdate }: Written): void {
  const { resource, version } = target;
  if (storage.resource !== resource || !isReadAsStored(resource, version)) return;
  hot.foresee(key, { form: { resource, version }, value, bytes: encoded.json.length, document: encoded.document, isUpdate });
}

/** A stored document as it is decoded: with its resourceVersion where the bytes have it, before the uid of custom resources and behind that of others. */
function asDecoded(document: EncodedObject['document'], { resource: { group, custom }, version }: Form, revision: number): KubeObject {
  const metadata: Record<string, unknown> = {};
  const stored = document['metadata'] as ObjectMeta;
  const resourceVersion = String(revision);
  if (stored.uid === undefined) metadata['resourceVersion'] = resourceVersion;
  for (const name in stored) {
    if (name === 'uid' && custom) metadata['resourceVersion'] = resourceVersion;
    metadata[name] = stored[name as keyof ObjectMeta];
    if (name === 'uid' && !custom) metadata['resourceVersion'] = resourceVersion;
  }
  return { ...document, apiVersion: formatGroupVersion({ group, version }), metadata } as KubeObject;
}
