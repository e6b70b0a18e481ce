// The test server: a server in memory whose state, time, faults and requests are in the hands of a test.
import { type ApiRequest, type ApiResponse, type KubernetesObject, type ServerAccess, registerServer, stopAttached } from '../client/index.ts';
import type { MemoryStore } from '../storage/index.ts';
import { formatKubeconfig } from '../server/index.ts';
import { type ApiConstructor, makeApiClient } from './api-client.ts';
import { applyObjects } from './apply.ts';
import type { Faults } from './faults/fault.ts';
import { FaultBook } from './faults/fault-book.ts';
import { type Manifests, ManifestError, readManifests } from './manifests/documents.ts';
import { type Located, type Reference, locate, pathOf, showReference } from './objects.ts';
import type { TestServerOptions, TestUser } from './options.ts';
import { readListAt, readObjectAt } from './record/past.ts';
import { type ObjectVersion, readHistory } from './record/history.ts';
import { type RequestMatch, type RequestRecord, RequestRecorder, fitsRecord, isWrite, showRecord } from './record/requests.ts';
import { type Run, forkStore, ownConnection, startRun } from './run.ts';
import { createServerClock, isManual } from './state/clock.ts';
import { restoreState } from './state/restore.ts';
import { type Setup, createForkSetup, createRestingSetup, resolveSetup } from './state/setup.ts';
import { type StartState, createFirstStore, findStartState, shareSecrets } from './state/start-state.ts';
import { TokenBook } from './token-book.ts';
import { type Until, type WaitOptions, checkState, tryUntil } from './waiting.ts';

/** A state of a server that can be brought back. Snapshots share memory with the server and with each other. */
export interface Snapshot {
  readonly resourceVersion: string;
}

/** What `reset` does to watches. */
export interface ResetOptions {
  /** `end` (the default) ends connections as a restart does, and resource versions go back too; `continue` shows the way back as changes. */
  readonly watches?: 'end' | 'continue';
}

/** How often something is expected; at least once when nothing is given. */
export interface ExpectedCount {
  readonly exactly?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Where the object of a text reference is. */
export interface InNamespace {
  readonly namespace?: string;
}

/** Reads of the past. */
export interface PastState {
  get<T = KubernetesObject>(reference: Reference, where?: InNamespace): Promise<T | undefined>;
  list<T = KubernetesObject>(reference: Reference, where?: InNamespace): Promise<T[]>;
}

/** What a run and the runs after it have in common. */
interface Lasting {
  readonly setup: Setup;
  readonly tokens: TokenBook;
  readonly faults: FaultBook;
  readonly recorder: RequestRecorder;
}

/** The stores of snapshots: closed, forked when they are brought back. */
const stores = new WeakMap<Snapshot, MemoryStore>();

/** A server for tests; `createTestServer` makes it. */
export class TestServer implements AsyncDisposable {
  readonly #lasting: Lasting;
  #run: Run;
  #start: Snapshot | undefined;
  #closed: Promise<void> | undefined;
  readonly #access: ServerAccess;

