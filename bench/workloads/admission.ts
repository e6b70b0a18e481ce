// W13: what admission adds to a create: webhooks over TLS beside a bare round trip to the same webhook, policies, and configurations that match nothing.
// Requests with and without are sent in turn, so that what else the machine does meets both.
import { fork } from 'node:child_process';
import { Agent, request } from 'node:https';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/index.ts';
import { CallEnd, hostOf } from '../../src/server/webhooks/http-call.ts';
import { KeptConnections } from '../../src/server/webhooks/kept-connections.ts';
import { type Call, Connection } from '../load/connection.ts';
import { callOnce, makeRow, measureLoad, quantile, round, type Row, type Scale } from '../load/measure.ts';
import { createCall } from '../load/objects.ts';
import { type Target, endChild, readCpuMs } from '../load/target.ts';

interface Hook extends Pick<Target, 'url' | 'token'> {
  /** PEM in base64. */
  readonly caBundle: string;
  close(): Promise<void>;
}

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = 100;
const EXPRESSIONS = 5;
const UNMATCHED = 500;
/** Calls in a row of one side, where CPU is measured. */
const TURN = 50;
const MOST_BYTES = 10_000;
const namespaces = ['bench-plain', 'bench-validated', 'bench-both', 'bench-policed'] as const;
type Namespace = (typeof namespaces)[number];

const pathOf = (namespace: Namespace): string => `/api/v1/namespaces/${namespace}/configmaps`;
const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
const within = (...names: readonly Namespace[]): object => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: names }],
});

async function startHook(): Promise<Hook> {
  const child = fork(fileURLToPath(new URL('../load/webhook.child.js', import.meta.url)));
  const { port, authority } = await new Promise<{ readonly port: number; readonly authority: string }>((resolve) =>
    child.once('message', (message) => resolve(message as { port: number; authority: string })));
  return { url: `https://127.0.0.1:${port}`, token: '', caBundle: Buffer.from(authority).toString('base64'), close: () => endChild(child) };
}

async function send(target: Target, method: string, path: string, body?: object): Promise<void> {
  const { status } = await callOnce(target, { method, path, ...(body !== undefined && { body: JSON.stringify(body) }) });
  if (status >= 300 && status !== 404 && status !== 409) throw new Error(`${method} ${path}: ${status}`);
}

const webhookOf = (name: string, clientConfig: object, namespaceSelector: object): object => ({
  name, clientConfig, namespaceSelector, rules, sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 10,
});

const configuration = (name: string, ...webhooks: readonly object[]): object => ({ metadata: { name }, webhooks });

/** A policy whose expressions hold for the objects of the bench, and its binding. */
const policyOf = (index: number): object => ({
  metadata: { name: `bench-${index}` },
  spec: {
    matchConstraints: { resourceRules: rules, namespaceSelector: within('bench-policed') },
    validations: [
      'has(object.data)', 'object.data.size() < 100', `object.metadata.name != 'forbidden-${index}'`,
      '!has(object.metadata.labels) || object.metadata.labels.all(key, key.size() < 64)', `!object.metadata.name.startsWith('x${index}-')`,
    ].slice(0, EXPRESSIONS).map((expression) => ({ expression })),
  },
});

const bindingOf = (index: number): object => ({
  metadata: { name: `bench-${index}` }, spec: { policyName: `bench-${index}`, validationActions: ['Deny'] },
});

const each = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  for (let at = 0; at < count; at += 32) await Promise.all(Array.from({ length: Math.min(32, count - at) }, (_, index) => work(at + index)));
};

/** One of the things that are measured in turn: sends its call of this number and resolves to its latency. */
type Side = (index: number) => Promise<number>;

/** Creates or other calls over a connection of their own. */
function sendOver(at: Pick<Target, 'url' | 'token'>, call: (index: number) => Call): Side {
  const connection = new Connection(at);
  return async (index) => {
    const { status, totalMs } = await connection.send(call(index));
    if (status > 299) throw new Error(`the answer is ${status}`);
    return totalMs;
  };
}

/** Has these sent one after the other, for as long as it is to last; answers the latencies of each. */
async function measureInTurn(seconds: number, sides: readonly Side[]): Promise<readonly number[][]> {
  const latencies = sides.map((): number[] => []);
  const startedMs = performance.now();
  for (let index = 0; performance.now() - startedMs < seconds * 1000; index++) {
    for (const [side, send] of sides.entries()) latencies[side]!.push(await send(index));
  }
  // The first ones meet code that has not been compiled yet.
  return latencies.map((values) => values.slice(Math.floor(values.length / 5)));
}

