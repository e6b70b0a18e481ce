// What Pulumi does with its kubernetes provider on a server, from the first preview to the destruction of the stack: server-side apply with field managers of
// its own and by its older way of patches, definitions and objects of their kinds, drift, conflicts, patches of objects of others, imports and replacements.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '../../src/test-support/index.ts';
import type { Peer } from '../differential/servers.ts';
import type { Life } from './lives.ts';
import { type Stage, chart, program } from './pulumi-program.ts';

/** One command: how it ended, what it did or would do to which resources, what it said, and for a preview all that it has found. */
export interface Step {
  readonly name: string;
  readonly code: number;
  readonly operations: readonly string[];
  readonly said?: readonly string[];
  readonly found?: unknown;
}

interface Resource {
  readonly op: string;
  readonly urn: string;
}

interface Message {
  readonly severity: string;
  readonly message: string;
}

interface Event {
  readonly resOutputsEvent?: { readonly metadata: Resource };
  readonly resOpFailedEvent?: { readonly metadata: Resource };
  readonly diagnosticEvent?: Message;
}

const paths = [
  ...['configmaps/settings', 'secrets/key', 'services/web'].map((path) => `/api/v1/namespaces/shop/${path}`), '/api/v1/namespaces/shop',
  '/apis/apps/v1/namespaces/shop/deployments/web', '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles/web',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com', '/apis/example.com/v1/namespaces/default/crontabs/backup',
  ...['old', 'found', 'met', 'signal', 'chart-chart', 'release-chart'].map((name) => `/api/v1/namespaces/default/configmaps/${name}`),
  '/apis/apps/v1/namespaces/default/deployments/old', '/apis/example.com/v1/namespaces/default/crontabs/old', '/api/v1/namespaces/default/pods/pod',
];

/** Values that differ from run to run, in objects and in the state. */
const changing = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastTransitionTime', 'clusterIP', 'clusterIPs', 'created', 'modified']);
/** Places in programs, and what is stored of a resource only when its turn comes before another has failed. */
const aside = new Set(['sourcePosition', 'stackTrace', 'propertyDependencies']);
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const blankText = (value: string): string => value.replaceAll(uuid, '…').replaceAll(/(pulumi-kubernetes|auto)-[0-9a-f]{8}/g, '$1-…');
const blank = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, member: unknown) => {
  if (aside.has(key)) return undefined;
  // Their order depends on the seconds that have passed between the writes.
  if (key === 'managedFields') return (member as readonly object[]).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (changing.has(key) && member !== null) return '…';
  return typeof member === 'string' ? blankText(member) : member;
}));

const PATIENCE_MS = 60_000;

const nameOf = ({ op, urn }: Resource): string => `${op} ${urn.split('::').slice(2).join(' ').replace(/^.*[$/:](\w+) /, '$1 ')}`;
const namesOf = (resources: readonly Resource[]): readonly string[] => resources.filter(({ op }) => op !== 'same').map(nameOf).toSorted();
/** A message that depends neither on the order in which the parts of Pulumi end when one has failed, nor on where its programs are. */
const isSteady = ({ severity, message }: Message): boolean => (severity === 'error' || severity === 'warning')
  && !message.includes('the client connection is closing') && !message.includes('from $PATH');
const textsOf = (messages: readonly Message[]): readonly string[] => messages.filter((message) => isSteady(message))
  .map(({ message }) => blankText(message.replaceAll(/<\{%[^%]*%\}>/g, '').trim())).toSorted();

/** Pulumi in a folder of its own, with its state there, on one server. */
class Workspace {
  readonly steps: Step[] = [];
  readonly objects: Record<string, unknown> = {};
  readonly #folder: string;
  readonly #server: Peer;
  readonly #pulumi: string;

