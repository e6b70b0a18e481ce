// W13: what admission adds to a create: webhooks over TLS beside a bare round trip to the same webhook, policies, and configurations that match nothing.
// Requests with and without are sent in turn, so that what else the machine does meets both.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
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

/** Sends these calls in turn over a connection each, for as long as it is to last; answers the latencies of each. */
async function measureInTurn(seconds: number, sides: readonly { readonly at: Pick<Target, 'url' | 'token'>; readonly call: (index: number) => Call }[]):
Promise<readonly number[][]> {
  const connections = sides.map(({ at }) => new Connection(at));
  const latencies = sides.map((): number[] => []);
  const startedMs = performance.now();
  for (let index = 0; performance.now() - startedMs < seconds * 1000; index++) {
    for (const [side, { call }] of sides.entries()) {
      const { status, totalMs } = await (connections[side] as Connection).send(call(index));
      if (status > 299) throw new Error(`the answer is ${status}`);
      latencies[side]!.push(totalMs);
    }
  }
  for (const connection of connections) connection.close();
  // The first ones meet code that has not been compiled yet.
  return latencies.map((values) => values.slice(Math.floor(values.length / 5)));
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
  creates(namespace: Namespace): { readonly at: Target; readonly call: (index: number) => Call } {
    const prefix = `${this.#run}-${this.#phase++}`;
    return { at: this.#target, call: (index) => createCall(pathOf(namespace), prefix, index) };
  }

  #row(workload: string, latencies: number[], extra: Readonly<Record<string, number>>): Row {
    return makeRow(this.#target, { workload, latencies, elapsedMs: Number.NaN, usedMs: Number.NaN, extra });
  }

  async validating(): Promise<Row> {
    const clientConfig = { url: `${this.#hook.url}/validate`, caBundle: this.#hook.caBundle };
    await send(this.#target, 'POST', `${REGISTRATION}/validatingwebhookconfigurations`,
      configuration('bench', webhookOf('validate.bench.example.com', clientConfig, within('bench-validated', 'bench-both'))));
    await settle();
    const filler = 'x'.repeat(2600);
    const roundTrip = { at: this.#hook, call: () => ({ method: 'POST', path: '/echo', body: filler }) };
    const [plain, hooked, bare] = await measureInTurn(this.#seconds, [this.creates('bench-plain'), this.creates('bench-validated'), roundTrip]);
    const [plainMs, hookedMs, bareMs] = [plain!, hooked!, bare!].map((values) => quantile(values, 0.5)) as [number, number, number];
    return this.#row('W13 one validating webhook', hooked!, {
      plainP50Ms: plainMs, roundTripP50Ms: bareMs, addedMs: round(hookedMs - plainMs), addedPerRoundTrip: round((hookedMs - plainMs) / bareMs),
    });
  }

  async both(): Promise<Row> {
    const clientConfig = { url: `${this.#hook.url}/mutate`, caBundle: this.#hook.caBundle };
    await send(this.#target, 'POST', `${REGISTRATION}/mutatingwebhookconfigurations`,
      configuration('bench', webhookOf('mutate.bench.example.com', clientConfig, within('bench-both'))));
    await settle();
    const { call } = this.creates('bench-both');
    return measureLoad(this.#target, { workload: 'W13 both webhooks c=64', clients: 64, seconds: this.#seconds, call });
  }

  async policies(): Promise<Row> {
    await each(POLICIES, async (index) => {
      await send(this.#target, 'POST', `${REGISTRATION}/validatingadmissionpolicies`, policyOf(index));
      await send(this.#target, 'POST', `${REGISTRATION}/validatingadmissionpolicybindings`, bindingOf(index));
    });
    await settle();
    const cpuMs = readCpuMs(this.#target);
    const [plain, policed] = await measureInTurn(this.#seconds, [this.creates('bench-plain'), this.creates('bench-policed')]);
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
    const measure = async (): Promise<number[]> => (await measureInTurn(this.#seconds / 2, [this.creates('bench-plain')]))[0]!;
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
    const { call } = bench.creates('bench-plain');
    await measureLoad(target, { workload: 'warm up', clients: 16, seconds: Math.min(1, seconds), call });
    return [await bench.unmatched(), await bench.validating(), await bench.both(), await bench.policies()];
  } finally {
    for (const sort of ['validating', 'mutating']) await send(target, 'DELETE', `${REGISTRATION}/${sort}webhookconfigurations/bench`);
    await hook.close();
  }
}