/** The CPU that the server spends on a call of each side, in turns of many: it is counted in hundredths of a second. */
async function measureCpu(target: Target, seconds: number, sides: readonly Side[]): Promise<readonly number[]> {
  const spentMs = sides.map(() => 0);
  let turns = 0;
  const startedMs = performance.now();
  for (; turns === 0 || performance.now() - startedMs < seconds * 1000; turns++) {
    for (const [side, send] of sides.entries()) {
      const before = readCpuMs(target);
      for (let index = 0; index < TURN; index++) await send(turns * TURN + index);
      spentMs[side]! += readCpuMs(target) - before;
    }
  }
  return spentMs.map((ms) => ms / (turns * TURN));
}

/** Round trips to the webhook with a review that a server has sent it, by a client that does nothing else, and the CPU that they take. */
class BareClient {
  readonly #post: (review: string) => Promise<void>;
  readonly #review: string;
  cpuMs = 0;
  calls = 0;

  constructor(review: string, post: (review: string) => Promise<void>) {
    this.#review = review;
    this.#post = post;
  }

  readonly send: Side = async () => {
    const before = process.cpuUsage();
    const startedMs = performance.now();
    await this.#post(this.#review);
    const totalMs = performance.now() - startedMs;
    const { user, system } = process.cpuUsage(before);
    this.cpuMs += (user + system) / 1000;
    this.calls += 1;
    return totalMs;
  };
}

/** Posts over one connection that is kept, by Node's own client. */
function postByNode({ url, caBundle }: Hook): { readonly post: (review: string) => Promise<void>; close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: Buffer.from(caBundle, 'base64').toString(), allowPartialTrustChain: true });
  const headers = { accept: 'application/json, */*', 'content-type': 'application/json' };
  const post = (review: string): Promise<void> => new Promise((resolve, reject) => {
    const call = request(`${url}/validate`, { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(review) } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject).on('end', () => {
        JSON.parse(Buffer.concat(chunks).toString());
        resolve();
      });
    });
    call.on('error', reject).end(review);
  });
  return { post, close: () => agent.destroy() };
}

/** The same by the connections that servers call webhooks over. */
function postByServers({ url, caBundle }: Hook): ReturnType<typeof postByNode> {
  const connections = new KeptConnections({ ca: Buffer.from(caBundle, 'base64').toString(), allowPartialTrustChain: true }, { clock: systemClock });
  const at = hostOf(new URL(url));
  const headers = { host: new URL(url).host, accept: 'application/json, */*' };
  const post = async (review: string): Promise<void> => {
    const end = new CallEnd(systemClock, { timeoutMs: 10_000 });
    const { body } = await connections.send({ ...at, method: 'POST', path: '/validate', headers, body: review }, end, MOST_BYTES);
    end.dispose();
    JSON.parse(body.toString());
  };
  return { post, close: () => connections.destroy() };
}

class AdmissionBench {
  readonly #target: Target;
  readonly #hook: Hook;
  readonly #seconds: number;
  readonly #run = `w13-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`;
  #phase = 0;

  constructor(target: Target, hook: Hook, seconds: number) {
    this.#target = target;
    this.#hook = hook;
    this.#seconds = seconds;
  }

  /** Creates in a namespace, with names of their own. */
  creates(namespace: Namespace): (index: number) => Call {
    const prefix = `${this.#run}-${this.#phase++}`;
    return (index) => createCall(pathOf(namespace), prefix, index);
  }

  #create(namespace: Namespace): Side {
    return sendOver(this.#target, this.creates(namespace));
  }

  #row(workload: string, latencies: number[], extra: Readonly<Record<string, number>>): Row {
    return makeRow(this.#target, { workload, latencies, elapsedMs: Number.NaN, usedMs: Number.NaN, extra });
  }

