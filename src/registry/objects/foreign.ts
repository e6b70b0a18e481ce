// Stored bytes of other origin (another apiserver on the same etcd, another release: protobuf, JSON without our mark, another version) as objects of
// the storage version. They are typed and filled in as the reference does whenever it decodes: what lacks a default in the store has it when it is read.
import { type KubeObject, decodeObject, formatGroupVersion, parseGroupVersion } from '../../apimachinery/index.ts';
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

/** Decodes bytes that are not in our layout, into the storage version. */
export function decodeForeign(layout: Layout, bytes: Uint8Array): KubeObject {
  const { resource } = layout;
  const read = isProtobuf(bytes) ? decodeBinary(layout, bytes) : typeDocument(resource, parseDocument(bytes));
  const object = toStorageVersion(resource, read);
  resource.completeForeign?.(object);
  return object;
}

function decodeBinary({ resource, schema }: Layout, bytes: Uint8Array): KubeObject {
  const { apiVersion, raw } = decodeEnvelope(bytes);
  const version = parseGroupVersion(apiVersion)?.version ?? resource.storageVersion;
  const known = versionIn(resource, version) !== undefined ? version : resource.storageVersion;
  const object = decodeMessage(formerIn(resource, apiVersion)?.schema?.() ?? schema(known), raw) as unknown as KubeObject;
  return { ...object, apiVersion, kind: resource.kind };
}

/** A version of the resource that is served no more. */
const formerIn = ({ formerVersions }: Resource, apiVersion: string | undefined): FormerVersion | undefined =>
  (formerVersions !== undefined && apiVersion !== undefined && Object.hasOwn(formerVersions, apiVersion) ? formerVersions[apiVersion] : undefined);

function toStorageVersion(resource: Resource, object: KubeObject): KubeObject {
  object.metadata ??= {};
  const { storageVersion, custom } = resource;
  const former = formerIn(resource, object.apiVersion);
  if (former !== undefined) return convertFormer(resource, former, object);
  const from = parseGroupVersion(object.apiVersion ?? '')?.version ?? '';
  const known = versionIn(resource, from) !== undefined || from === resource.upstreamStorageVersion ? from : storageVersion;
  return convertObject(resource, custom ? object : defaultObject(object, { resource, version: known }), { from: known, to: storageVersion });
}

function convertFormer(resource: Resource, { convert }: FormerVersion, object: KubeObject): KubeObject {
  const { group, storageVersion: version } = resource;
  const converted = convert?.(object) ?? object;
  converted.apiVersion = formatGroupVersion({ group, version });
  return defaultObject(converted, { resource, version });
}

/** JSON of a built-in kind as Go reads it. The version that the reference stores, where it is served no more, is read by its conversion. */
function typeDocument(resource: Resource, object: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  const from = parseGroupVersion(apiVersion ?? '')?.version ?? '';
  const row = versionIn(resource, from) ?? (from === resource.upstreamStorageVersion ? undefined : versionIn(resource, resource.storageVersion));
  if (resource.custom || row === undefined) return object;
  const schema = formerIn(resource, apiVersion)?.schema?.() ?? row.schema;
  return { ...decodeObject(schema, object, { keepEmptyLists: true }).object, apiVersion, kind } as KubeObject;
}
