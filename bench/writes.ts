// What writes of real objects cost the server: Pods, Deployments, Nodes, Leases and custom resources of up to 4 KB, created, updated, patched and
// applied through TLS. The server is another process; its CPU per request is what counts. Several servers do the same at the same time, since a
// machine that others use changes its speed from second to second: trust the ratios.
// Usage: node dist/bench/writes.js [--with TREE… | --peer KUBE-APISERVER] [--only 'KIND;OPERATION;KIND OPERATION;…'] [--rounds N] [--calls N] [--warm N]
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type JsonObject, decodeObject, loadSchemas } from '../src/apimachinery/index.ts';
import { encodeEnvelope, encodeMessage } from '../src/codec/index.ts';
import { schemaData } from '../src/resources/schema/index.ts';
import type { Call } from './load/connection.ts';
import { callOnce, measureLoad } from './load/measure.ts';
import { startPeer } from './load/peer.ts';
import { type Target, startOwnServer } from './load/target.ts';
import { type Written, groundwork, written } from './load/written-objects.ts';

const clients = 16;
const objects = 256;
const digits = 8;
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

interface Context {
  readonly kind: Written;
  /** By name: what the server answered last, which the next update changes. */
  readonly answers: ReadonlyMap<string, Buffer>;
  /** What creates with protobuf bodies send, with another name and count. */
  readonly model: Buffer;
}

type Operation = (context: Context, index: number) => Call;

const nameOf = (index: number): string => `write-${String(index).padStart(digits, '0')}`;
const countOf = (index: number): string => String(10 ** (digits - 1) + index);
const nameAt = (index: number): string => nameOf(index % objects);
const pathOf = (kind: Written, index: number): string => `${kind.collection}/${nameAt(index)}`;

/** The objects that the creates of a run make begin here. */
const made = 1_000_000;

/** The object whose bytes become the bodies of others; it is never stored. */
const model = 99_999_999;

const bodyOf = (kind: Written, name: number, index: number): string => JSON.stringify(kind.make(nameOf(name), countOf(index)));

function patch(type: string): Operation {
  return ({ kind }, index) => ({
    method: 'PATCH', path: pathOf(kind, index), contentType: `application/${type}`,
    body: JSON.stringify({ metadata: { annotations: { 'example.com/count': countOf(index) } } }),
  });
}

const patchStatus: Operation = ({ kind }, index) => ({
  method: 'PATCH', path: `${pathOf(kind, index)}/status`, contentType: `application/${kind.custom ? 'merge-patch' : 'strategic-merge-patch'}+json`,
  body: JSON.stringify({ status: kind.status?.(countOf(index)) }),
});

/** A PUT of what the last answer brought, as clients do that read, change and write. */
function update(type: string): Operation {
  return ({ kind, answers }, index) => ({
    method: 'PUT', path: pathOf(kind, index), contentType: type, accept: type, keep: true, body: recounted(answers.get(nameAt(index)) as Buffer, index),
  });
}

const operations: Readonly<Record<string, Operation>> = {
  create: ({ kind }, index) => ({ method: 'POST', path: kind.collection, body: bodyOf(kind, made + index, index) }),
  'create, protobuf': (context, index) => ({
    method: 'POST', path: context.kind.collection, contentType: PROTOBUF, accept: PROTOBUF, body: renamed(recounted(context.model, index), 2 * made + index),
  }),
  update: update('application/json'),
  'update, protobuf': update(PROTOBUF),
  'status patch': patchStatus,
  'merge patch': patch('merge-patch+json'),
  'strategic patch': patch('strategic-merge-patch+json'),
  apply: ({ kind }, index) => ({
    method: 'PATCH', path: `${pathOf(kind, index)}?fieldManager=bench&force=true`, contentType: 'application/apply-patch+yaml',
    body: bodyOf(kind, index % objects, index),
  }),
  delete: ({ kind }, index) => ({ method: 'DELETE', path: `${kind.collection}/${nameOf(made + index)}?gracePeriodSeconds=0` }),
};

const hasOperation = (kind: Written, name: string): boolean =>
  !(name === 'status patch' && kind.status === undefined) && !((name === 'strategic patch' || name.includes('protobuf')) && kind.custom);

/** The bytes of a body, JSON or protobuf, with the count of this call. */
function recounted(body: Buffer, index: number): Buffer {
  const copy = Buffer.from(body);
  const found = /example\.com\/count(?:":"|\x12\x08)\d/.exec(body.toString('latin1'));
  if (found === null) throw new Error('an object without a count');
  copy.write(countOf(index), found.index + found[0].length - 1, 'latin1');
  return copy;
}

/** The bytes of the model with another name. */
function renamed(body: Buffer, name: number): Buffer {
  for (let at = body.indexOf(nameOf(model)); at !== -1; at = body.indexOf(nameOf(model), at + 1)) body.write(nameOf(name), at, 'latin1');
  return body;
}

/** The body of a create in protobuf. */
function encodeModel({ custom, make }: Written): Buffer {
  const object = make(nameOf(model), countOf(0)) as JsonObject & { readonly apiVersion: string; readonly kind: string };
  const [version = '', group = ''] = object.apiVersion.split('/').reverse();
  const schema = custom ? undefined : schemas().forKind({ group, version, kind: object.kind });
  return schema === undefined ? Buffer.alloc(0) : Buffer.from(encodeEnvelope(object, encodeMessage(schema, decodeObject(schema, object).object as JsonObject)));
}

