// Stored bytes of other origin (another apiserver on the same etcd, another release: protobuf, JSON without our mark, another version) as objects of
// the storage version. They are typed and filled in as the reference does whenever it decodes: what lacks a default in the store has it when it is read.
import { type KubeObject, decodeObject, formatGroupVersion, notRegistered, parseGroupVersion } from '../../apimachinery/index.ts';
import { CborError, decodeEnvelope, decodeMessage, isCbor, isProtobuf, parseCbor, parseJsonInParts } from '../../codec/index.ts';
import { defaultObject } from '../fields/defaults.ts';
import { type Layout, convertObject } from './layout.ts';
import { type FormerVersion, type Resource, versionIn } from '../resource.ts';

/** Parses stored JSON or CBOR: large JSON in several parts of the resumable work that asks for it. */
export function parseDocument(bytes: Uint8Array): KubeObject {
  if (!isCbor(bytes)) return parseJsonInParts(bytes).value as unknown as KubeObject;
  const { value, problem } = parseCbor(bytes);
  if (problem !== undefined) throw new CborError(problem);
  return value as unknown as KubeObject;
}

/** The type that stored bytes state: a version of the row, or a former one. */
interface StoredType {
  readonly version: string;
  readonly former: FormerVersion | undefined;
}

/** Decodes bytes that are not in our layout, into the storage version. Throws for types that are not those of the row. */
export function decodeForeign(layout: Layout, bytes: Uint8Array): KubeObject {
  const { resource } = layout;
  const { object, type } = isProtobuf(bytes) ? decodeBinary(layout, bytes) : typeDocument(resource, parseDocument(bytes));
  object.metadata ??= {};
  const stored = type.former === undefined ? toStorageVersion(resource, type.version, object) : convertFormer(resource, type.former, object);
  resource.completeForeign?.(stored);
  return stored;
}

function decodeBinary({ resource, schema }: Layout, bytes: Uint8Array): { object: KubeObject; type: StoredType } {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  const type = findType(resource, { apiVersion, kind });
  const known = versionIn(resource, type.version) === undefined ? resource.storageVersion : type.version;
  const object = decodeMessage(type.former?.schema?.() ?? schema(known), raw) as unknown as KubeObject;
  return { object: { ...object, apiVersion, kind: resource.kind }, type };
}

/** JSON of a built-in kind as Go reads it. The version that the reference stores, where it is served no more, is read by its conversion. */
function typeDocument(resource: Resource, document: KubeObject): { object: KubeObject; type: StoredType } {
  const { apiVersion, kind } = document;
  const type = findType(resource, document);
  const row = versionIn(resource, type.former === undefined ? type.version : resource.storageVersion);
  if (resource.custom || row === undefined) return { object: document, type };
  const schema = type.former?.schema?.() ?? row.schema;
  return { object: { ...decodeObject(schema, document, { keepEmptyLists: true }).object, apiVersion, kind } as KubeObject, type };
}

/** What states no version is of the storage version. Custom resources have all versions that their definition has had. */
function findType(resource: Resource, { apiVersion = '', kind = '' }: Pick<KubeObject, 'apiVersion' | 'kind'>): StoredType {
  const { group, storageVersion, upstreamStorageVersion, formerVersions, custom } = resource;
  const given = apiVersion === '' ? { group, version: storageVersion } : parseGroupVersion(apiVersion);
  if (given === undefined) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const former = formerVersions !== undefined && Object.hasOwn(formerVersions, apiVersion) ? formerVersions[apiVersion] : undefined;
  const { version } = given;
  const isVersion = versionIn(resource, version) !== undefined || version === upstreamStorageVersion;
  if (custom) return { version: isVersion ? version : storageVersion, former };
  const isKnown = former !== undefined || (isVersion && given.group === group);
  if (!isKnown || (kind !== '' && kind !== resource.kind)) throw new Error(notRegistered({ ...given, kind: kind || resource.kind }));
  return { version, former };
}

function toStorageVersion(resource: Resource, from: string, object: KubeObject): KubeObject {
  const { storageVersion: to, custom } = resource;
  return convertObject(resource, custom ? object : defaultObject(object, { resource, version: from }), { from, to });
}

function convertFormer(resource: Resource, { convert }: FormerVersion, object: KubeObject): KubeObject {
  const { group, storageVersion: version } = resource;
  const converted = convert?.(object) ?? object;
  converted.apiVersion = formatGroupVersion({ group, version });
  return defaultObject(converted, { resource, version });
}
