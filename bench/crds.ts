// 750 CustomResourceDefinitions of the size that providers of clouds ship: what they cost in memory, and how soon each kind answers.
// Usage: node dist/bench/crds.js [--kinds N] [--kilobytes N]. Figures in real CRDs (Crossplane, cert-manager, Prometheus operator) are 20 to 400 KB.
import { parseArgs } from 'node:util';
import { Connection } from './load/connection.ts';
import { type Target, readMemoryMb, startOwnServer } from './load/target.ts';

const words = ['allow', 'bucket', 'cluster', 'domain', 'encryption', 'filter', 'gateway', 'health', 'identity', 'key', 'listener', 'mount', 'network'];
const text = 'Sets what the controller of the provider does with the external resource while it is reconciled, and what it leaves to others. ';

type Json = Record<string, unknown>;

/** One field: mostly scalars, some lists and maps, rules now and then; the same for the same number. */
function makeField(n: number, depth: number): Json {
  const description = text.repeat(1 + (n % 3));
  if (depth > 0 && n % 5 === 0) return { description, type: 'object', properties: makeFields(n + 1, 6, depth - 1) };
  if (depth > 0 && n % 7 === 0) return { description, type: 'array', maxItems: 64, items: { type: 'object', properties: makeFields(n + 3, 5, depth - 1) } };
  const kinds: Json[] = [
    { type: 'string', maxLength: 253 }, { type: 'integer', format: 'int64', minimum: 0 }, { type: 'boolean', default: false },
    { type: 'string', enum: ['Always', 'Never', 'IfNotPresent'] }, { type: 'object', additionalProperties: { type: 'string' } },
    { 'x-kubernetes-int-or-string': true }, { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
  ];
  return { description, ...kinds[n % kinds.length] };
}

function makeFields(seed: number, count: number, depth: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${words[(seed + i * 3) % words.length]}${seed % 10}${i}`, makeField(seed + i, depth)]));
}

/** A definition of about `kilobytes`. */
function makeDefinition(index: number, kilobytes: number): Json {
  const plural = `resource${index}s`;
  const group = `service${index % 60}.provider.example.com`;
  const rule = { rule: '!has(self.policy00) || self.policy00.size() < 100', message: 'policy00 is too long' };
  const spec: Json = { type: 'object', properties: { replicas: { type: 'integer' }, policy00: { type: 'string', maxLength: 200 } },
    'x-kubernetes-validations': [rule] };
  const properties = spec['properties'] as Json;
  let bytes = 0;
  for (let i = 0; bytes < kilobytes * 1024; i++) {
    const part = makeField(i * 5, 3);
    properties[`part${i}`] = part;
    bytes += JSON.stringify(part).length;
  }
  const conditions = { type: 'array', items: { type: 'object', required: ['type'], properties: { type: { type: 'string' }, status: { type: 'string' } } },
    'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] };
  const openAPIV3Schema = { type: 'object', description: text, properties: { spec, status: { type: 'object', properties: { conditions } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.${group}` },
    spec: {
      group, scope: 'Cluster', names: { plural, kind: `Resource${index}`, categories: ['managed'] },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } }],
    },
  };
}

/** What came of it. */
interface DefinitionCosts {
  readonly kinds: number;
  readonly kilobytes: number;
  readonly createMs: number;
  readonly rssMb: number;
  readonly peakMb: number;
  /** Milliseconds of the first list, first create and first apply of each kind. */
  readonly first: Readonly<Record<'list' | 'create' | 'apply', { readonly p50: number; readonly p99: number; readonly max: number }>>;
  readonly rssAfterMb: number;
  readonly openApiIndexMs: number;
  readonly openApiIndexAgainMs: number;
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function summarize(latencies: number[]): { p50: number; p99: number; max: number } {
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)) / 10;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** Creates the definitions on a fresh server and uses each kind once. */
export async function measureDefinitions(kinds: number, kilobytes: number): Promise<DefinitionCosts> {
  const target = await startOwnServer();
  try {
    return await measureOn(target, kinds, kilobytes);
  } finally {
    await target.close();
  }
}

async function measureOn(target: Target, kinds: number, kilobytes: number): Promise<DefinitionCosts> {
  const connection = new Connection(target);
  const send = async (call: { method?: string; path: string; body?: unknown; contentType?: string }, wanted: number): Promise<number> => {
    const body = call.body === undefined ? {} : { body: JSON.stringify(call.body) };
    const contentType = call.contentType ?? 'application/json';
    const answer = await connection.send({ path: call.path, ...(call.method !== undefined && { method: call.method }), ...body, contentType, keep: true });
    if (answer.status !== wanted) throw new Error(`${call.path}: ${answer.status} ${answer.body?.toString().slice(0, 300)}`);
    return answer.totalMs;
  };
  const startedMs = performance.now();
  for (let i = 0; i < kinds; i++) await send({ method: 'POST', path: definitions, body: makeDefinition(i, i % 50 === 0 ? kilobytes * 6 : kilobytes) }, 201);
  const createMs = Math.round(performance.now() - startedMs);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const created = readMemoryMb(target);
  const openApiIndexMs = await send({ path: '/openapi/v3' }, 200);
  await send({ method: 'POST', path: definitions, body: makeDefinition(kinds, kilobytes) }, 201);
  const openApiIndexAgainMs = await send({ path: '/openapi/v3' }, 200);
  const latencies: Record<'list' | 'create' | 'apply', number[]> = { list: [], create: [], apply: [] };
  for (let i = 0; i < kinds; i++) {
    const group = `service${i % 60}.provider.example.com`;
    const path = `/apis/${group}/v1beta1/resource${i}s`;
    const object = { apiVersion: `${group}/v1beta1`, kind: `Resource${i}`, metadata: { name: 'a' }, spec: { replicas: 2, policy00: 'x' } };
    latencies.list.push(await send({ path }, 200));
    latencies.create.push(await send({ method: 'POST', path, body: object }, 201));
    const apply = { method: 'PATCH', path: `${path}/a?fieldManager=m&force=true`, contentType: 'application/apply-patch+yaml', body: object };
    latencies.apply.push(await send(apply, 200));
  }
  connection.close();
  const used = readMemoryMb(target);
  return {
    kinds, kilobytes, createMs, rssMb: Math.round(created.nowMb), peakMb: Math.round(used.peakMb), rssAfterMb: Math.round(used.nowMb),
    first: { list: summarize(latencies.list), create: summarize(latencies.create), apply: summarize(latencies.apply) },
    openApiIndexMs: Math.round(openApiIndexMs), openApiIndexAgainMs: Math.round(openApiIndexAgainMs),
  };
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { kinds: { type: 'string', default: '750' }, kilobytes: { type: 'string', default: '60' } } });
  console.log(JSON.stringify(await measureDefinitions(Number(values.kinds), Number(values.kilobytes)), null, 2));
}
