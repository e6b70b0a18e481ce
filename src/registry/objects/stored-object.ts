// One revision of one stored object. Reading its JSON never parses: bytes are a constant head, the stored bytes, and resourceVersion in its
// place. Labels and selectable fields are read when they are first asked for, and kept; decoded objects are not (a parsed object takes several
// times its bytes). Where the bytes are:
//
//   foreign ──first read──▶ own ──move──▶ packed         foreign: as another server stored them, or another release: protobuf, CBOR, or JSON without our mark
//                            ▲               │           own: in the row's layout, memory of its own
//                                            │           packed: an item in a piece of memory that neighbours share (chunk.ts)
//                                        supersede       or, once it is superseded, the revisions that were superseded before and after it
//
// Where the store can be read again without waiting (Store.recall), an object that is the same there rests: own ──rest──▶ resting. It has no bytes of its
// own and reads those of the store, unless it is packed as well: lists lend such objects a piece (chunk.ts), which they leave when it is given up.
//
// A superseded revision is never packed among neighbours again. Rows with a remote converter leave bytes of other versions foreign, and keep what it makes.
import { type JsonValue, type KubeObject, type ObjectMeta, type Schema, failure, internalError, parseGroupVersion } from '../../apimachinery/index.ts';
import { encodeCbor, encodeCborItem, encodeEnvelope, encodeJson, encodeMessage, parseJson, parseJsonInParts } from '../../codec/index.ts';
import { Pieces, type Steps, allocateLasting, isBrokenOff, isResumable, remember, rememberWhole, resumableSteps } from '../../base/index.ts';
import type { Compaction } from '../../cache/index.ts';
import type { KeyValue } from '../../storage/index.ts';
import type { EncodedForm, StoredObject } from '../contract.ts';
import { decodeForeign, parseDocument } from './foreign.ts';
import { type DecodedObjectCache, MOST_OBJECT_BYTES } from './decoded-object-cache.ts';
import { findMember, hasBytesAt, hasText, pickValues, readMember, skipValue } from './json-scan.ts';
import { splitKey } from './keys.ts';
import { type Layout, WALK, convertObject, encodeDocument, orderFields, storedDocument } from './layout.ts';
import type { EncodingMemo } from './encoded-bytes.ts';
import type { Resource } from '../resource.ts';
import { type Part, type Splice, addNewline, allocate, borrow, copyPart, cutMember, spliceRevision } from './splice.ts';
import { sortJson } from '../values.ts';

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const PIECE_BYTES = 2 ** 17;
/** Where superseded revisions lie that were packed; history forgets them in about the order in which they were superseded. */
const supersededItems = new Pieces({ pieceBytes: PIECE_BYTES, allocate: allocateLasting });
const noBytes = new Uint8Array(0);
/** Stands for the bytes of a resting revision. */
const inStore = new Uint8Array(0);
const noFields: readonly string[] = Object.freeze([]);

/** What the objects of one row share. */
export interface ObjectContext {
  readonly layout: Layout;
  readonly memo: EncodingMemo;
  /** Decoded objects, by key and revision; absent where these do not say what an object holds: dry runs have the revision of what they did not change. */
  readonly hot?: DecodedObjectCache;
  /** Reads the value of a key at a revision again, into memory that the next call uses again; absent where a copy must be kept. */
  readonly recall?: (key: string, revision: number) => Uint8Array | undefined;
  /** Where keys begin, for errors that name those of values that cannot be read; absent where errors name the cause alone. */
  readonly namedRoot?: string;
}

/** Whether a newline follows, and memory for the result. */
interface WithHead {
  readonly line?: boolean;
  readonly place?: Splice['place'] | undefined;
}

function parseStored(bytes: Uint8Array): KubeObject {
  const object = parseDocument(bytes);
  object.metadata ??= {};
  return object;
}