  /** Use `createTestServer`. */
  constructor(lasting: Lasting, run: Run) {
    this.#lasting = lasting;
    this.#run = run;
    lasting.faults.at(() => this.#run.store.memory.newest, (skewMs) => {
      this.clockSkewMs = skewMs;
    });
    this.#access = registerServer(this, () => {
      const { parts: { api, handler }, clock } = this.#run;
      return { handler, registry: api.registry, catalog: api.catalog, clock };
    });
  }

  get url(): string {
    return this.#run.running.url;
  }

  get port(): number {
    return this.#run.running.port;
  }

  /** The administrator's kubeconfig, as text. */
  get kubeconfig(): string {
    return this.#run.running.kubeconfig;
  }

  /** A kubeconfig of any user, by name or with groups; the same user has the same token as long as the server lives. */
  kubeconfigFor(user: string | TestUser): string {
    const chosen = typeof user === 'string' ? { name: user } : user;
    const authority = this.#lasting.setup.serverOptions.tls === false ? undefined : shareSecrets().pki.authority.certificate;
    return formatKubeconfig({ url: this.url, authority, admin: undefined, token: this.#lasting.tokens.tokenOf(chosen), name: chosen.name });
  }

  /** A client of a class of @kubernetes/client-node, which must be installed; as the administrator unless `user` is given. */
  client<T>(api: ApiConstructor<T>, { user }: { readonly user?: string | TestUser } = {}): Promise<T> {
    return makeApiClient(api, user === undefined ? this.kubeconfig : this.kubeconfigFor(user));
  }

  /** Asks without a connection and without client libraries. Such requests are neither recorded nor befallen by faults. */
  request(request: ApiRequest): Promise<ApiResponse> {
    return this.#run.client.request(request);
  }

  /** Applies objects (server-side, as `pintle-testing`, in force, statuses too); definitions are established when it resolves. Answers the objects. */
  async apply<T extends KubernetesObject = KubernetesObject>(manifests: Manifests): Promise<T[]> {
    const applied = await applyObjects(await readManifests(manifests), this.#applyParts());
    return applied as T[];
  }

  /** The object; undefined when there is none. */
  async get<T = KubernetesObject>(reference: Reference, where: InNamespace = {}): Promise<T | undefined> {
    return this.#run.client.readUnlessAbsent('GET', pathOf(this.#locate(reference, where)));
  }

  /** The objects of a resource, in one namespace or in all. */
  async list<T = KubernetesObject>(reference: Reference, where: InNamespace = {}): Promise<T[]> {
    return (await this.#run.client.read('GET', this.#listPath(reference, where)) as { items: T[] }).items;
  }

  /** Deletes an object, as far as its finalizers let it; does nothing when there is none. */
  async delete(reference: Reference, where: InNamespace = {}): Promise<void> {
    await this.#run.client.readUnlessAbsent('DELETE', pathOf(this.#locate(reference, where)));
  }

  /** Waits until an object is as expected, see Until; answers it (undefined once it is deleted). Rejects with TimeoutError. */
  waitFor<T extends KubernetesObject = KubernetesObject>(reference: Reference, until: Until<T>, options: WaitOptions & InNamespace = {}): Promise<T> {
    return this.eventually(async () => {
      const at = locate(this.#run.parts.api.catalog, reference, options.namespace);
      const object = at === undefined ? undefined : await this.get<T>(reference, options);
      checkState(object, until, showReference(reference));
      return object as T;
    }, options);
  }

  /** Tries again, at each change of the state and every 20 ms, until `attempt` does not throw; rejects with TimeoutError. */
  eventually<T>(attempt: () => T | Promise<T>, options: WaitOptions = {}): Promise<T> {
    return tryUntil(attempt, { ...options, onChange: (wake) => this.#run.store.onCommit(wake) });
  }

  /** Resolves when nothing is under way: controllers have done what follows from all writes so far, timers aside. */
  settle(): Promise<void> {
    return this.#run.settle();
  }

  /** The Events (of both APIs), oldest first: all, or those about one object. */
  async events(about?: Reference, where: InNamespace = {}): Promise<KubernetesObject[]> {
    const at = about === undefined ? undefined : this.#locate(about, where);
    const events = await this.list('events', at === undefined || at.namespace === '' ? {} : { namespace: at.namespace });
    return events.filter(({ involvedObject: object }) =>
      at === undefined || (object?.kind === at.resource.kind && (at.name === '' || object?.name === at.name)));
  }

  /** The time of the server, in milliseconds since 1970. */
  now(): number {
    return this.#run.clock.now();
  }

  /** Moves a clock that stands (`clock: 'manual'` or a seed) on; what falls due happens in order. Throws TypeError where time passes by itself. */
  async advance(byMs: number): Promise<void> {
    const { clock } = this.#lasting.setup;
    if (!isManual(clock)) throw new TypeError('the clock of this server passes by itself: give it clock: \'manual\' or a seed');
    const steps = Math.max(1, Math.min(STEPS, Math.ceil(byMs / STEP_MS)));
    for (let step = 0; step < steps; step++) {
      clock.advance(Math.floor((byMs * (step + 1)) / steps) - Math.floor((byMs * step) / steps));
      await this.settle();
    }
  }

  /** What the server's time is ahead of its clock, in milliseconds; 0 to begin with. Connections are not affected. */
  get clockSkewMs(): number {
    return this.#run.clock.skewMs;
  }

  set clockSkewMs(skewMs: number) {
    this.#run.clock.skewMs = skewMs;
  }

  /** The faults of this server. */
  get faults(): Faults {
    return this.#lasting.faults;
  }

  /** The requests of clients so far, in order. */
  get requests(): readonly RequestRecord[] {
    return this.#lasting.recorder.records;
  }

  /** Forgets the requests so far. */
  clearRequests(): void {
    this.#lasting.recorder.clear();
  }

  /** Answers the requests that fit; throws unless there are as many as expected. */
  expectRequests(match: RequestMatch, count: ExpectedCount = { atLeast: 1 }): readonly RequestRecord[] {
    const found = this.requests.filter((record) => fitsRecord(record, match));
    const { exactly, atLeast = exactly ?? 0, atMost = exactly ?? Infinity } = count;
    if (found.length >= atLeast && found.length <= atMost) return found;
    const wanted = exactly !== undefined ? `exactly ${exactly}` : `${atLeast} to ${atMost}`;
    throw new Error([`${wanted} requests were expected that fit ${JSON.stringify(match)}, and there were ${found.length}`, ...this.requests.slice(-SHOWN)
      .map(showRecord)].join('\n'));
  }

  /** Throws when a request that fits has changed something, dry runs aside. */
  expectNoWrites(match: RequestMatch = {}): void {
    const writes = this.requests.filter((record) => isWrite(record) && fitsRecord(record, match));
    if (writes.length > 0) throw new Error(['no writes were expected', ...writes.slice(0, SHOWN).map(showRecord)].join('\n'));
  }

  /** Every kept version of an object, oldest first, with its managers and the request that wrote it. */
  history(reference: Reference, where: InNamespace = {}): Promise<ObjectVersion[]> {
    const { client, store } = this.#run;
    return readHistory(this.#locate(reference, where), { client, store, recorder: this.#lasting.recorder });
  }

  /** The resourceVersion that a list begun now would have. */
  get resourceVersion(): string {
    return String(this.#run.store.memory.newest);
  }

  /** The state at a resourceVersion. */
  at(resourceVersion: string | number): PastState {
    const revision = Number(resourceVersion);
    return {
      get: async <T>(reference: Reference, where: InNamespace = {}) =>
        await readObjectAt(this.#run.client, this.#locate(reference, where), revision) as T | undefined,
      list: async <T>(reference: Reference, where: InNamespace = {}) =>
        await readListAt(this.#run.client, this.#listPath(reference, where), revision) as T[],
    };
  }

  /** An independent server with the same state, at an address of its own; it shares memory with this one until either writes. */
  async fork(): Promise<TestServer> {
    this.#checkOpen();
    const { setup, tokens } = this.#lasting;
    return openServer(createForkSetup(setup, this.#run.clock.now()), { store: this.#run.store.memory, isComplete: true, tokens });
  }

  /** The state as it is now. */
  snapshot(): Snapshot {
    this.#checkOpen();
    return this.#keep(this.#run.store.memory);
  }

  /** Brings back the state of a snapshot, or that at the start, under the same address. Users, faults and requests stay. */
  async reset(snapshot: Snapshot | undefined = this.#start, { watches = 'end' }: ResetOptions = {}): Promise<void> {
    this.#checkOpen();
    const store = snapshot && stores.get(snapshot);
    if (store === undefined) throw new TypeError('this is no snapshot of a test server');
    if (watches === 'continue') {
      await restoreState(this.#run.store, store);
      return this.settle();
    }
    const { port } = this;
    const { skewMs } = this.#run.clock;
    await stopAttached(this.#access);
    await this.#run.close();
    this.#run = await beginRun(this.#lasting, { store, isComplete: true, port });
    this.#run.clock.skewMs = skewMs;
    for (const controllers of this.#access.attached) controllers.start();
  }

  /** Whether anything was written since the start or the last `reset` to it. */
  get hasChanged(): boolean {
    return this.#start?.resourceVersion !== this.resourceVersion;
  }

  /** Stops the server; always settles. Idempotent. */
  close(): Promise<void> {
    return (this.#closed ??= stopAttached(this.#access).finally(() => this.#run.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Notes the state that `reset` brings back by default. */
  noteStart(): void {
    this.#start = this.#keep(this.#run.store.memory);
  }

  #keep(memory: MemoryStore): Snapshot {
    const store = memory.fork({ clock: this.#lasting.setup.clock });
    void store.close();
    const snapshot: Snapshot = Object.freeze({ resourceVersion: String(memory.newest) });
    stores.set(snapshot, store);
    return snapshot;
  }

  #applyParts(): Parameters<typeof applyObjects>[1] {
    return { client: this.#run.client, catalog: this.#run.parts.api.catalog, eventually: (attempt) => this.eventually(attempt) };
  }

  #locate(reference: Reference, { namespace }: InNamespace): Located {
    const at = locate(this.#run.parts.api.catalog, reference, namespace);
    if (at === undefined) throw new ManifestError(`no resource is served for ${showReference(reference)}`);
    return at;
  }

  #listPath(reference: Reference, where: InNamespace): string {
    return pathOf({ ...this.#locate(reference, where), name: '' }, where.namespace === undefined);
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new Error('the server is closed');
  }
}

/** Requests that an error shows. */
const SHOWN = 20;
/** `advance` stops so often on its way, at most and about. */
const STEPS = 20;
const STEP_MS = 1000;

/** A state to begin a run with. */
interface Origin extends StartState {
  readonly isComplete: boolean;
  readonly port?: number;
}

async function beginRun({ setup, tokens, faults, recorder }: Lasting, { store, isComplete, port = setup.serverOptions.securePort ?? 0 }: Origin): Promise<Run> {
  const clock = createServerClock(setup.clock);
  const memory = forkStore(store, setup, clock);
  return startRun({ setup, memory, revision: memory.newest, isComplete, port, tokens: tokens.authenticate, faults, recorder, clock });
}

async function openServer(setup: Setup, { tokens = new TokenBook(), ...origin }: Origin & { readonly tokens?: TokenBook }): Promise<TestServer> {
  const { options, clock } = setup;
  const recorder = new RequestRecorder({
    clock, bodies: options.recordBodies === true, file: options.requestLog ?? '', spares: ({ connection }) => connection === ownConnection,
  });
  for (const user of options.users ?? []) tokens.tokenOf(typeof user === 'string' ? { name: user } : user);
  const lasting: Lasting = { setup, tokens, faults: new FaultBook(setup.randomAt(0)), recorder };
  const server = new TestServer(lasting, await beginRun(lasting, origin));
  server.noteStart();
  return server;
}

/** Starts over a state, applies the objects of the setup, and answers the state when it is at rest. */
async function makeState(setup: Setup, from: StartState | undefined): Promise<StartState> {
  const resting = createRestingSetup(setup);
  const lasting = {
    setup: resting, tokens: new TokenBook(), faults: new FaultBook(resting.randomAt(0)), recorder: new RequestRecorder({
      clock: resting.clock, bodies: false, file: '', spares: () => true }),
  };
  const run = await beginRun(lasting, { store: from?.store ?? createFirstStore(resting), isComplete: from !== undefined, port: 0 });
  try {
    await run.running.ready;
    const server = new TestServer(lasting, run);
    await server.apply([...setup.objects]);
    await run.settle();
    const store = run.store.memory.fork({ clock: resting.clock });
    await store.close();
    return { store };
  } finally {
    await run.close();
  }
}

/**
 * Starts a server in memory for a test, ready when the promise resolves. The state that it begins with is made once per process and forked from
 * then on, so that a server for each test is cheap.
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const setup = await resolveSetup(options);
  const { state, isComplete } = await findStartState(setup, makeState);
  const server = await openServer(setup, { ...state, isComplete: true });
  try {
    if (!isComplete) {
      await server.apply([...setup.objects]);
      await server.settle();
      server.noteStart();
    }
    for (const fault of options.faults ?? []) server.faults.add(fault);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}
