// The object of a BOOKMARK event: the zero value of its Go type with a resourceVersion, as upstream encodes it.
import type { Field, KubeObject, Schema } from '../../apimachinery/index.ts';
import { versionIn } from '../../registry/index.ts';
import { apiVersionOf, schemaOf } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { INITIAL_EVENTS_END } from '../response/table.ts';

const typeFields = new Set(['kind', 'apiVersion', 'metadata']);
const nullFormats = new Set(['time', 'micro-time', 'raw', 'fields-v1', 'json', 'byte']);
const MAX_DEPTH = 20;

function zeroOf({ schema, pointer }: Field, depth: number): unknown {
  if (pointer || nullFormats.has(schema.format ?? '')) return null;
  if (schema.type === 'object' && schema.fields) return zeroFields(schema, depth + 1);
  if (schema.type === 'string') return '';
  if (schema.type === 'integer' || schema.type === 'number') return 0;
  return schema.type === 'boolean' ? false : null;
}

/** The fields that Go writes even when they are empty. */
function zeroFields(schema: Schema, depth = 0): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, field] of schema.fields ?? []) {
    if (!field.omitEmpty && depth < MAX_DEPTH && !(depth === 0 && typeFields.has(name))) out[name] = zeroOf(field, depth);
  }
  return out;
}

/** Upstream makes bookmarks of the internal type, where `spec.replicas` is no pointer and so is written as 0. */
function zeroBody(request: ResourceRequest): Record<string, unknown> {
  const body = zeroFields(schemaOf(request));
  const spec = body['spec'];
  if (versionIn(request.resource, request.target.version)?.scale && typeof spec === 'object' && spec !== null) body['spec'] = { replicas: 0, ...spec };
  return body;
}

/** Makes the object of a bookmark. */
export function bookmarkObject(request: ResourceRequest, { revision, initialEventsEnd }: { revision: number; initialEventsEnd: boolean }): KubeObject {
  const annotations = initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {};
  const resourceVersion = String(revision);
  const apiVersion = apiVersionOf(request);
  const { kind, custom } = request.resource;
  if (custom) return { apiVersion, kind, metadata: { ...annotations, resourceVersion } };
  return { kind, apiVersion, metadata: { resourceVersion, ...annotations }, ...zeroBody(request) };
}
