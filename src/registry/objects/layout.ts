// How objects of one row lie in the store: compact JSON of the storage version that begins with a constant head and has no resourceVersion
// (etcd's revision is that), with metadata in the order in which the reference writes it:
//
//   {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"…","creationTimestamp":"…"},"data":{"k":"v"}}
//   └────────────────────── head ────────────────────┘                        ▲ resourceVersion is inserted here when the object is read
//
// Custom resources are written with sorted keys, their type first, resourceVersion before uid.
import { type KubeObject, type ObjectMeta, type Schema, equalJson, formatGroupVersion, inFieldOrder } from '../../apimachinery/index.ts';
import { encodeUtf8, stringifyJson } from '../../codec/index.ts';
import { invariant, remember } from '../../base/index.ts';
import { type PathTree, hasText, treeOf } from './json-scan.ts';
import { sortJson } from '../values.ts';
import type { Target } from '../contract.ts';
import { type Resource, versionIn } from '../resource.ts';

/** The constant parts of the bytes of a row's objects. */
export interface Layout {
  readonly resource: Resource;
  /** Key prefix of the row, with its slash. */
  readonly prefix: string;
  /** What stored bytes begin with. */
  readonly head: Uint8Array;
  /** The same for a served version, as a single object and as an item of a list. */
  headOf(version: string, item: boolean): Uint8Array;
  readonly apiVersion: (version: string) => string;
  readonly schema: (version: string) => Schema;
  /** Where selectable fields are; undefined when one of them may be anywhere. */
  readonly fieldPaths: PathTree | undefined;
}

/** The weight of a walk over a whole object, or a member of one: each is a step of work that takes turns. */
export const WALK = 1000;
const encoder = new TextEncoder();

function makeHead(resource: Resource, version: string, item: boolean): Uint8Array {
  const kind = JSON.stringify(resource.kind);
  const apiVersion = JSON.stringify(formatGroupVersion({ group: resource.group, version }));
  if (resource.custom) return encoder.encode(`{"apiVersion":${apiVersion},"kind":${kind},"metadata":{`);
  return encoder.encode(item ? '{"metadata":{' : `{"kind":${kind},"apiVersion":${apiVersion},"metadata":{`);
}

function findFieldPaths({ selectableFields }: Resource): PathTree | undefined {
  const readers = Object.values(selectableFields);
  return readers.every(({ paths }) => paths !== undefined) ? treeOf(readers.flatMap(({ paths = [] }) => paths)) : undefined;
}

/** The layout of a row whose keys begin with `prefix`. */
export function createLayout(resource: Resource, prefix: string): Layout {
  const [singles, items] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
  const headOf = (version: string, item: boolean): Uint8Array => {
    const heads = item ? items : singles;
    let head = heads.get(version);
    if (head === undefined) heads.set(version, (head = makeHead(resource, version, item)));
    return head;
  };
  return {
    resource, prefix, headOf, fieldPaths: findFieldPaths(resource),
    head: headOf(resource.storageVersion, false),
    apiVersion: (version) => formatGroupVersion({ group: resource.group, version }),
    schema(version) {
      const row = versionIn(resource, version);
      invariant(row !== undefined, `${resource.plural} has no version ${version}`);
      return row.schema;
    },
  };
}

const metadataOrder: readonly (keyof ObjectMeta)[] = [
  'name', 'generateName', 'namespace', 'selfLink', 'uid', 'generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds',
  'labels', 'annotations', 'ownerReferences', 'finalizers', 'managedFields',
];

/** Whether a member of metadata is left out where it is written. */
export function isEmptyMember(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (name === 'generation') return value === 0;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}

/** Metadata as it is stored: in order, without what is empty, without resourceVersion. */
function orderMetadata(metadata: ObjectMeta): Record<string, unknown> {
  const ordered: Record<string, unknown> = {};
  for (const name of metadataOrder) {
    const value = metadata[name];
    if (!isEmptyMember(name, value)) ordered[name] = value;
  }
  return ordered;
}

