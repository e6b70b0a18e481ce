// Stored bytes of other origin (another apiserver on the same etcd, another release: protobuf, JSON without our mark, another version) as objects of
// the storage version. They are typed and filled in as the reference does whenever it decodes: what lacks a default in the store has it when it is read.
import { type KubeObject, decodeObject, parseGroupVersion } from '../../apimachinery/index.ts';
import { CborError, decodeEnvelope, decodeMessage, isCbor, isProtobuf, parseCbor, parseJsonInParts } from '../../codec/index.ts';
import { defaultObject } from '../fields/defaults.ts';
import { type Layout, convertObject } from './layout.ts';
import { type Resource, versionIn } from '../resource.ts';

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
  if (!isProtobuf(bytes)) return toStorageVersion(resource, typeDocument(resource, parseDocument(bytes)));
  const envelope = decodeEnvelope(bytes);
  const version = parseGroupVersion(envelope.apiVersion)?.version ?? resource.storageVersion;
  const known = versionIn(resource, version) !== undefined ? version : resource.storageVersion;
  const object = decodeMessage(layout.schema(known), envelope.raw) as unknown as KubeObject;
  return toStorageVersion(resource, { ...object, apiVersion: envelope.apiVersion, kind: resource.kind });
}

function toStorageVersion(resource: Resource, object: KubeObject): KubeObject {
  object.metadata ??= {};
  const { storageVersion, custom } = resource;
  const from = parseGroupVersion(object.apiVersion ?? '')?.version ?? '';
  const known = versionIn(resource, from) !== undefined || from === resource.upstreamStorageVersion ? from : storageVersion;
  return convertObject(resource, custom ? object : defaultObject(object, { resource, version: known }), { from: known, to: storageVersion });
}

/** JSON of a built-in kind as Go reads it. A version that is served no more has no schema: its conversion reads it. */
function typeDocument(resource: Resource, object: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  const from = parseGroupVersion(apiVersion ?? '')?.version ?? '';
  const row = versionIn(resource, from) ?? (from === resource.upstreamStorageVersion ? undefined : versionIn(resource, resource.storageVersion));
  if (resource.custom || row === undefined) return object;
  return { ...decodeObject(row.schema, object, { keepEmptyLists: true }).object, apiVersion, kind } as KubeObject;
}