  constructor(folder: string, server: Peer, pulumi: string) {
    this.#folder = folder;
    this.#server = server;
    this.#pulumi = pulumi;
    for (const name of ['home', 'state', 'chart/templates']) mkdirSync(join(folder, name), { recursive: true });
    for (const [name, content] of Object.entries(chart)) writeFileSync(join(folder, 'chart', name), content);
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify({
      apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'it', cluster: { 'server': server.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'admin', user: { token: 'admin-token' } }], contexts: [{ name: 'it', context: { cluster: 'it', user: 'admin' } }],
      'current-context': 'it',
    }), { mode: 0o600 });
  }

  configure(stage: Stage): void {
    writeFileSync(join(this.#folder, 'Pulumi.yaml'), JSON.stringify({ name: 'shop', runtime: 'yaml', ...program(stage) }, undefined, 2));
  }

  async init(): Promise<void> {
    const { code, out, errors } = await this.#run(['stack', 'init', 'test']);
    if (code !== 0) throw new Error(out + errors);
  }

  async preview(name: string, ...args: readonly string[]): Promise<void> {
    const { code, out, errors } = await this.#run(['preview', '--json', '--stack=test', ...args]);
    if (!out.startsWith('{')) throw new Error(`${name}: ${out}${errors}`);
    const { steps = [], diagnostics = [] } = JSON.parse(out) as { readonly steps?: readonly Resource[]; readonly diagnostics?: readonly Message[] };
    // Where something fails, it depends on the moment how far the others have come.
    const found = code === 0 && { found: blank(steps.toSorted((a, b) => (`${a.urn} ${a.op}` < `${b.urn} ${b.op}` ? -1 : 1))) };
    this.steps.push({ name, code, operations: namesOf(steps), said: textsOf(diagnostics), ...found });
  }

  /** A command that changes something: `up`, `refresh` or `destroy`. */
  async do(name: string, command: string, ...args: readonly string[]): Promise<void> {
    const { code, out, errors } = await this.#run([command, '--json', '--stack=test', '--yes', '--skip-preview', ...args]);
    const events = out.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Event);
    if (events.length === 0) throw new Error(`${name}: ${out}${errors}`);
    const operations = namesOf(events.flatMap(({ resOutputsEvent, resOpFailedEvent }) => (resOutputsEvent ?? resOpFailedEvent)?.metadata ?? []));
    this.steps.push({ name, code, operations, said: textsOf(events.flatMap(({ diagnosticEvent }) => diagnosticEvent ?? [])) });
  }

  /** Keeps what the server and the state of Pulumi have. */
  async look(name: string): Promise<void> {
    for (const path of paths) {
      const { status, body } = await this.#server.client.request({ path });
      this.objects[`${name} ${path}`] = status === 200 ? blank(body) : status;
    }
    const { out } = await this.#run(['stack', 'export', '--show-secrets', '--stack=test']);
    const { deployment } = JSON.parse(out) as { readonly deployment: { readonly resources?: readonly { readonly urn: string }[] } };
    for (const resource of deployment.resources ?? []) this.objects[`${name} ${resource.urn}`] = blank(resource);
  }

  /** A request of another client. */
  async write(method: string, path: string, body: object): Promise<void> {
    const type = method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {};
    const { status, text: said } = await this.#server.client.request({ method, path: `${path}?fieldManager=someone`, body, ...type });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${said}`);
  }

  /** Ends the deletion of what is held by a finalizer, once it has begun. */
  async release(path: string): Promise<void> {
    await eventually(async () => {
      const { body } = await this.#server.client.request({ path });
      if (body.metadata.deletionTimestamp === undefined) throw new Error(`${path} is not being deleted`);
    }, PATIENCE_MS);
    await this.write('PATCH', path, { metadata: { finalizers: null } });
  }

  async #run(args: readonly string[]): Promise<{ code: number; out: string; errors: string }> {
    const env = {
      PATH: `${dirname(this.#pulumi)}:${process.env['PATH']}`, HOME: this.#folder, KUBECONFIG: join(this.#folder, 'kubeconfig'),
      PULUMI_HOME: join(this.#folder, 'home'), PULUMI_BACKEND_URL: `file://${join(this.#folder, 'state')}`, PULUMI_CONFIG_PASSPHRASE: 'word',
      PULUMI_SKIP_UPDATE_CHECK: 'true', PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true', PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE: 'true',
    };
    const child = spawn(this.#pulumi, [...args, '--non-interactive', '--color=never'], { cwd: this.#folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number>((resolve, reject) => child.once('error', reject).once('close', (code) => resolve(code ?? -1)));
    const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, out, errors };
  }
}

