// ObjectVersion over stored bytes. Reading one never parses: bytes are a constant head, the stored bytes, and resourceVersion in its place.
// Labels and selectable fields are taken out when first asked for and kept; decoded objects are not (a parsed object costs several times
// its bytes). Bytes of other origin (another apiserver on the same etcd: protobuf, or JSON in another order) are put into our layout first.
import { type JsonValue, type KubeObject, formatGroupVersion, internalError, parseGroupVersion } from '../apimachinery/index.ts';
import { decodeEnvelope, decodeMessage, encodeEnvelope, encodeJson, encodeMessage, parseJson } from '../codec/index.ts';
import type { KeyValue } from '../storage/index.ts';
import type { EncodedForm, ObjectVersion } from './contract.ts';
import { findMember, hasBytesAt } from './json-scan.ts';
import { splitKey } from './keys.ts';
import { type Layout, convertObject, encodeStored } from './layout.ts';
import type { EncodingMemo } from './memo.ts';
import type { Resource } from './resource.ts';

const protobufMagic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
const decoder = new TextDecoder();
const closeBrace = 0x7d;

/** What the versions of one row share. */
export interface VersionContext {
  readonly layout: Layout;
  readonly memo: EncodingMemo;
}

/** Node's pooled allocation is several times cheaper than a zeroed array of its own; everything is written before it is read. */
function allocate(length: number): Uint8Array {
  return typeof Buffer === 'undefined' ? new Uint8Array(length) : Buffer.allocUnsafe(length);
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

/** The stored bytes with another head and with resourceVersion `revision` in metadata (none when 0). */
function spliceVersion(bytes: Uint8Array, head: Uint8Array, { context, revision }: { readonly context: VersionContext; readonly revision: number }): Uint8Array {
  const start = context.layout.head.length;
  const place = revision === 0 ? { at: start, before: '', after: '' } : findPlace(context, bytes);
  const member = revision === 0 ? '' : `${place.before}"resourceVersion":"${revision}"${place.after}`;
  const target = allocate(head.length + bytes.length - start + member.length);
  target.set(head, 0);
  let at = copyPart(target, head.length, { bytes, from: start, to: place.at });
  for (let i = 0; i < member.length; i++) target[at++] = member.charCodeAt(i);
  copyPart(target, at, { bytes, from: place.at, to: bytes.length });
  return target;
}

/** Decodes bytes that are not in our layout, into the storage version. */
function decodeForeign(layout: Layout, bytes: Uint8Array): KubeObject {
  const { resource } = layout;
  if (!hasBytesAt(bytes, 0, protobufMagic)) return toStorageVersion(resource, parseJson(bytes).value as unknown as KubeObject);
  const envelope = decodeEnvelope(bytes);
  const version = parseGroupVersion(envelope.apiVersion)?.version ?? resource.storageVersion;
  const known = resource.versions.some((v) => v.name === version) ? version : resource.storageVersion;
  const object = decodeMessage(layout.schema(known), envelope.raw) as unknown as KubeObject;
  return toStorageVersion(resource, { ...object, apiVersion: envelope.apiVersion, kind: resource.kind });
}

function toStorageVersion(resource: Resource, object: KubeObject): KubeObject {
  object.metadata ??= {};
  const from = parseGroupVersion(object.apiVersion ?? '')?.version ?? '';
  const known = resource.versions.some((v) => v.name === from);
  return convertObject(resource, object, { from: known ? from : resource.storageVersion, to: resource.storageVersion });
}

const noFields: readonly string[] = Object.freeze([]);

class StoredVersion implements ObjectVersion {
  readonly revision: number;
  readonly #context: VersionContext;
  readonly #key: string;
  #bytes: Uint8Array;
  /** Whether #bytes are known to be in our layout. */
  #canonical = false;
  /** undefined: not looked at yet; null: there are none. */
  #labels: Readonly<Record<string, string>> | null | undefined;
  #fields: readonly string[] | undefined;

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
    if (this.#labels === undefined) this.#labels = this.#readLabels() ?? null;
    return this.#labels ?? undefined;
  }

  /** Values of the row's selectable fields, in the order of the row. */
  get fields(): readonly string[] {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  object(version: string): KubeObject {
    const { layout } = this.#context;
    const { resource } = layout;
    if (version === resource.storageVersion || resource.convert === undefined) {
      return parseJson(spliceVersion(this.#stored(), layout.headOf(version, false), { context: this.#context, revision: this.revision })).value as unknown as KubeObject;
    }
    const bytes = spliceVersion(this.#stored(), layout.head, { context: this.#context, revision: this.revision });
    return convertObject(resource, parseJson(bytes).value as unknown as KubeObject, { from: resource.storageVersion, to: version });
  }

  bytes(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-item' || form === 'protobuf-item') return this.#encode(version, form);
    return this.#context.memo.get(this, `${form} ${version}`, () => this.#encode(version, form));
  }

  /** The same content at another revision: what a DELETED event shows. */
  at(revision: number): StoredVersion {
    const version = new StoredVersion(this.#context, { key: this.#key, value: this.#bytes, modRevision: revision });
    version.#canonical = this.#canonical;
    version.#labels = this.#labels;
    version.#fields = this.#fields;
    return version;
  }

  /** The bytes as they are stored, in our layout. */
  stored(): Uint8Array {
    return this.#stored();
  }

  #encode(version: string, form: EncodedForm): Uint8Array {
    const { layout } = this.#context;
    const { resource } = layout;
    if (form === 'protobuf-item') return encodeMessage(layout.schema(version), this.object(version) as unknown as JsonValue);
    if (form === 'protobuf-single') {
      return encodeEnvelope({ apiVersion: layout.apiVersion(version), kind: resource.kind }, this.#encode(version, 'protobuf-item'));
    }
    const item = form === 'json-item';
    if (version === resource.storageVersion || resource.convert === undefined) {
      return spliceVersion(this.#stored(), layout.headOf(version, item), { context: this.#context, revision: this.revision });
    }
    return encodeObject(this.object(version), item && !resource.custom);
  }

  #stored(): Uint8Array {
    if (this.#canonical) return this.#bytes;
    const { layout } = this.#context;
    if (!hasBytesAt(this.#bytes, 0, layout.head)) {
      try {
        this.#bytes = encodeStored(layout, decodeForeign(layout, this.#bytes));
      } catch (error) {
        throw internalError(`unable to decode the stored object ${this.#key}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.#canonical = true;
    return this.#bytes;
  }

  #readLabels(): Record<string, string> | undefined {
    const bytes = this.#stored();
    const span = findMember(bytes, this.#context.layout.head.length, 'labels');
    if (span === undefined) return undefined;
    return JSON.parse(decoder.decode(bytes.subarray(span.valueStart, span.valueEnd))) as Record<string, string>;
  }

  #readFields(): readonly string[] {
    const readers = Object.values(this.resource.selectableFields);
    if (readers.length === 0) return noFields;
    const object = parseJson(this.#stored()).value as unknown as KubeObject;
    return readers.map((read) => read(object));
  }
}

function encodeObject(object: KubeObject, withoutType: boolean): Uint8Array {
  if (!withoutType) return encodeJson(object);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  return encodeJson(item);
}

/** The objects of one row seen through a row of another group that stores nothing itself (events.k8s.io on core Events). */
class ViewedVersion implements ObjectVersion {
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

  get fields(): readonly string[] {
    const object = this.object(this.resource.storageVersion);
    return Object.values(this.resource.selectableFields).map((read) => read(object));
  }

  object(version: string): KubeObject {
    const from = this.#base.resource;
    const object = this.#base.object(from.storageVersion);
    return convertView({ object, from: { group: from.group, version: from.storageVersion }, resource: this.resource, version });
  }

  bytes(version: string, form: EncodedForm): Uint8Array {
    if (form === 'json-item' || form === 'protobuf-item') return this.#encode(version, form);
    return this.#context.memo.get(this.#base, `${form} ${this.#context.layout.apiVersion(version)}`, () => this.#encode(version, form));
  }

  #encode(version: string, form: EncodedForm): Uint8Array {
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

/** The version that a key-value of the store holds. */
export function decodeVersion(context: VersionContext, kv: Pick<KeyValue, 'key' | 'value' | 'modRevision'>): StoredVersion {
  return new StoredVersion(context, kv);
}

/** The same object through the viewing row of `context`. */
export function viewVersion(context: VersionContext, base: StoredVersion): ViewedVersion {
  return new ViewedVersion(context, base);
}

export type { StoredVersion, ViewedVersion };
