// The two servers that are compared, as processes with the same flags, and the requests of a case on one of them.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type EtcdCluster, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestClient, createTestClient, eventually, findPorts } from '../../src/test-support/index.ts';
import type { Case, Json, Request } from './case.ts';
import { type Answer, type Received, normalise, readField } from './normalise.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The program of this server. */
export const PINTLE = path.join(root, 'dist/bin/pintle.js');

const START_MS = 240_000;
const UNTIL_MS = 20_000;
/** Stands for an answer that never became as a request wanted it. */
export const NEVER = 'never';
const ANSWER_MS = 30_000;

/** Loops that belong to kube-controller-manager, which does not run beside the peer. */
export const CONTROLLERS = [
  '*', '-garbage-collector', '-namespace', '-serviceaccount', '-serviceaccount-token', '-root-ca-cert-publisher', '-clusterrole-aggregation', '-csrsigning',
  '-resourcequota', '-validatingadmissionpolicy-status', '-pvc-protection', '-pv-protection', '-vac-protection',
];

export const TOKENS = 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"devs"\nbob-token,bob,bob-uid,"ops"\n';

/** A running server. */
export interface Peer {
  readonly url: string;
  readonly client: TestClient;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
}

/** Ends of the servers that run: whatever ends this process ends them. */
const ends = new Set<() => void>();
process.on('exit', () => {
  for (const end of ends) end();
});

