// ObjectVersion over stored bytes. Reading one never parses: bytes are a constant head, the stored bytes, and resourceVersion in its place.
// Labels and selectable fields are taken out when first asked for and kept; decoded objects are not (a parsed object costs several times
// its bytes). Bytes of other origin (another apiserver on the same etcd: protobuf, or JSON in another order) are put into our layout first.
import { type JsonValue, type KubeObject, formatGroupVersion, internalError, parseGroupVersion } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeJson, encodeMessage, parseJson } from '../../codec/index.ts';
import type { KeyValue } from '../../storage/index.ts';
import type { EncodedForm, StoredObject } from '../contract.ts';
import { decodeForeign } from './foreign.ts';
import { type MemberSpan, findMember, hasBytesAt } from './json-scan.ts';
import { splitKey } from './keys.ts';
import { type Layout, convertObject, encodeStored } from './layout.ts';
import type { EncodingMemo } from './encoded-bytes.ts';
import type { Resource } from '../resource.ts';
import { sortJson } from '../values.ts';

const decoder = new TextDecoder();
const closeBrace = 0x7d;
const comma = 0x2c;
const newline = 0x0a;
const noBytes = new Uint8Array(0);

/** What the versions of one row share. */
export interface VersionContext {
  readonly layout: Layout;
  readonly memo: EncodingMemo;
}

/** Node's pooled allocation is several times cheaper than a zeroed array of its own; everything is written before it is read. */
function allocate(length: number): Uint8Array {
  return typeof Buffer === 'undefined' ? new Uint8Array(length) : Buffer.allocUnsafe(length);
}

const scratchBytes = 2 ** 16;
let scratch: Uint8Array | undefined;

/** Memory for bytes that are read before anybody else borrows it. */
function borrow(length: number): Uint8Array {
  if (length > scratchBytes) return allocate(length);
  scratch ??= typeof Buffer === 'undefined' ? new Uint8Array(scratchBytes) : Buffer.allocUnsafeSlow(scratchBytes);
  return scratch.subarray(0, length);
}

/** Copies bytes[from, to) to `target` at `at`; answers where they end. */
function copyPart(target: Uint8Array, at: number, { bytes, from, to }: { readonly bytes: Uint8Array; readonly from: number; readonly to: number }): number {
  target.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from), at);
  return at + to - from;
}

/** Where resourceVersion goes in, and the commas that it needs there. */
function findPlace({ layout }: VersionContext, bytes: Uint8Array): { readonly at: number; readonly before: string; readonly after: string } {
  const start = layout.head.length;
  const uid = findMember(bytes, start, 'uid');
  if (uid === undefined) return { at: start, before: '', after: bytes[start] === closeBrace ? '' : ',' };
  return layout.resource.custom ? { at: uid.keyStart, before: '', after: ',' } : { at: uid.valueEnd, before: ',', after: '' };
}

interface Splice {
  readonly context: VersionContext;
  readonly revision: number;
  /** Whether a newline goes behind. */
  readonly line?: boolean;
  /** Where the result goes; memory of its own when absent. */
  readonly place?: (length: number) => Uint8Array;
}

/** The stored bytes with another head and with resourceVersion `revision` in metadata (none when 0), and a newline if it shall be a line. */
function spliceVersion(bytes: Uint8Array, head: Uint8Array, { context, revision, line = false, place: give = allocate }: Splice): Uint8Array {
  const start = context.layout.head.length;
  const place = revision === 0 ? { at: start, before: '', after: '' } : findPlace(context, bytes);
  const member = revision === 0 ? '' : `${place.before}"resourceVersion":"${revision}"${place.after}`;
  const target = give(head.length + bytes.length - start + member.length + (line ? 1 : 0));
  target.set(head, 0);
  let at = copyPart(target, head.length, { bytes, from: start, to: place.at });
  for (let i = 0; i < member.length; i++) target[at++] = member.charCodeAt(i);
  at = copyPart(target, at, { bytes, from: place.at, to: bytes.length });
  if (line) target[at] = newline;
  return target;
}