/** Runs all of it in an empty folder. */
export async function liveWithPulumi(folder: string, server: Peer, pulumi: string): Promise<Life<Step>> {
  const workspace = new Workspace(folder, server, pulumi);
  workspace.configure({});
  await workspace.init();
  await workspace.preview('preview');
  await workspace.do('up', 'up');
  await workspace.preview('preview without a change');
  await workspace.do('up without a change', 'up', '--expect-no-changes');
  await workspace.look('made');
  workspace.configure({ isChanged: true });
  await workspace.preview('preview of changes');
  await workspace.do('up of changes', 'up');
  await workspace.do('refresh after changes', 'refresh', '--expect-no-changes');
  await workspace.preview('preview after changes');
  await workspace.look('changed');
  await meetOthers(workspace);
  await replaceAndRefuse(workspace);
  await wait(workspace);
  return { steps: workspace.steps, objects: workspace.objects };
}

const settings = '/api/v1/namespaces/shop/configmaps/settings';
const web = '/apis/apps/v1/namespaces/shop/deployments/web';

/** Drift, conflicts, and objects that others have made. */
async function meetOthers(workspace: Workspace): Promise<void> {
  await workspace.write('PATCH', settings, { data: { color: 'green', size: '1' } });
  await workspace.do('refresh of drift', 'refresh');
  await workspace.preview('preview over the fields of another');
  await workspace.do('up over the fields of another', 'up');
  await workspace.look('drift');
  await workspace.write('PATCH', web, { spec: { replicas: 5 } });
  workspace.configure({ isChanged: true, isForced: true, isIgnoring: true });
  await workspace.preview('preview by force');
  await workspace.do('up by force', 'up');
  await workspace.preview('preview after force');
  await workspace.look('forced');
  for (const name of ['found', 'met']) await workspace.write('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { a: 'b' } });
  workspace.configure({ isChanged: true, isForced: true, isIgnoring: true, patch: { a: 'c' } });
  await workspace.do('up of a patch over the field of another', 'up');
  workspace.configure({ isChanged: true, isForced: true, isIgnoring: true, patch: { c: 'd' }, hasMet: true });
  await workspace.preview('preview of a patch and an import');
  await workspace.do('up of a patch and an import', 'up');
  await workspace.preview('preview after a patch and an import');
  await workspace.look('found');
}

/** The way of patches given up for apply, a replacement, refusals, and an object that is gone. */
async function replaceAndRefuse(workspace: Workspace): Promise<void> {
  const stage = { isChanged: true, isForced: true, isIgnoring: true, patch: { c: 'd' }, hasMet: true, isApplied: true };
  workspace.configure(stage);
  await workspace.preview('preview of the change to apply');
  await workspace.do('up of the change to apply', 'up');
  workspace.configure({ ...stage, isChanged: false });
  await workspace.do('up of changes by apply', 'up');
  await workspace.look('applied');
  workspace.configure({ ...stage, selector: 'shop' });
  await workspace.preview('preview of a replacement');
  await workspace.do('up of a replacement', 'up');
  await workspace.look('replaced');
  workspace.configure({ ...stage, selector: 'shop', port: 99_999 });
  await workspace.preview('preview of what the server refuses');
  workspace.configure({ ...stage, selector: 'shop', schedule: 5 });
  await workspace.preview('preview of what the schema refuses');
  workspace.configure({ ...stage, selector: 'shop' });
  await workspace.write('DELETE', settings, {});
  await workspace.do('refresh of what is gone', 'refresh');
  await workspace.do('up of what is gone', 'up');
  await workspace.preview('preview at the end');
  await workspace.look('at the end');
}

/** Objects that are done, or gone, once another has changed them. */
async function wait(workspace: Workspace): Promise<void> {
  workspace.configure({ hasWaiting: true, color: 'blue' });
  const time = '2026-01-01T00:00:00Z';
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True', lastTransitionTime: time }));
  const [signal, pod] = ['/api/v1/namespaces/default/configmaps/signal', '/api/v1/namespaces/default/pods/pod'] as const;
  const others = Promise.all([
    eventually(() => workspace.write('PATCH', signal, { data: { answer: 'yes' } }), PATIENCE_MS),
    eventually(() => workspace.write('PATCH', `${pod}/status`, { status: { phase: 'Running', conditions } }), PATIENCE_MS),
  ]);
  await workspace.do('up of what waits for others', 'up');
  await others;
  await workspace.preview('preview after waiting');
  await workspace.look('waited');
  workspace.configure({ hasWaiting: true, color: 'red' });
  await workspace.do('up of a newer chart', 'up');
  await workspace.look('newer');
  const release = workspace.release(pod);
  await workspace.do('destroy', 'destroy');
  await release;
  await workspace.look('destroyed');
}