function endWithUs(child: ChildProcess): void {
  const end = (): void => void child.kill('SIGKILL');
  ends.add(end);
  child.once('exit', () => ends.delete(end));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

async function start(command: string, args: readonly string[], { port, log }: { readonly port: number; readonly log: string }): Promise<Peer> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', process.env['DIFFERENTIAL_LOG'] === undefined ? openSync(log, 'w') : 'inherit'] });
  endWithUs(child);
  const url = `https://127.0.0.1:${port}`;
  const client = createTestClient(url, 'admin-token');
  await eventually(async () => {
    if (child.exitCode !== null) return;
    const { status } = await client.request({ path: '/readyz' });
    if (status !== 200) throw new Error(`readyz: ${status}`);
  }, START_MS);
  if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${args.join(' ')} (DIFFERENTIAL_LOG=1 shows why)`);
  return {
    url, client,
    signal: (name) => void child.kill(name),
    async stop() {
      client.close();
      child.kill('SIGTERM');
      await endOf(child);
    },
  };
}

/** How a server is started: where its files are, its etcd if it has one, and flags beside those that all have. */
export interface Start {
  readonly directory: string;
  readonly etcd?: string;
  readonly flags?: readonly string[];
  /** Loops of kube-controller-manager that run: here in the server, beside the peer in the program of that name from its directory. */
  readonly loops?: readonly string[];
}

/** Starts a program with kube-apiserver's flags: `peer`, or this server where none is given. */
export async function startServer({ directory, etcd, flags = [], loops = [] }: Start, peer?: string): Promise<Peer> {
  const file = (name: string): string => path.join(directory, name);
  const [port] = await findPorts(1) as [number];
  const has = (beginning: string): boolean => flags.some((flag) => flag.startsWith(beginning));
  const shared = [`--secure-port=${port}`, '--bind-address=127.0.0.1', `--token-auth-file=${file('tokens.csv')}`, ...(has('--authorization-') ? []
    : ['--authorization-mode=RBAC']), '--service-cluster-ip-range=10.0.0.0/16', '--allow-privileged=true', '--disable-admission-plugins=ServiceAccount',
    ...(etcd === undefined ? [] : [`--etcd-servers=${etcd}`]), ...flags];
  writeFileSync(file('tokens.csv'), TOKENS, { mode: 0o600 });
  if (peer === undefined) {
    return start(process.execPath, [PINTLE, ...shared, `--controllers=${CONTROLLERS.filter((each) => !loops.includes(each.slice(1))).join()}`,
      ...(etcd === undefined ? [`--data-dir=${file('data')}`] : [`--cert-dir=${file('certs')}`])], { port, log: file('log') });
  }
  writeFileSync(file('sa.key'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const keys = has('--service-account-signing-endpoint') ? []
    : [`--service-account-key-file=${file('sa.key')}`, `--service-account-signing-key-file=${file('sa.key')}`];
  const server = await start(peer, [...shared, `--cert-dir=${file('certs')}`, ...keys, '--service-account-issuer=https://kubernetes.default.svc'],
  { port, log: file('log') });
  return loops.length === 0 ? server : withLoops(server, { directory, loops, program: path.join(path.dirname(peer), 'kube-controller-manager') });
}

/** A peer with loops of kube-controller-manager's beside it. */
function withLoops(server: Peer, { directory, loops, program }: { readonly directory: string; readonly loops: readonly string[]; readonly program: string }):
Peer {
  const kubeconfig = path.join(directory, 'loops.kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify({
    apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'peer', cluster: { 'server': server.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'admin', user: { token: 'admin-token' } }], contexts: [{ name: 'peer', context: { cluster: 'peer', user: 'admin' } }],
    'current-context': 'peer',
  }), { mode: 0o600 });
  const manager = spawn(program, [`--kubeconfig=${kubeconfig}`, `--controllers=${loops.map((loop) => `${loop}-controller`).join()}`, '--leader-elect=false',
    '--secure-port=0'], { stdio: 'ignore' });
  endWithUs(manager);
  return { ...server, async stop() {
    manager.kill('SIGKILL');
    await server.stop();
  } };
}

/** A directory for a server's files, in memory where that can be. */
export const makeDirectory = (): string => mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pintle-differential-'));

/** An etcd that ends with this process. */
export async function startEtcd(): Promise<EtcdCluster> {
  const etcd = await startCluster();
  const end = (): void => etcd.members.forEach((member) => member.signal('SIGKILL'));
  ends.add(end);
  return { ...etcd, async stop() {
    ends.delete(end);
    await etcd.stop();
  } };
}

/** Starts this server, and the peer on an etcd of its own. */
export async function startBoth(program: string): Promise<{ readonly ours: Peer; readonly theirs: Peer; stop(): Promise<void> }> {
  const directories = [makeDirectory(), makeDirectory()] as const;
  const etcd = await startEtcd();
  const [ours, theirs] = await Promise.all([startServer({ directory: directories[0] }),
    startServer({ directory: directories[1], etcd: etcd.endpoints.join() }, program)]);
  return {
    ours, theirs,
    async stop() {
      await Promise.all([ours.stop(), theirs.stop()]);
      await etcd.stop();
      for (const directory of directories) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Puts the names of a case and what its answers held into a request. */
function fill<T>(value: T, names: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value).replace(/\{([a-zA-Z]\w*)\}/g, (all, name: string) => {
    const known = names.get(name);
    return known === undefined ? all : JSON.stringify(known).slice(1, -1);
  });
  return JSON.parse(text) as T;
}

const isAsWanted = ({ field, equals }: NonNullable<Request['until']>, { body }: Received): boolean =>
  JSON.stringify(readField(body, field)) === JSON.stringify(equals);

/** The body of an answer; texts that are JSON, as some documents are sent, are read as well. */
function readBody({ body, text }: Received): unknown {
  try {
    return body ?? JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function send(client: TestClient, request: Request): Promise<Received> {
  const headers = {
    'user-agent': 'differential', ...(request.type !== undefined && { 'content-type': request.type }),
      ...(request.accept !== undefined && { accept: request.accept }), ...request.headers,
  };
  const { method, path: at, body, as, until } = request;
  const sent = { ...(method !== undefined && { method }), path: at, ...(body !== undefined && { body }), headers,
    ...(as !== undefined && { token: as === 'nobody' ? null : `${as}-token` }) };
  const deadlineMs = performance.now() + UNTIL_MS;
  for (;;) {
    const response = await client.request(sent);
    if (until === undefined || isAsWanted(until, response) || performance.now() > deadlineMs) return response;
    await sleep(20);
  }
}

/** The answer, or one of status 0 in its place. */
async function sendInTime(client: TestClient, request: Request): Promise<Received> {
  const late = sleep(ANSWER_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('no answer in time')));
  const none = (error: Error): Received => ({ status: 0, headers: {}, text: error.message, body: undefined });
  return Promise.race([send(client, request), late]).catch(none);
}

/** Runs a case; the answers are normalised. An answer that never came has status 0. */
export async function runCase(client: TestClient, { requests }: Case, id: string): Promise<Answer[]> {
  const names = new Map([['id', id], ['ns', `ns-${id}`]]);
  const seen = new Map<string, string>();
  const answers: Answer[] = [];
  const created: string[] = [];
  const usesNamespace = JSON.stringify(requests).includes('{ns}');
  if (usesNamespace) await client.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: `ns-${id}` } } });
  for (const given of requests) {
    const request = fill(given, names);
    if (given.pauseMs !== undefined) await sleep(given.pauseMs);
    const response = await sendInTime(client, request);
    for (const [name, field] of Object.entries(given.save ?? {})) names.set(name, String((field.startsWith('headers.')
      ? response.headers[field.slice('headers.'.length)] : readField(readBody(response), field)) ?? 'absent'));
    if (response.status === 201) created.push(...listMade(request, response.body as Json | undefined));
    if (request.until === undefined) answers.push(normalise(response, { id, seen }, request));
    else answers.push({ status: -1, ...(!isAsWanted(request.until, response) && { body: NEVER }) });
    if (given.isNeeded === true && response.status >= 400) break;
  }
  for (const at of created.reverse()) await client.request({ method: 'DELETE', path: at });
  return answers;
}

/**
 * The path of the object that a request has made, if it is removed after its case: objects outside of the namespace of the case are, and those that hold
 * something scarce.
 */
function listMade({ method, path: at }: Request, made: Json | undefined): readonly string[] {
  const [place, query = ''] = at.split('?') as [string, string?];
  const name = made?.['metadata']?.name as string | undefined;
  const collection = method === 'POST' ? place : /^(.*?)\/[^/]+(?:\/status)?$/.exec(place)?.[1] ?? place;
  const isKept = collection.endsWith('/namespaces') || (collection.includes('/namespaces/') && !collection.endsWith('/services'));
  return name === undefined || query.includes('dryRun') || isKept ? [] : [`${collection}/${name}`];
}