/** One revision of one object. */
export class StoredRevision implements StoredObject {
  readonly revision: number;
  readonly #context: ObjectContext;
  readonly #key: string;
  /** Foreign or own; `inStore` while resting, else empty while packed. */
  #bytes: Uint8Array;
  /** Whether #bytes are known to be in the row's layout. */
  #isCanonical: boolean;
  /** While packed: the JSON item in the storage version is [start, end) of a piece that neighbours share. While resting alone they keep the size. */
  #memory: Uint8Array | undefined;
  #start = 0;
  #end = 0;
  #isSuperseded = false;
  /** The foreign bytes, of rows that read them for each of their versions. */
  #raw: Uint8Array | undefined;
  /** undefined: not read yet; null: there are none. */
  #labels: Readonly<Record<string, string>> | null | undefined;
  #fields: readonly string[] | undefined;
  /** JSON of the versions that a remote converter made, without resourceVersion. */
  #conversions: Map<string, Uint8Array> | undefined;

  /** The value is its own where this program wrote it, with its defaults and in its order, in the storage version that the row had then. */
  constructor(context: ObjectContext, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision'>, isOwn = false) {
    const { head } = context.layout;
    this.#context = context;
    this.#key = kv.key;
    this.#bytes = kv.value;
    this.revision = kv.modRevision;
    this.#isCanonical = isOwn && hasBytesAt(kv.value, 0, head);
  }

  get resource(): Resource {
    return this.#context.layout.resource;
  }

