// The objects that were updated last in decoded form, for their next update: it begins with what the last one made, without reading its bytes.
// New objects are not kept: what they leave in memory would cost each create a twelfth more CPU, and many are never updated.
// A decoded object shares what did not change with the one that it replaced, and never changes: an update builds the next one beside it.
import { type KubeObject, type ObjectMeta, formatGroupVersion } from '../../apimachinery/index.ts';
import { type EncodedObject, isReadAsStored } from './layout.ts';
import type { Resource } from '../resource.ts';

/** So many bytes of JSON are kept decoded, those written last; in memory they take about four times as much. */
const MOST_BYTES = 2 * 2 ** 20;
/** Larger objects would push many others out. */
const MOST_OBJECT_BYTES = 32 * 1024;

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

/** The decoded objects of one registry. */
export class DecodedObjectCache {
  /** In the order of their writes. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  /** Keeps an object that was written, unless it is large. */
  keep(key: string, written: Kept): void {
    this.drop(key);
    if (written.bytes > MOST_OBJECT_BYTES) return;
    this.#kept.set(key, written);
    this.#bytes += written.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MOST_BYTES) return;
      this.drop(oldest);
    }
  }

  /** The object as it was written at a revision, which must not be changed; undefined when it is not kept. */
  get(key: string, { resource, version }: Form, revision: number): KubeObject | undefined {
    const kept = this.#kept.get(key);
    if (kept?.revision !== revision || kept.form.resource !== resource || kept.form.version !== version) return undefined;
    return kept.object;
  }

  /** Forgets an object that is gone. */
  drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }
}

interface Written {
  readonly key: string;
  readonly target: Form;
  readonly storage: { readonly resource: Resource };
  readonly encoded: EncodedObject;
  readonly revision: number;
}

/** Keeps what was written for the next update in the same version, where that reads what is stored. */
export function keepWritten({ hot }: { readonly hot: DecodedObjectCache }, { key, target, storage, encoded, revision }: Written): void {
  const { resource, version } = target;
  if (storage.resource !== resource || !isReadAsStored(resource, version)) return hot.drop(key);
  const form = { resource, version };
  hot.keep(key, { form, revision, bytes: encoded.json.length, object: asDecoded(encoded.document, form, revision) });
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