/** A member with the comma that goes when it does. */
function cutMember(bytes: Uint8Array, { keyStart, valueEnd }: MemberSpan): { readonly start: number; readonly end: number } {
  if (bytes[valueEnd] === comma) return { start: keyStart, end: valueEnd + 1 };
  return { start: bytes[keyStart - 1] === comma ? keyStart - 1 : keyStart, end: valueEnd };
}

function parseStored(bytes: Uint8Array): KubeObject {
  const object = parseJson(bytes).value as unknown as KubeObject;
  object.metadata ??= {};
  return object;
}

const noFields: readonly string[] = Object.freeze([]);

class StoredVersion implements StoredObject {
  readonly revision: number;
  readonly #context: VersionContext;
  readonly #key: string;
  /** As stored; empty while the version has a home. */
  #bytes: Uint8Array;
  /** Whether #bytes are known to be in our layout. */
  #canonical = false;
  /** The JSON item in the storage version, [start, end) of a piece that neighbours share: then #bytes are not kept. */
  #memory: Uint8Array | undefined;
  #start = 0;
  #end = 0;
  #superseded = false;
  /** The bytes as they came from the store, of rows that read them anew for each version. */
  #raw: Uint8Array | undefined;
  /** undefined: not looked at yet; null: there are none. */
  #labels: Readonly<Record<string, string>> | null | undefined;
  #fields: readonly string[] | undefined;
  /** JSON of the versions that a remote converter made, without resourceVersion. */
  #conversions: Map<string, Uint8Array> | undefined;

