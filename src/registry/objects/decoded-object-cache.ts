// Objects that are updated again and again (leases, heartbeats, counters) in decoded form for their next update. They are decoded while the
// store is busy with this one: no request waits for it, and the next update, which begins with what this one wrote, finds it read.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Resource } from '../resource.ts';

/** So many objects are tracked, those updated last; of those that were updated twice in this time one decoded form is kept. */
const MOST_OBJECTS = 64;
/** Larger values take too much memory to be kept for an update that may not come. */
const MOST_BYTES = 16 * 1024;

/** What an object is decoded for: row and version as its updates name them. Another definition of a custom resource is another row. */
interface Form {
  readonly resource: Resource;
  readonly version: string;
}

interface Hot {
  readonly form: Form;
  /** undefined until it was written. */
  revision: number | undefined;
  object: KubeObject | undefined;
}

/** A value that is being written. */
interface Coming {
  readonly key: string;
  readonly form: Form;
  readonly bytes: number;
  /** Decodes what is written; its resourceVersion does not matter. */
  readonly decode: () => KubeObject;
}

/** The hot objects of one registry. */
export class DecodedObjectCache {
  /** In the order of their updates; undefined: updated once. */
  readonly #known = new Map<string, Hot | undefined>();

  /** A write is under way: decodes it once this turn is over. Returns the function to call with the revision of the write; without that call it is dropped. */
  expect({ key, form, bytes, decode }: Coming): ((revision: number) => void) | undefined {
    const known = this.#known.delete(key);
    if (bytes > MOST_BYTES) return undefined;
    const hot: Hot | undefined = known ? { form, revision: undefined, object: undefined } : undefined;
    this.#known.set(key, hot);
    if (this.#known.size > MOST_OBJECTS) this.#known.delete(this.#known.keys().next().value as string);
    if (hot === undefined) return undefined;
    setImmediate(() => {
      // Where the store was faster, the next update may have begun.
      if (hot.revision === undefined && this.#known.get(key) === hot) hot.object = decodeIfPossible(decode);
    });
    return (revision) => void (hot.revision = revision);
  }

  /** The object as it was written at a revision, which is the caller's from then on; undefined when it is not kept. */
  take(key: string, { resource, version }: Form, revision: number): KubeObject | undefined {
    const hot = this.#known.get(key);
    if (hot?.object === undefined || hot.revision !== revision) return undefined;
    if (hot.form.resource !== resource || hot.form.version !== version) return undefined;
    const { object } = hot;
    hot.object = undefined;
    object.metadata.resourceVersion = String(revision);
    return object;
  }
}

/** The update that needs what cannot be decoded says so. */
function decodeIfPossible(decode: () => KubeObject): KubeObject | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