let loaded: ReturnType<typeof loadSchemas> | undefined;
const schemas = () => (loaded ??= loadSchemas(schemaData));

interface Side extends Context {
  readonly target: Target;
  readonly answers: Map<string, Buffer>;
  /** The number of the next call. */
  index: number;
}

async function prepare(target: Target, kind: Written): Promise<Side> {
  const side = { target, kind, index: objects, answers: new Map<string, Buffer>(), model: encodeModel(kind) };
  const setUp = (call: (index: number) => Call) => measureLoad(target, { workload: `set up ${kind.name}`, clients: 8, seconds: 60, limit: objects, call });
  await setUp((index) => ({ method: 'POST', path: kind.collection, body: bodyOf(kind, index, index) }));
  if (kind.status !== undefined) await setUp((index) => patchStatus(side, index));
  return side;
}

/** Reads all objects in the form in which they are going to be updated. */
async function readAll({ target, kind, answers }: Side, name: string): Promise<void> {
  const accept = name.includes('protobuf') ? PROTOBUF : 'application/json';
  await measureLoad(target, {
    workload: `read ${kind.name}`, clients: 1, seconds: 60, limit: objects, call: (index) => ({ path: pathOf(kind, index), accept, keep: true }),
    answered: (index, { body }) => body !== undefined && answers.set(nameAt(index), body),
  });
}

interface Options {
  readonly rounds: number;
  readonly calls: number;
  /** Calls before those that count. */
  readonly warm: number;
  readonly only?: string | undefined;
}

/** CPU of one round, in milliseconds a call. */
async function runRound(side: Side, name: string, calls: number): Promise<number> {
  const first = side.index;
  side.index += calls;
  const operation = operations[name] as Operation;
  const { cpuMsPerOp } = await measureLoad(side.target, {
    workload: `${name} ${side.kind.name}`, clients, seconds: 600, limit: calls, call: (index) => operation(side, first + index),
    answered: (index, { body }) => body !== undefined && side.answers.set(nameAt(first + index), body),
  });
  return cpuMsPerOp;
}

/**
 * One line: what a call costs each server, and the ratios of the first to the others. All servers do each round at once, so that the speed that the
 * machine has at the moment is that of all of them. Deletes follow the creates, of the same names.
 */
async function measureOperation(sides: readonly Side[], kind: Written, name: string, { rounds, calls, warm }: Options): Promise<string> {
  const sums = sides.map(() => 0);
  // Fewer calls than objects: a round never has two calls on one object under way.
  const warmRounds = Math.ceil(warm / calls);
  if (name.startsWith('update')) await Promise.all(sides.map((side) => readAll(side, name)));
  for (let round = 0; round < warmRounds + rounds; round++) {
    if (name === 'delete') await Promise.all(sides.map((side) => runRound({ ...side }, 'create', calls)));
    const costs = await Promise.all(sides.map((side) => runRound(side, name, calls)));
    for (const [at, cost] of round < warmRounds ? [] : costs.entries()) sums[at] = (sums[at] as number) + cost;
  }
  const columns = sums.map((sum) => `${(sum / rounds).toFixed(3)} ms`);
  const ratios = sums.slice(1).map((sum) => ((sums[0] as number) / sum).toFixed(2));
  return `${kind.name.padEnd(16)}${name.padEnd(18)}${columns.join('  ')}${ratios.length === 0 ? '' : `  CPU ratio ${ratios.join(' ')}`}`;
}

/** Measures all that `only` names, and prints a line for each. */
async function run(targets: readonly Target[], options: Options): Promise<void> {
  for (const target of targets) {
    for (const call of groundwork) await callOnce(target, call);
  }
  // The definition becomes served, and controllers come to rest.
  await sleep(2000);
  const parts = options.only?.split(';');
  const wanted = ({ name }: Written, operation: string): boolean => [name, operation, `${name} ${operation}`].some((text) => parts?.includes(text) ?? true);
  for (const kind of written) {
    const names = Object.keys(operations).filter((name) => hasOperation(kind, name) && wanted(kind, name));
    if (names.length === 0) continue;
    const sides = [];
    for (const target of targets) sides.push(await prepare(target, kind));
    for (const name of names) process.stdout.write(`${await measureOperation(sides, kind, name, options)}\n`);
  }
}

async function startTargets(others: readonly string[], peer: string | undefined): Promise<Target[]> {
  const targets: Target[] = [await startOwnServer()];
  for (const other of others) targets.push(await startOwnServer([], resolve(other, 'dist/bin/pintle.js')));
  if (peer !== undefined) targets.push(await startPeer(peer));
  return targets;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      with: { type: 'string', multiple: true }, peer: { type: 'string' }, only: { type: 'string' },
      rounds: { type: 'string' }, calls: { type: 'string' }, warm: { type: 'string' },
    },
  });
  const targets = await startTargets(values.with ?? [], values.peer);
  try {
    await run(targets, { rounds: Number(values.rounds ?? 20), calls: Number(values.calls ?? 150), warm: Number(values.warm ?? 1000), only: values.only });
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}