  async validating(): Promise<Row> {
    const clientConfig = { url: `${this.#hook.url}/validate`, caBundle: this.#hook.caBundle };
    await send(this.#target, 'POST', `${REGISTRATION}/validatingwebhookconfigurations`,
      configuration('bench', webhookOf('validate.bench.example.com', clientConfig, within('bench-validated', 'bench-both'))));
    await settle();
    await this.#create('bench-validated')(0);
    const review = (await callOnce({ ...this.#target, ...this.#hook }, { path: '/last', keep: true })).body!.toString();
    const [byNode, byServers] = [postByNode(this.#hook), postByServers(this.#hook)];
    const [bare, own] = [new BareClient(review, byNode.post), new BareClient(review, byServers.post)];
    const sides = [this.#create('bench-plain'), this.#create('bench-validated'), bare.send, own.send];
    const latencies = await measureInTurn(this.#seconds, sides);
    const [plainMs, hookedMs, bareMs, ownMs] = latencies.map((values) => quantile(values, 0.5)) as [number, number, number, number];
    byNode.close();
    byServers.close();
    const [plainCpuMs, hookedCpuMs] = await measureCpu(this.#target, this.#seconds, [this.#create('bench-plain'), this.#create('bench-validated')]);
    const addedCpuMs = hookedCpuMs! - plainCpuMs!;
    const bareCpuMs = bare.cpuMs / bare.calls;
    return this.#row('W13 one validating webhook', latencies[1]!, {
      plainP50Ms: plainMs, roundTripP50Ms: bareMs, ownRoundTripP50Ms: ownMs, addedMs: round(hookedMs - plainMs),
      addedPerRoundTrip: round((hookedMs - plainMs) / bareMs),
      plainCpuMs: round(plainCpuMs!), addedCpuMs: round(addedCpuMs), roundTripCpuMs: round(bareCpuMs), ownRoundTripCpuMs: round(own.cpuMs / own.calls),
      addedCpuPerRoundTrip: round(addedCpuMs / bareCpuMs), reviewBytes: Buffer.byteLength(review),
    });
  }

  async both(): Promise<Row> {
    const clientConfig = { url: `${this.#hook.url}/mutate`, caBundle: this.#hook.caBundle };
    await send(this.#target, 'POST', `${REGISTRATION}/mutatingwebhookconfigurations`,
      configuration('bench', webhookOf('mutate.bench.example.com', clientConfig, within('bench-both'))));
    await settle();
    const call = this.creates('bench-both');
    return measureLoad(this.#target, { workload: 'W13 both webhooks c=64', clients: 64, seconds: this.#seconds, call });
  }

  async policies(): Promise<Row> {
    await each(POLICIES, async (index) => {
      await send(this.#target, 'POST', `${REGISTRATION}/validatingadmissionpolicies`, policyOf(index));
      await send(this.#target, 'POST', `${REGISTRATION}/validatingadmissionpolicybindings`, bindingOf(index));
    });
    await settle();
    const cpuMs = readCpuMs(this.#target);
    const [plain, policed] = await measureInTurn(this.#seconds, [this.#create('bench-plain'), this.#create('bench-policed')]);
    const [plainMs, policedMs] = [quantile(plain!, 0.5), quantile(policed!, 0.5)];
    await each(POLICIES, async (index) => {
      for (const plural of ['validatingadmissionpolicybindings', 'validatingadmissionpolicies']) {
        await send(this.#target, 'DELETE', `${REGISTRATION}/${plural}/bench-${index}`);
      }
    });
    return this.#row(`W13 ${POLICIES} policies of ${EXPRESSIONS}`, policed!, {
      plainP50Ms: plainMs, addedMs: round(policedMs - plainMs), cpuMsPerPair: round((readCpuMs(this.#target) - cpuMs) / (policed!.length * 1.25)),
    });
  }

  /** The same creates before and after the configurations, twice. */
  async unmatched(): Promise<Row> {
    const clientConfig = { url: `${this.#hook.url}/validate`, caBundle: this.#hook.caBundle };
    const [without, having]: [number[], number[]] = [[], []];
    const measure = async (): Promise<number[]> => (await measureInTurn(this.#seconds / 2, [this.#create('bench-plain')]))[0]!;
    for (let time = 0; time < 2; time++) {
      without.push(...await measure());
      await each(UNMATCHED, (index) => send(this.#target, 'POST', `${REGISTRATION}/validatingwebhookconfigurations`,
        configuration(`bench-none-${index}`, webhookOf('none.bench.example.com', clientConfig, within('bench-validated')))));
      await settle();
      having.push(...await measure());
      await each(UNMATCHED, (index) => send(this.#target, 'DELETE', `${REGISTRATION}/validatingwebhookconfigurations/bench-none-${index}`));
      await settle();
    }
    const [withoutMs, havingMs] = [quantile(without, 0.5), quantile(having, 0.5)];
    return this.#row(`W13 ${UNMATCHED} that do not match`, having, { plainP50Ms: withoutMs, addedMs: round(havingMs - withoutMs) });
  }
}

/** Servers hear of configurations by watch. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1500));

/** What admission adds. */
export async function measureAdmission(target: Target, { seconds }: Scale): Promise<Row[]> {
  const hook = await startHook();
  try {
    for (const name of namespaces) await send(target, 'POST', '/api/v1/namespaces', { metadata: { name } });
    const bench = new AdmissionBench(target, hook, seconds);
    const call = bench.creates('bench-plain');
    await measureLoad(target, { workload: 'warm up', clients: 16, seconds: Math.min(1, seconds), call });
    return [await bench.unmatched(), await bench.validating(), await bench.both(), await bench.policies()];
  } finally {
    for (const sort of ['validating', 'mutating']) await send(target, 'DELETE', `${REGISTRATION}/${sort}webhookconfigurations/bench`);
    await hook.close();
  }
}