/** Whether managedFields are the same but for their times. */
function sameOwners(entries: ObjectMeta['managedFields'] = [], old: ObjectMeta['managedFields'] = []): boolean {
  if (entries === old) return true;
  return entries.length === old.length && entries.every((entry, i) => entry === old[i] || equalJson({ ...entry, time: '' }, { ...old[i], time: '' }));
}

/** True when storing `object` instead of `old` would change nothing but times in managedFields: then nothing is written. */
export function sameContent(object: KubeObject, old: KubeObject): boolean {
  // What most often differs first. Nothing is copied for this: it is asked of each update.
  return sameOwners(object.metadata.managedFields, old.metadata.managedFields) && sameMetadata(object.metadata, old.metadata) && sameParts(object, old);
}

function sameMetadata(metadata: ObjectMeta, old: ObjectMeta): boolean {
  for (const name of metadataOrder) {
    if (name === 'managedFields') continue;
    const isEmpty = isEmptyMember(name, metadata[name]);
    if (isEmpty !== isEmptyMember(name, old[name]) || !(isEmpty || equalJson(metadata[name], old[name]))) return false;
  }
  return true;
}

const isHead = (name: string): boolean => name === 'metadata' || name === 'kind' || name === 'apiVersion';

/** Whether all members but type and metadata are the same. */
function sameParts(object: KubeObject, old: KubeObject): boolean {
  for (const name in object) {
    if (isHead(name) || object[name] === undefined) continue;
    if (!(Object.hasOwn(old, name) && equalJson(object[name], old[name]))) return false;
  }
  for (const name in old) {
    if (!isHead(name) && old[name] !== undefined && !(Object.hasOwn(object, name) && object[name] !== undefined)) return false;
  }
  return true;
}

/** An object in the form in which it is stored, and the JSON of it. */
export interface EncodedObject {
  readonly document: Readonly<Record<string, unknown>>;
  readonly json: Uint8Array;
  /** Whether reading the JSON as the row reads stored bytes would change nothing; always so for built-in kinds. */
  readonly isOwn: boolean;
}

/** A built-in object in the order of its structs; its type is first. */
export function orderFields<T extends object>(schema: Schema, document: T, before?: KubeObject): T {
  const { kind, apiVersion, ...parts } = document as Record<string, unknown>;
  return { kind, apiVersion, ...inFieldOrder(schema, parts, before) } as unknown as T;
}

interface StoredForm {
  /** An object that was stored: what the object shares with it is in that form. */
  readonly before?: KubeObject | undefined;
  /** Members of metadata that are stored though reading drops them. */
  readonly emptied?: Readonly<Record<string, unknown>> | undefined;
}

/** The form in which an object of the storage version is stored. */
export function storedDocument(layout: Layout, object: KubeObject, { before, emptied }: StoredForm = {}): EncodedObject['document'] {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const { kind, storageVersion, custom } = layout.resource;
  const apiVersion = layout.apiVersion(storageVersion);
  const ordered = { ...orderMetadata(metadata), ...emptied };
  return custom
    ? { apiVersion, kind, metadata: remember(() => sortJson(ordered, before?.metadata), WALK), ...sortMembers(rest, before) }
    : orderFields(layout.schema(storageVersion), { kind, apiVersion, metadata: ordered, ...rest }, before);
}

/** sortJson of each member, which is a part of resumable work. */
function sortMembers(members: Readonly<Record<string, unknown>>, before: KubeObject | undefined): Record<string, unknown> {
  const names = Object.keys(members).filter((name) => members[name] !== undefined).sort();
  return Object.fromEntries(names.map((name) => [name, remember(() => sortJson(members[name], before?.[name]), WALK)]));
}

/** The same, and the JSON of it. */
export function encodeObject(layout: Layout, object: KubeObject, form: StoredForm = {}): EncodedObject {
  const document = storedDocument(layout, object, form);
  return { document, json: encodeDocument(document, form.before), isOwn: layout.resource.readStored === undefined };
}