  get namespace(): string {
    return splitKey(this.#context.layout.prefix, this.resource, this.#key).namespace;
  }

  get name(): string {
    return splitKey(this.#context.layout.prefix, this.resource, this.#key).name;
  }

  get labels(): Readonly<Record<string, string>> | undefined {
    if (this.#labels === undefined) this.#labels = this.member('labels') ?? null;
    return this.#labels ?? undefined;
  }

  get uid(): string {
    const { head } = this.#context.layout;
    // No definition has a say in it.
    const known = !this.#isSettled() && hasBytesAt(this.#bytes, 0, head) ? readMember<string>(this.#bytes, head.length, 'uid') : undefined;
    return known ?? this.member('uid') ?? '';
  }

  member<Name extends keyof ObjectMeta>(name: Name): ObjectMeta[Name] | undefined {
    if (this.#isForeign()) return parseStored(this.#bytes).metadata[name];
    return readMember(this.#readable(), (this.#memory === undefined ? this.#context.layout.head : this.#itemHead()).length, name);
  }

  /** Metadata in the storage version, read without the rest of the object where its bytes are in the row's layout. */
  metadata(): ObjectMeta {
    if (!this.#isSettled()) return this.object(this.resource.storageVersion).metadata;
    const bytes = this.#readable();
    const start = (this.#memory === undefined ? this.#context.layout.head : this.#itemHead()).length - 1;
    const metadata = parseJson(bytes.subarray(start, skipValue(bytes, start))).value as ObjectMeta;
    return this.revision === 0 ? metadata : { ...metadata, resourceVersion: String(this.revision) };
  }

  /** Values of the row's selectable fields, in the order of the row. */
  get fields(): readonly string[] {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  object(apiVersion: string): KubeObject {
    const { layout } = this.#context;
    const { resource } = layout;
    if (resource.convertRemotely !== undefined && apiVersion !== this.#writtenAs()) return this.#readConverted(apiVersion);
    if (apiVersion === resource.storageVersion || (resource.convert === undefined && resource.readStored === undefined)) {
      const bytes = remember(() => this.#withHead(layout.headOf(apiVersion, false), { place: isResumable() ? allocate : borrow }), WALK);
      return parseJsonInParts(bytes).value as unknown as KubeObject;
    }
    if (resource.readStored !== undefined) return this.#readAs(resource.readStored, apiVersion);
    const stored = parseJson(this.#withHead(layout.head, { place: borrow })).value as unknown as KubeObject;
    const converted = convertObject(resource, stored, { from: resource.storageVersion, to: apiVersion });
    return orderFields(layout.schema(apiVersion), converted);
  }

  shared(apiVersion: string): KubeObject {
    const { hot, layout: { resource } } = this.#context;
    if (hot === undefined || this.size > MOST_OBJECT_BYTES) return this.object(apiVersion);
    const form = { resource, version: apiVersion };
    const known = hot.get(this.#key, form, this.revision);
    if (known !== undefined) return known;
    const object = this.object(apiVersion);
    hot.pass(this.#key, { form, revision: this.revision, bytes: this.size, object });
    return object;
  }

  bytes(apiVersion: string, form: EncodedForm): Uint8Array {
    if (form === 'json-item' || form === 'protobuf-item' || form === 'cbor-item') return this.#encode(apiVersion, form);
    // Copying the bytes with another head takes less time than keeping them.
    if ((form === 'json-single' && this.#memory !== undefined) || (form === 'json-line' && this.#isSpliced(apiVersion))) return this.#encode(apiVersion, form);
    return this.#context.memo.get(this, `${form} ${apiVersion}`, () => this.#encode(apiVersion, form));
  }

  contains(text: string): boolean {
    if (this.#memory !== undefined) return hasText(this.#memory.subarray(this.#start, this.#end), text);
    return hasText(this.#value(), text);
  }

  /** The same content at another revision: what a DELETED event shows. */
  at(revision: number): StoredRevision {
    // Bytes that are not in the row's layout yet are brought into it where they are read.
    const value = this.#memory === undefined && !this.#isCanonical ? this.#bytes : this.stored();
    const copy = new StoredRevision(this.#context, { key: this.#key, value, modRevision: revision });
    copy.#isCanonical = this.#isCanonical;
    if (this.resource.convertRemotely !== undefined) copy.#conversions = this.#conversions ??= new Map();
    copy.#raw = this.#raw;
    copy.#labels = this.#labels;
    copy.#fields = this.#fields;
    return copy;
  }

  /** Brings the bytes into the row's layout, in steps; undefined where they are in it, and where only a remote converter may do that. */
  settle(): Steps<unknown> | undefined {
    return this.#memory !== undefined || this.#isCanonical || this.#isForeign() ? undefined : resumableSteps(() => this.#stored());
  }

  /** The bytes in the row's layout. */
  stored(): Uint8Array {
    return this.isResting && this.#memory === undefined ? this.#stored().slice() : this.#stored();
  }

  /** Length of the stored bytes. */
  get size(): number {
    return this.#memory === undefined && this.#bytes !== inStore ? this.#bytes.length : this.#end - this.#start;
  }

  /** Whether `object(version)` has to wait for the row's remote converter. */
  lacks(apiVersion: string): boolean {
    return this.resource.convertRemotely !== undefined && apiVersion !== this.#writtenAs() && this.#conversions?.has(apiVersion) !== true;
  }

  /** The same object without what a remote converter has made of it. */
  unconverted(): StoredRevision {
    const object = this.at(this.revision);
    object.#conversions = undefined;
    return object;
  }

  /** The input of a remote converter: the object in the version that it was written in. */
  source(): KubeObject {
    const raw = parseStored(this.#raw ?? this.#value());
    const read = this.resource.readStored;
    return read === undefined ? raw : read(raw, this.#writtenAs());
  }

  /** Keeps an answer of the remote converter. */
  receive(apiVersion: string, object: KubeObject): void {
    (this.#conversions ??= new Map()).set(apiVersion, encodeJson(object));
  }

  /** The piece of memory that a packed revision shares with its neighbours; its item is [start, end) of it. */
  get memory(): Uint8Array | undefined {
    return this.#memory;
  }
  get start(): number {
    return this.#start;
  }
  get end(): number {
    return this.#end;
  }

  /** Whether `move` may be called: rows that read foreign bytes for each of several versions need them as they are. */
  get movable(): boolean {
    const { resource } = this.#context.layout;
    return !this.#isSuperseded && (resource.readStored === undefined || resource.versions.length === 1);
  }

  /** The JSON item in the storage version; `place` gives memory for it where it has to be made. */
  item(place?: Splice['place']): Uint8Array {
    const { layout } = this.#context;
    if (this.#memory !== undefined) return this.#memory.subarray(this.#start, this.#end);
    return this.#withHead(layout.headOf(layout.resource.storageVersion, true), { place });
  }

  /** Packs the revision: memory[start, end), where `item()` was copied to, becomes the only place of its bytes. */
  move(memory: Uint8Array, start: number, end: number): void {
    this.#memory = memory;
    this.#start = start;
    this.#end = end;
    if (this.#bytes !== inStore) this.#bytes = noBytes;
  }

  /** Whether the store has the bytes, and those here may be given up. */
  get isResting(): boolean {
    return this.#bytes === inStore;
  }

  /** Gives up its bytes if the store answers the same; 'later' when the store does not have them yet. The bytes must be settled. */
  rest(): Compaction {
    const { recall } = this.#context;
    if (this.isResting || recall === undefined || !this.movable) return false;
    const bytes = this.#stored();
    const known = recall(this.#key, this.revision);
    if (known === undefined) return 'later';
    if (Buffer.compare(known, bytes) !== 0) return false;
    this.#memory = undefined;
    this.#start = 0;
    this.#end = bytes.length;
    this.#bytes = inStore;
    return true;
  }

  /** Leaves a piece that is given up. A revision that does not rest takes its bytes along. */
  leave(piece: Uint8Array): void {
    if (this.#memory !== piece) return;
    if (!this.isResting) this.#bytes = this.#takeOut(piece);
    this.#memory = undefined;
    this.#end -= this.#start;
    this.#start = 0;
  }

  /** A newer revision came, or none: this one leaves the piece of its neighbours, so that such pieces are released as a whole. */
  supersede(): void {
    this.#isSuperseded = true;
    const place = this.#itemPlace();
    if (place === undefined) return;
    const length = place.to - place.from;
    const { memory, start } = supersededItems.take(length + 1);
    memory[start] = COMMA;
    copyPart(memory, start + 1, place);
    this.#bytes = noBytes;
    this.move(memory, start + 1, start + 1 + length);
  }

  /** Where the item is while packed or resting. What the store has forgotten already stays unreadable, and says so when it is read. */
  #itemPlace(): Part | undefined {
    if (this.#memory !== undefined) return { bytes: this.#memory, from: this.#start, to: this.#end };
    if (!this.isResting) return undefined;
    try {
      const item = this.item();
      return { bytes: item, from: 0, to: item.length };
    } catch {
      return undefined;
    }
  }

  /** The bytes while not packed; while resting, in memory that the next one uses again. */
  #value(): Uint8Array {
    return this.#bytes === inStore ? this.#recall() : this.#bytes;
  }

  #recall(): Uint8Array {
    let cause = 'the store does not have it any more';
    try {
      const bytes = this.#context.recall?.(this.#key, this.revision);
      if (bytes !== undefined) return bytes;
    } catch (error) {
      cause = error instanceof Error ? error.message : String(error);
    }
    throw internalError(`the object ${this.#key} of revision ${this.revision} cannot be read: ${cause}`);
  }

  #encode(apiVersion: string, form: EncodedForm): Uint8Array {
    const { layout } = this.#context;
    const { resource } = layout;
    if (form === 'protobuf-item') return encodeMessage(layout.schema(apiVersion), this.object(apiVersion) as unknown as JsonValue);
    if (form === 'protobuf-single') {
      const message = encodeMessage(layout.schema(apiVersion), this.shared(apiVersion) as unknown as JsonValue);
      return encodeEnvelope({ apiVersion: layout.apiVersion(apiVersion), kind: resource.kind }, message);
    }
    if (form === 'cbor-item') return encodeShownCbor(this.object(apiVersion), layout.schema(apiVersion), { resource, form });
    if (form === 'cbor-single') return encodeShownCbor(this.shared(apiVersion), layout.schema(apiVersion), { resource, form });
    const item = form === 'json-item';
    const line = form === 'json-line';
    if (this.#isSpliced(apiVersion)) return this.#withHead(layout.headOf(apiVersion, item), { line });
    const bytes = encodeShown(this.object(apiVersion), item && !resource.custom);
    return line ? addNewline(bytes) : bytes;
  }

  /** Whether the JSON of a version is the stored bytes with another head. */
  #isSpliced(apiVersion: string): boolean {
    const { resource } = this.#context.layout;
    return (apiVersion === resource.storageVersion && !this.#isForeign()) || (resource.convert === undefined && resource.readStored === undefined);
  }

  /** The object's JSON with another head: of a single object or of an item, in one of the row's versions. */
  #withHead(head: Uint8Array, { line = false, place = allocate }: WithHead = {}): Uint8Array {
    if (this.#memory === undefined) return spliceRevision(this.#stored(), head, { layout: this.#context.layout, revision: this.revision, line, place });
    const itemHead = this.#itemHead();
    if (head === itemHead && !line) return this.#memory.subarray(this.#start, this.#end);
    const from = this.#start + itemHead.length;
    const target = place(head.length + this.#end - from + (line ? 1 : 0));
    target.set(head, 0);
    const at = copyPart(target, head.length, { bytes: this.#memory, from, to: this.#end });
    if (line) target[at] = NEWLINE;
    return target;
  }

  #itemHead(): Uint8Array {
    const { layout } = this.#context;
    return layout.headOf(layout.resource.storageVersion, true);
  }

  /** The bytes for code that reads them one by one: as they are stored, or a copy of the packed item (see allocateLasting). */
  #readable(): Uint8Array {
    return this.#memory === undefined ? this.#stored() : this.#borrowItem(this.#memory);
  }

  #borrowItem(memory: Uint8Array): Uint8Array {
    const copy = borrow(this.#end - this.#start);
    copyPart(copy, 0, { bytes: memory, from: this.#start, to: this.#end });
    return copy;
  }

  /** The stored bytes of a packed revision: its item with the stored head and without resourceVersion. */
  #takeOut(memory: Uint8Array): Uint8Array {
    const { head } = this.#context.layout;
    const item = this.#borrowItem(memory);
    const from = this.#itemHead().length;
    const member = this.revision === 0 ? undefined : findMember(item, from, 'resourceVersion');
    const cut = member === undefined ? { start: from, end: from } : cutMember(item, member);
    const target = new Uint8Array(head.length + item.length - from - (cut.end - cut.start));
    target.set(head, 0);
    const at = copyPart(target, head.length, { bytes: item, from, to: cut.start });
    copyPart(target, at, { bytes: item, from: cut.end, to: item.length });
    return target;
  }

  /** Whether the bytes are in the row's layout. */
  #isSettled(): boolean {
    return this.#memory !== undefined || this.#isCanonical;
  }

  #stored(): Uint8Array {
    if (this.#memory !== undefined) return this.#takeOut(this.#memory);
    if (this.#isCanonical) return this.#value();
    const { layout } = this.#context;
    const { readStored, storageVersion } = layout.resource;
    const parsed = readStored === undefined ? this.#part(() => decodeForeign(layout, this.#bytes)) : this.#part(() => parseStored(this.#bytes), remember);
    const object = readStored === undefined ? parsed : this.#part(() => readStored(parsed, storageVersion));
    const document = this.#part(() => storedDocument(layout, object), remember);
    const bytes = this.#part(() => encodeDocument(document), remember);
    if (readStored !== undefined && layout.resource.versions.length > 1) this.#raw = this.#bytes;
    this.#bytes = bytes;
    this.#isCanonical = true;
    return this.#bytes;
  }

  /** A walk over the whole object: a step by itself, or one with steps of its own. */
  #part<T>(walk: () => T, rememberPart: typeof remember = rememberWhole): T {
    return rememberPart(() => {
      try {
        return walk();
      } catch (error) {
        if (isBrokenOff(error)) throw error;
        throw failure(500, '', error instanceof Error ? error.message : String(error));
      }
    }, WALK);
  }

  /** The stored object as the row reads it in a version, with its resourceVersion before uid, where custom resources have it. */
  #readAs(readStored: NonNullable<Resource['readStored']>, apiVersion: string): KubeObject {
    const raw = parseStored(this.#raw ?? (this.#memory === undefined ? this.#value() : this.#stored()));
    const object = rememberWhole(() => readStored(raw, apiVersion), WALK);
    return { ...object, metadata: this.#withRevision(object.metadata) };
  }

  /** Metadata with keys in order; what was not stored, after a dry run, has no resourceVersion. */
  #withRevision(metadata: ObjectMeta): ObjectMeta {
    return sortJson(this.revision === 0 ? metadata : { ...metadata, resourceVersion: String(this.revision) });
  }

  /** The version that the stored bytes are in; the storage version is recognised without parsing. */
  #writtenAs(): string {
    const { head, resource } = this.#context.layout;
    if (this.#memory !== undefined || this.#isCanonical || hasBytesAt(this.#bytes, 0, head)) return resource.storageVersion;
    return parseGroupVersion(parseStored(this.#bytes).apiVersion ?? '')?.version ?? resource.storageVersion;
  }

  /** The stored bytes are in another version than the storage version, and only a remote converter can change that. */
  #isForeign(): boolean {
    const { resource } = this.#context.layout;
    return resource.convertRemotely !== undefined && this.#writtenAs() !== resource.storageVersion;
  }

  #readConverted(apiVersion: string): KubeObject {
    const bytes = this.#conversions?.get(apiVersion);
    if (bytes === undefined) throw internalError(`the object ${this.#key} has not been converted to ${apiVersion}`);
    const object = parseStored(bytes);
    return { ...object, metadata: this.#withRevision(object.metadata) };
  }

  #readFields(): readonly string[] {
    const readers = Object.values(this.resource.selectableFields);
    if (readers.length === 0) return noFields;
    const foreign = this.#isForeign();
    // Objects that lie packed among others or rest are read for lists; those of events are asked for in other forms too.
    const isPassing = ((this.#memory === undefined && !this.isResting) || this.#isSuperseded) && this.size <= MOST_OBJECT_BYTES;
    const object = foreign ? this.source() : isPassing ? this.shared(this.resource.storageVersion) : this.#readForFields();
    return readers.map((read) => read(object));
  }

  #readForFields(): KubeObject {
    const { fieldPaths } = this.#context.layout;
    const bytes = this.#readable();
    const isPicked = fieldPaths !== undefined && this.size > MOST_OBJECT_BYTES;
    return (isPicked ? pickValues(bytes, fieldPaths) : parseJson(bytes).value) as unknown as KubeObject;
  }
}

function withoutType({ kind: _kind, apiVersion: _apiVersion, ...item }: KubeObject): object {
  return item;
}

/** The JSON of an object, or of a list item without its type. */
export function encodeShown(object: KubeObject, isItem: boolean): Uint8Array {
  return encodeJson(isItem ? withoutType(object) : object);
}

/** The CBOR of an object, or of a list item. Custom resources have no bytes and floats of their own: what their strings hold is the client's affair. */
export function encodeShownCbor(
  object: KubeObject, schema: Schema, { resource: { custom }, form }: { readonly resource: Resource; readonly form: 'cbor-single' | 'cbor-item' },
): Uint8Array {
  if (form === 'cbor-single') return encodeCbor(object, custom ? {} : { schema });
  return custom ? encodeCborItem(object) : encodeCborItem(withoutType(object), { schema });
}
