// A stored value that cannot be decrypted or decoded. It stands in its place among the others, and every attempt to read it is refused with
// the cause: a GET of it is 500, GETs of others are not concerned, and lists and watches of its resource are 429, as in the reference. Where such
// values may be removed, errors name their keys, and a list is 500 with all of them.
import { StatusError, failure, internalError } from '../../apimachinery/index.ts';
import type { Resource } from '../resource.ts';
import type { KeyValue } from '../../storage/index.ts';
import type { StorageCodec } from './storage-codec.ts';
import { StoredRevision, type ObjectContext } from './stored-object.ts';

/** The object of a value that cannot be read. */
export class UnreadableObject extends StoredRevision {
  readonly key: string;
  readonly cause: string;
  /** Whether it was not even decrypted. */
  readonly isSealed: boolean;
  readonly #context: ObjectContext;
  readonly #stored: Uint8Array;

  constructor(context: ObjectContext, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision'>, why: { readonly cause: string; readonly isSealed: boolean }) {
    super(context, kv);
    this.key = kv.key;
    this.cause = why.cause;
    this.isSealed = why.isSealed;
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
  override shared(): never {
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
  override settle(): undefined {
    return undefined;
  }
  override lacks(): boolean {
    return false;
  }
  override at(revision: number): UnreadableObject {
    return new UnreadableObject(this.#context, { key: this.key, value: this.#stored, modRevision: revision }, this);
  }

  /** The cause with what the reading came to, where errors say so. */
  get detail(): string {
    if (this.#context.namedRoot === undefined) return this.cause;
    return `${this.isSealed ? 'data from the storage is not transformable revision=0' : `object not decodable revision=${this.revision}`}: ${this.cause}`;
  }

  #refuse(): never {
    const { namedRoot } = this.#context;
    if (namedRoot !== undefined) throw internalError(corruptObject(this.key.slice(namedRoot.length), this));
    throw this.isSealed ? internalError(this.cause) : failure(500, '', this.cause);
  }
}

const corruptObject = (key: string, { detail }: UnreadableObject): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;

const LISTED_KEYS = 100;

/** The refusal of a list in which these values cannot be read, with the first hundred of their keys. */
export function unreadableList({ group, plural }: Resource, objects: readonly UnreadableObject[]): StatusError {
  const causes = objects.slice(0, LISTED_KEYS).map((object) => ({
    reason: 'UnexpectedServerResponse', message: corruptObject(object.key, object), field: object.key,
  }));
  const more = objects.length > LISTED_KEYS ? [{ reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' }] : [];
  return failure(500, 'StorageReadError', `failed to read one or more ${group === '' ? plural : `${plural}.${group}`} from the storage`,
    { name: 'list', ...(group !== '' && { group }), kind: plural, causes: [...causes, ...more] });
}

/** The end of a watch that meets an unreadable value: of a deletion the reference says so. */
export function unreadableEvent({ detail }: UnreadableObject, isDeletion: boolean): StatusError {
  if (!isDeletion) return internalError(detail);
  return failure(500, 'StorageReadError', `saw a DELETED event, but object data is corrupt - ${detail}`);
}

const OPEN_BRACE = 0x7b;

/** The object of a stored value. Values of other origin are decoded at once, so that those that cannot be are known. */
export function decodeValue(context: ObjectContext, codec: StorageCodec, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision' | 'damage'>): StoredRevision {
  if (kv.damage !== undefined) return new UnreadableObject(context, kv, { cause: kv.damage, isSealed: true });
  let isSealed = true;
  try {
    const { value, isOwn } = codec.decode(kv.value, kv.key);
    isSealed = false;
    const object = new StoredRevision(context, { key: kv.key, value, modRevision: kv.modRevision }, isOwn);
    if (context.layout.resource.readStored === undefined || value[0] !== OPEN_BRACE) object.stored();
    return object;
  } catch (error) {
    const cause = error instanceof StatusError ? error.message.replace(/^Internal error occurred: /, '') : describe(error);
    return new UnreadableObject(context, kv, { cause, isSealed });
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
