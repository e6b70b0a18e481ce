// A stored value that cannot be decrypted or decoded. It stands in its place among the others, and every attempt to read it is refused with
// the cause: a GET of it is 500, GETs of others are not concerned, and lists and watches of its resource are 429, as in the reference.
import { StatusError, failure, internalError } from '../../apimachinery/index.ts';
import type { KeyValue } from '../../storage/index.ts';
import { hasBytesAt } from './json-scan.ts';
import type { StorageCodec } from './storage-codec.ts';
import { StoredRevision, type ObjectContext } from './stored-object.ts';

/** The object of a value that cannot be read. */
export class UnreadableObject extends StoredRevision {
  readonly key: string;
  readonly cause: string;
  readonly #context: ObjectContext;
  readonly #stored: Uint8Array;

  constructor(context: ObjectContext, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision'>, cause: string) {
    super(context, kv);
    this.key = kv.key;
    this.cause = cause;
    this.#context = context;
    this.#stored = kv.value;
  }

  override get labels(): never {
    return this.#refuse();
  }
  override get uid(): never {
    return this.#refuse();
  }
  override get fields(): never {
    return this.#refuse();
  }
  override get movable(): boolean {
    return false;
  }
  override object(): never {
    return this.#refuse();
  }
  override bytes(): never {
    return this.#refuse();
  }
  override contains(): never {
    return this.#refuse();
  }
  override item(): never {
    return this.#refuse();
  }
  override source(): never {
    return this.#refuse();
  }
  override lacks(): boolean {
    return false;
  }
  override at(revision: number): UnreadableObject {
    return new UnreadableObject(this.#context, { key: this.key, value: this.#stored, modRevision: revision }, this.cause);
  }

  #refuse(): never {
    throw internalError(this.cause);
  }
}

/** The end of a watch that meets an unreadable value: of a deletion the reference says so. */
export function unreadableEvent({ cause }: UnreadableObject, isDeletion: boolean): StatusError {
  if (!isDeletion) return internalError(cause);
  return failure(500, 'StorageReadError', `saw a DELETED event, but object data is corrupt - ${cause}`);
}

const OPEN_BRACE = 0x7b;

/** The object of a stored value. Values of other origin are decoded at once, so that those that cannot be are known. */
export function decodeValue(context: ObjectContext, codec: StorageCodec, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision' | 'damage'>): StoredRevision {
  if (kv.damage !== undefined) return new UnreadableObject(context, kv, kv.damage);
  try {
    const value = codec.decode(kv.value, kv.key);
    const object = new StoredRevision(context, value === kv.value ? kv : { key: kv.key, value, modRevision: kv.modRevision });
    const { head, resource } = context.layout;
    if (!hasBytesAt(value, 0, head) && (resource.readStored === undefined || value[0] !== OPEN_BRACE)) object.stored();
    return object;
  } catch (error) {
    return new UnreadableObject(context, kv, error instanceof StatusError ? error.message.replace(/^Internal error occurred: /, '') : describe(error));
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