/** JSON of members that an update has left as they were (===), for the next one: a spec outlives many writes of status and metadata. */
const textsOfMembers = new WeakMap<object, string>();

/** The JSON of what is stored: each member is a part of resumable work. */
export const encodeDocument = (document: EncodedObject['document'], before?: KubeObject): Uint8Array => encodeUtf8(writeDocument(document, before));

function writeDocument(document: EncodedObject['document'], before: KubeObject | undefined): string {
  let text = '';
  for (const name of Object.keys(document)) {
    const value = document[name];
    if (value === undefined) continue;
    const isKept = typeof value === 'object' && value !== null && value === before?.[name];
    // Work that begins again asks for the same parts, also for those that it has kept meanwhile.
    const member = remember(() => (isKept ? textsOfMembers.get(value) : undefined) ?? stringifyJson(value), WALK);
    if (isKept) textsOfMembers.set(value, member);
    text += `${text === '' ? '{' : ','}${stringifyJson(name)}:${member}`;
  }
  return `${text}}`;
}

interface WrittenForm extends Pick<StoredForm, 'emptied'> {
  readonly version: string;
  readonly old?: KubeObject;
  /** An apply leaves nulls in custom objects that reading drops. */
  readonly mayHoldNulls?: boolean;
  /** Fields that the schema does not know, likewise. */
  readonly hasUnknown?: boolean | undefined;
}

/**
 * encodeObject of what was read, defaulted and validated in `version`: where that is the storage version, and an apply has left nothing in it,
 * reading it again would change nothing.
 */
export function encodeWritten(
  layout: Layout, object: KubeObject, { version, old, mayHoldNulls = false, emptied, hasUnknown = false }: WrittenForm,
): EncodedObject & { readonly isAsRead: boolean } {
  const kept = version === layout.resource.storageVersion ? emptied : undefined;
  const encoded = encodeObject(layout, object, { before: isReadAsStored(layout.resource, version) ? old : undefined, emptied: kept });
  const isAsRead = kept === undefined && !hasUnknown && !(mayHoldNulls && holdsNull(encoded));
  const isOwn = encoded.isOwn || (isAsRead && version === layout.resource.storageVersion && !defaultsStatus(layout.resource, version));
  return { ...encoded, isAsRead, isOwn };
}

/** Whether there is a null in an object; a text that looks like one counts as well. */
const holdsNull = ({ json }: EncodedObject): boolean => hasText(json, 'null');

/** Whether an object of this version is what is stored of it, but for its apiVersion. */
export function isReadAsStored(resource: Resource, version: string): boolean {
  const { storageVersion, convert, convertRemotely, readStored } = resource;
  if (convertRemotely !== undefined || defaultsStatus(resource, version)) return false;
  return version === storageVersion || (convert === undefined && readStored === undefined);
}

/** Whether a version gives the status a default. A status that creators may not set comes last; reading puts its default in its place. */
const defaultsStatus = (resource: Resource, version: string): boolean => versionIn(resource, version)?.defaultsStatus === true;

/** An object in another version of its row; changes and returns the one given when versions differ in their name only. */
export function convertObject(resource: Resource, object: KubeObject, { from, to }: { readonly from: string; readonly to: string }): KubeObject {
  if (from === to) return object;
  const converted = resource.convert === undefined ? object : resource.convert(object, from, to);
  converted.apiVersion = formatGroupVersion({ group: resource.group, version: to });
  return converted;
}

/** An object of a request as its storing row wants it: in that row's group and storage version. */
export function convertForStorage({ resource, version }: Target, storing: Resource, object: KubeObject): KubeObject {
  if (resource === storing || (resource.group === storing.group && resource.plural === storing.plural)) {
    return convertObject(resource, object, { from: version, to: storing.storageVersion });
  }
  const [from, to] = [formatGroupVersion({ group: resource.group, version }), formatGroupVersion({ group: storing.group, version: storing.storageVersion })];
  return resource.convert === undefined ? object : resource.convert(object, from, to);
}