  constructor(context: VersionContext, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision'>) {
    this.#context = context;
    this.#key = kv.key;
    this.#bytes = kv.value;
    this.revision = kv.modRevision;
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
    if (this.#labels === undefined) this.#labels = (this.#readMember('labels') as Record<string, string> | undefined) ?? null;
    return this.#labels ?? undefined;
  }

  get uid(): string {
    return (this.#readMember('uid') as string | undefined) ?? '';
  }

  /** Values of the row's selectable fields, in the order of the row. */
  get fields(): readonly string[] {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  object(version: string): KubeObject {
    const { layout } = this.#context;
    const { resource } = layout;
    if (resource.convertRemotely !== undefined && version !== this.#writtenAs()) return this.#readConverted(version);
    if (version === resource.storageVersion || (resource.convert === undefined && resource.readStored === undefined)) {
      return parseJson(this.#withHead(layout.headOf(version, false), { place: borrow })).value as unknown as KubeObject;
    }
    if (resource.readStored !== undefined) return this.#readAs(resource.readStored, version);
    const stored = parseJson(this.#withHead(layout.head, { place: borrow })).value as unknown as KubeObject;
    return convertObject(resource, stored, { from: resource.storageVersion, to: version });
  }

  bytes(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-item' || form === 'protobuf-item') return this.#encode(version, form);
    // Another head in front of what lies there is cheaper than keeping it.
    if ((form === 'json-single' && this.#memory !== undefined) || (form === 'json-line' && this.#isSpliced(version))) return this.#encode(version, form);
    return this.#context.memo.get(this, `${form} ${version}`, () => this.#encode(version, form));
  }

  contains(text: string): boolean {
    if (this.#memory !== undefined) return hasText(this.#memory.subarray(this.#start, this.#end), text);
    return hasText(this.#isForeign() ? this.#bytes : this.#stored(), text);
  }

  /** The same content at another revision: what a DELETED event shows. */
  at(revision: number): StoredVersion {
    const foreign = this.#isForeign();
    const version = new StoredVersion(this.#context, { key: this.#key, value: foreign ? this.#bytes : this.#stored(), modRevision: revision });
    version.#canonical = this.#canonical;
    if (this.resource.convertRemotely !== undefined) version.#conversions = this.#conversions ??= new Map();
    version.#raw = this.#raw;
    version.#labels = this.#labels;
    version.#fields = this.#fields;
    return version;
  }

  /** The bytes as they are stored, in our layout. */
  stored(): Uint8Array {
    return this.#stored();
  }

  /** Length of the stored bytes. */
  get size(): number {
    return this.#memory === undefined ? this.#bytes.length : this.#end - this.#start;
  }

  /** Whether `object(version)` has to wait for the row's remote converter. */
  lacks(version: string): boolean {
    return this.resource.convertRemotely !== undefined && version !== this.#writtenAs() && this.#conversions?.has(version) !== true;
  }

  /** The same object without what a remote converter has made of it. */
  unconverted(): StoredVersion {
    const object = this.at(this.revision);
    object.#conversions = undefined;
    return object;
  }

  /** What a remote converter gets: the object in the version that it was written in. */
  source(): KubeObject {
    const raw = parseStored(this.#raw ?? this.#bytes);
    const read = this.resource.readStored;
    return read === undefined ? raw : read(raw, this.#writtenAs());
  }

  /** Keeps what the remote converter answered. */
  receive(version: string, object: KubeObject): void {
    (this.#conversions ??= new Map()).set(version, encodeJson(object));
  }

  /** The piece of memory that the version shares with its neighbours, if it has one; its item is [start, end) of it. */
  get memory(): Uint8Array | undefined {
    return this.#memory;
  }
  get start(): number {
    return this.#start;
  }
  get end(): number {
    return this.#end;
  }

  /** Whether `move` may be called: rows that read stored bytes anew for each of several versions need them as they are. */
  get movable(): boolean {
    const { resource } = this.#context.layout;
    return !this.#superseded && (resource.readStored === undefined || resource.versions.length === 1);
  }

  /** The JSON item in the storage version. */
  item(): Uint8Array {
    const { layout } = this.#context;
    if (this.#memory !== undefined) return this.#memory.subarray(this.#start, this.#end);
    return this.#withHead(layout.headOf(layout.resource.storageVersion, true));
  }

  /** Makes memory[start, end), where `item()` was copied to, the only place of the version's bytes. */
  move(memory: Uint8Array, start: number, end: number): void {
    this.#memory = memory;
    this.#start = start;
    this.#end = end;
    this.#bytes = noBytes;
  }

  /** The version is not the newest any more: it gets bytes of its own, since a shared piece is best let go as a whole. */
  supersede(): void {
    this.#superseded = true;
    if (this.#memory === undefined) return;
    this.#bytes = this.#takeOut(this.#memory);
    this.#memory = undefined;
  }

  #encode(version: string, form: EncodedForm): Uint8Array {
    const { layout } = this.#context;
    const { resource } = layout;
    if (form === 'protobuf-item') return encodeMessage(layout.schema(version), this.object(version) as unknown as JsonValue);
    if (form === 'protobuf-single') {
      return encodeEnvelope({ apiVersion: layout.apiVersion(version), kind: resource.kind }, this.#encode(version, 'protobuf-item'));
    }
    const item = form === 'json-item';
    const line = form === 'json-line';
    if (this.#isSpliced(version)) return this.#withHead(layout.headOf(version, item), { line });
    const bytes = encodeObject(this.object(version), item && !resource.custom);
    return line ? addNewline(bytes) : bytes;
  }

  /** Whether the JSON of a version is the stored bytes with another head. */
  #isSpliced(version: string): boolean {
    const { resource } = this.#context.layout;
    return (version === resource.storageVersion && !this.#isForeign()) || (resource.convert === undefined && resource.readStored === undefined);
  }

  /** The object's JSON with another head: of a single object or of an item, and of the version that it says. */
  #withHead(head: Uint8Array, { line = false, place = allocate }: Pick<Splice, 'line' | 'place'> = {}): Uint8Array {
    if (this.#memory === undefined) return spliceVersion(this.#stored(), head, { context: this.#context, revision: this.revision, line, place });
    const itemHead = this.#itemHead();
    if (head === itemHead && !line) return this.#memory.subarray(this.#start, this.#end);
    const from = this.#start + itemHead.length;
    const target = place(head.length + this.#end - from + (line ? 1 : 0));
    target.set(head, 0);
    const at = copyPart(target, head.length, { bytes: this.#memory, from, to: this.#end });
    if (line) target[at] = newline;
    return target;
  }

  #itemHead(): Uint8Array {
    const { layout } = this.#context;
    return layout.headOf(layout.resource.storageVersion, true);
  }

  /** The bytes to be read one by one: as they are stored, or a copy of the item (why, see allocateLasting). */
  #readable(): Uint8Array {
    return this.#memory === undefined ? this.#stored() : this.#borrowItem(this.#memory);
  }

  #borrowItem(memory: Uint8Array): Uint8Array {
    const copy = borrow(this.#end - this.#start);
    copyPart(copy, 0, { bytes: memory, from: this.#start, to: this.#end });
    return copy;
  }

  /** The stored bytes of a version that has a home: its item with the stored head and without resourceVersion. */
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

  #stored(): Uint8Array {
    if (this.#memory !== undefined) return this.#takeOut(this.#memory);
    if (this.#canonical) return this.#bytes;
    const { layout } = this.#context;
    const { readStored, storageVersion } = layout.resource;
    const isAsRead = readStored !== undefined && layout.asRead.has(this.#bytes);
    if (readStored !== undefined ? !isAsRead : !hasBytesAt(this.#bytes, 0, layout.head)) {
      try {
        const object = readStored === undefined ? decodeForeign(layout, this.#bytes) : readStored(parseStored(this.#bytes), storageVersion);
        if (readStored !== undefined && layout.resource.versions.length > 1) this.#raw = this.#bytes;
        this.#bytes = encodeStored(layout, object);
      } catch (error) {
        throw internalError(`unable to decode the stored object ${this.#key}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.#canonical = true;
    return this.#bytes;
  }

  /** The stored object as the row reads it in a version; the resourceVersion, which is not stored, goes where it is written: before uid. */
  #readAs(readStored: NonNullable<Resource['readStored']>, version: string): KubeObject {
    const object = readStored(parseStored(this.#raw ?? (this.#memory === undefined ? this.#bytes : this.#stored())), version);
    const sorted = sortJson({ ...object.metadata, resourceVersion: String(this.revision) });
    return { ...object, metadata: sorted };
  }

  /** The version that the stored bytes are in; told apart without parsing where it is the storage version. */
  #writtenAs(): string {
    const { head, resource } = this.#context.layout;
    if (this.#memory !== undefined || this.#canonical || hasBytesAt(this.#bytes, 0, head)) return resource.storageVersion;
    return parseGroupVersion(parseStored(this.#bytes).apiVersion ?? '')?.version ?? resource.storageVersion;
  }

  /** The stored bytes are in another version than the storage version, and only a remote converter can change that. */
  #isForeign(): boolean {
    const { resource } = this.#context.layout;
    return resource.convertRemotely !== undefined && this.#writtenAs() !== resource.storageVersion;
  }

  #readConverted(version: string): KubeObject {
    const bytes = this.#conversions?.get(version);
    if (bytes === undefined) throw internalError(`the object ${this.#key} has not been converted to ${version}`);
    const object = parseStored(bytes);
    return { ...object, metadata: sortJson({ ...object.metadata, resourceVersion: String(this.revision) }) };
  }

  /** A member of metadata, found without parsing the rest. */
  #readMember(name: 'labels' | 'uid'): unknown {
    if (this.#isForeign()) return parseStored(this.#bytes).metadata[name];
    const bytes = this.#readable();
    const head = this.#memory === undefined ? this.#context.layout.head : this.#itemHead();
    const span = findMember(bytes, head.length, name);
    return span === undefined ? undefined : JSON.parse(decoder.decode(bytes.subarray(span.valueStart, span.valueEnd)));
  }

  #readFields(): readonly string[] {
    const readers = Object.values(this.resource.selectableFields);
    if (readers.length === 0) return noFields;
    const foreign = this.#isForeign();
    const object = foreign ? this.source() : parseJson(this.#readable()).value as unknown as KubeObject;
    return readers.map((read) => read(object));
  }
}

function hasText(bytes: Uint8Array, text: string): boolean {
  if (typeof Buffer === 'undefined') return decoder.decode(bytes).includes(text);
  return (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)).includes(text, 0, 'latin1');
}

function addNewline(bytes: Uint8Array): Uint8Array {
  const target = allocate(bytes.length + 1);
  target.set(bytes);
  target[bytes.length] = newline;
  return target;
}

function encodeObject(object: KubeObject, withoutType: boolean): Uint8Array {
  if (!withoutType) return encodeJson(object);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  return encodeJson(item);
}

/** The objects of one row seen through a row of another group that stores nothing itself (events.k8s.io on core Events). */
class ViewedVersion implements StoredObject {
  readonly resource: Resource;
  readonly #base: StoredVersion;
  readonly #context: VersionContext;

  constructor(context: VersionContext, base: StoredVersion) {
    this.#context = context;
    this.resource = context.layout.resource;
    this.#base = base;
  }

  get revision(): number {
    return this.#base.revision;
  }
  get namespace(): string {
    return this.#base.namespace;
  }
  get name(): string {
    return this.#base.name;
  }
  get labels(): Readonly<Record<string, string>> | undefined {
    return this.#base.labels;
  }
  get uid(): string {
    return this.#base.uid;
  }
  get size(): number {
    return this.#base.size;
  }

  get fields(): readonly string[] {
    const object = this.object(this.resource.storageVersion);
    return Object.values(this.resource.selectableFields).map((read) => read(object));
  }

  object(version: string): KubeObject {
    const from = this.#base.resource;
    const object = this.#base.object(from.storageVersion);
    return convertView({ object, from: { group: from.group, version: from.storageVersion }, resource: this.resource, version });
  }

  contains(text: string): boolean {
    return this.#base.contains(text);
  }

  bytes(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-item' || form === 'protobuf-item') return this.#encode(version, form);
    return this.#context.memo.get(this.#base, `${form} ${this.#context.layout.apiVersion(version)}`, () => this.#encode(version, form));
  }

  #encode(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-line') return addNewline(this.#encode(version, 'json-single'));
    if (form === 'json-item' || form === 'json-single') return encodeObject(this.object(version), form === 'json-item');
    const raw = encodeMessage(this.#context.layout.schema(version), this.object(version) as unknown as JsonValue);
    return form === 'protobuf-item' ? raw : encodeEnvelope({ apiVersion: this.#context.layout.apiVersion(version), kind: this.resource.kind }, raw);
  }
}

/** An object of the storing row as the viewing row shows it. `convert` of viewing rows speaks of whole group versions. */
function convertView({ object, from, resource, version }: {
  readonly object: KubeObject; readonly from: { readonly group: string; readonly version: string }; readonly resource: Resource; readonly version: string;
}): KubeObject {
  const to = formatGroupVersion({ group: resource.group, version });
  const converted = resource.convert === undefined ? object : resource.convert(object, formatGroupVersion(from), to);
  converted.apiVersion = to;
  converted.kind = resource.kind;
  return converted;
}

/** A version of which registry-internal readers know more than the contract says. */
export type ReadVersion = StoredVersion | ViewedVersion;

/** The same object through the viewing row of `context`. */
export function viewVersion(context: VersionContext, base: StoredVersion): ViewedVersion {
  return new ViewedVersion(context, base);
}

export { StoredVersion, type ViewedVersion };
