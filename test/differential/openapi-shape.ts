// What OpenAPI documents say without their prose: how they are read from a server, what two sets of them differ in, and a digest of each.
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../src/base/index.ts';
import { type TestClient, eventually } from '../../src/test-support/index.ts';

/** The documents of a server by path: `v2`, `v3/api/v1`. */
export type Documents = ReadonlyMap<string, unknown>;

/** A place at which two sets of documents differ; a side without it is undefined. */
export interface ShapeDifference {
  readonly path: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

type Json = Readonly<Record<string, unknown>>;

const GROUP = 'shapes.example.com';
const WAIT_MS = 20_000;
const names = { plural: 'widgets', kind: 'Widget' };
const part = { type: 'object', required: ['key'], properties: { key: { type: 'string' } } };
const spec = { type: 'object', required: ['port'], properties: {
  replicas: { type: 'integer', format: 'int32', minimum: 0 }, port: { 'x-kubernetes-int-or-string': true }, note: { type: 'string', nullable: true },
  size: { type: 'string', enum: ['large', 'small'], default: 'small' },
  parts: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'], items: part },
} };
const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object', properties: { replicas: { type: 'integer' } } } } } };
const subresources = { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
const widgets = {
  metadata: { name: `widgets.${GROUP}` },
  spec: { group: GROUP, scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, subresources, schema }] },
};


async function read(client: TestClient, path: string): Promise<unknown> {
  const { status, text } = await client.request({ path });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text);
}

/** A copy with keys in order, without descriptions. */
function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key, member]) => key !== 'description' || typeof member !== 'string');
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, withoutProse(member)]));
}

/** The release, which a build of one's own may not know. */
const withoutVersion = (document: unknown): unknown => ({ ...(document as Json), info: { ...(document as { info: Json }).info, version: '' } });

/** Reads all documents of a server, on which it makes a custom kind with subresources, defaults and list types. */
export async function readDocuments(client: TestClient): Promise<Documents> {
  const made = await client.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: widgets });
  if (made.status !== 201) throw new Error(made.text);
  await eventually(async () => {
    const { definitions } = await read(client, '/openapi/v2') as { definitions: Json };
    const { paths } = await read(client, '/openapi/v3') as { paths: Json };
    if (paths[`apis/${GROUP}/v1`] === undefined || definitions['com.example.shapes.v1.Widget'] === undefined) throw new Error('no custom kind');
  }, WAIT_MS);
  const { paths } = await read(client, '/openapi/v3') as { paths: Json };
  const documents = new Map([['v2', await read(client, '/openapi/v2')]]);
  for (const path of Object.keys(paths).sort()) documents.set(`v3/${path}`, await read(client, `/openapi/v3/${path}`));
  return new Map([...documents].map(([path, document]) => [path, withoutProse(withoutVersion(document))]));
}

/** Where two values differ; lists of different lengths differ as a whole. */
function* compare(ours: unknown, theirs: unknown, path: string): Iterable<ShapeDifference> {
  const areLists = Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length;
  if (!areLists && !(isJsonObject(ours) && isJsonObject(theirs))) {
    if (JSON.stringify(ours) !== JSON.stringify(theirs)) yield { path, ours, theirs };
    return;
  }
  const [one, other] = [ours as Json, theirs as Json];
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) yield* compare(one[key], other[key], `${path} > ${key}`);
}

/** Where two sets of documents differ. */
export function differencesOf(ours: Documents, theirs: Documents): ShapeDifference[] {
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((path) => [...compare(ours.get(path), theirs.get(path), path)]);
}

/** A digest of each document. */
export function digestsOf(documents: Documents): Record<string, string> {
  const digest = (document: unknown): string => createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 16);
  return Object.fromEntries([...documents].map(([path, document]) => [path, digest(document)]));
}
