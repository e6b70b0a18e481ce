// Controllers at work: informers of the kinds that they follow, a queue for each controller, and the way from a change to the key of the queue.
//
//   informers ──changed object──▶ keys (itself, its controller, what `requests` names) ──▶ queue ──▶ reconcile ──▶ writes ──▶ informers
import { delay, holdProcess, systemClock } from '../../base/index.ts';
import { WorkQueue } from '../../registry/index.ts';
import { type ClusterAccess, type KubeconfigSource, readKubeconfig } from '../../kubeconfig/index.ts';
import type { ApiUser } from '../api.ts';
import { splitApiVersion } from '../discovery.ts';
import type { KubernetesObject } from '../objects.ts';
import { type Attached, findServer } from '../server-access.ts';
import { type Connection, awaitKind, connectLocally, connectRemotely } from './connection.ts';
import { createControllerClient } from './controller-client.ts';
import type { ControllerDefinition } from './definition.ts';
import type { KindReference, ObjectName } from './kinds.ts';
import { Informer, type KeptObject, keyOf } from './informer.ts';
import { Candidate, type LeaderElection } from './leader-election.ts';

/** Where controllers run: over a server of this process, or through a kubeconfig. */
export type ControllerPlace = {
  /** A server of `createServer` or `createTestServer`. */
  readonly server: object;
  /** The user of the requests; the administrator when absent. */
  readonly user?: ApiUser;
} | (KubeconfigSource & { readonly server?: undefined });

/** How controllers run. */
export type RunOptions = ControllerPlace & {
  /** With several programs, one at a time reconciles. */
  readonly leaderElection?: LeaderElection;
  /** Receives what fails: reconciliations that will be tried again, watches that will be made again. Standard error when absent. */
  readonly onError?: (error: unknown, where: { readonly controller: string; readonly object?: ObjectName }) => void;
};

/** Controllers that run. */
export interface RunningControllers {
  /** Resolves when every object that was there at the start is in the informers. Not before the kinds are served and the election is won. */
  readonly ready: Promise<void>;
  /** Resolves when what is under way has come to its end; nothing is reconciled from then on. Idempotent. */
  stop(): Promise<void>;
}

/** Starts controllers. Rejects with KubeconfigError for a kubeconfig that leads nowhere, and with TypeError for what is no server of this process. */
export async function runControllers(controllers: readonly ControllerDefinition<any>[], options: RunOptions): Promise<RunningControllers> {
  const onError = options.onError ?? printError;
  if (options.server === undefined) {
    const access: ClusterAccess = await readKubeconfig(options, systemClock);
    const running = new Running(controllers, { connection: connectRemotely(access, programOf(controllers)), election: options.leaderElection, onError });
    const release = holdProcess();
    return { ready: running.ready, stop: () => running.stop().finally(release) };
  }
  const { server, user, leaderElection: election } = options;
  const { parts, attached } = findServer(server);
  let running: Running | undefined;
  const one: Attached = {
    start() {
      running = new Running(controllers, { connection: connectLocally(parts(), user, programOf(controllers)), election, onError });
    },
    async stop() {
      await running?.stop();
    },
  };
  attached.add(one);
  one.start();
  return {
    get ready() {
      return (running as Running).ready;
    },
    stop() {
      attached.delete(one);
      return one.stop();
    },
  };
}

const programOf = (controllers: readonly ControllerDefinition<any>[]): string => controllers.map(({ name }) => name).join(',').slice(0, 200) || 'pintle';

function printError(error: unknown, { controller, object }: { readonly controller: string; readonly object?: ObjectName }): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${controller}: ${object === undefined ? '' : `${keyOf(object)}: `}${message}\n`);
}

interface Parts {
  readonly connection: Connection;
  readonly election: LeaderElection | undefined;
  readonly onError: NonNullable<RunOptions['onError']>;
}

const describe = ({ apiVersion, kind, namespace = '', labelSelector = '', fieldSelector = '' }: KindReference): string =>
  JSON.stringify([apiVersion, kind, namespace, labelSelector, fieldSelector]);

/** One run, from the election to the end. */
class Running {
  readonly #controllers: readonly ControllerDefinition<any>[];
  readonly #parts: Parts;
  readonly #abort = new AbortController();
  /** By what they follow: controllers share them. */
  readonly #informers = new Map<string, Promise<Informer | undefined>>();
  readonly #started = new Map<string, Informer>();
  readonly #queues: WorkQueue[] = [];
  readonly #candidate: Candidate | undefined;
  readonly ready: Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(controllers: readonly ControllerDefinition<any>[], parts: Parts) {
    this.#controllers = controllers;
    this.#parts = parts;
    this.#candidate = parts.election === undefined ? undefined : new Candidate(parts.connection, parts.election);
    this.ready = this.#run();
    this.ready.catch((error: unknown) => parts.onError(error, { controller: programOf(controllers) }));
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#end());
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    if (this.#candidate !== undefined) {
      const won = await this.#candidate.win(signal);
      if (won === undefined) return;
      // The next holder begins: this program must not write any more.
      void won.lost.then(() => (signal.aborted ? undefined : this.stop()));
    }
    await Promise.all(this.#controllers.map((controller) => this.#start(controller)));
  }

  async #start(controller: ControllerDefinition): Promise<void> {
    const { connection, onError } = this.#parts;
    const { name, concurrency = 1, retry = {} } = controller;
    const followed = [controller.for, ...controller.owns ?? [], ...controller.watches ?? []];
    const informers = await Promise.all(followed.map((kind) => this.#follow(kind, name)));
    await Promise.all(informers.map((informer) => informer?.synced));
    const [primary] = informers;
    if (primary === undefined || this.#abort.signal.aborted) return;
    const client = createControllerClient({ connection, name, findInformer: (kind, namespace) => this.#findInformer(kind, namespace) });
    const queue = new WorkQueue({
      clock: connection.clock, concurrency, firstRetryMs: retry.firstMs, lastRetryMs: retry.lastMs,
      onError: (key, error) => onError(error, { controller: name, object: parseKey(key) }),
      work: async (key) => {
        const object = parseKey(key);
        const result = await controller.reconcile({ ...object, object: primary.get(object), client, signal: this.#abort.signal });
        return result?.requeueAfterMs;
      },
    });
    this.#queues.push(queue);
    this.#listen(controller, informers, queue);
  }

  /** Leads changes to the queue. */
  #listen(controller: ControllerDefinition, [primary, ...others]: readonly (Informer | undefined)[], queue: WorkQueue): void {
    primary?.listen((object) => queue.add(keyOf(object)));
    const owned = controller.owns ?? [];
    for (const [index, informer] of others.entries()) {
      const watched = controller.watches?.[index - owned.length];
      const owners = (object: KubernetesObject): readonly ObjectName[] => ownersOf(object, controller.for, primary?.namespaced === true);
      const requests = index < owned.length ? owners : watched?.requests ?? (() => []);
      informer?.listen((kept: KeptObject) => {
        try {
          for (const request of requests(kept.read())) queue.add(keyOf(request));
        } catch (error) {
          this.#parts.onError(error, { controller: controller.name, object: kept });
        }
      });
    }
  }

  /** The informer of a kind, made when the kind is served. */
  #follow(kind: KindReference, controller: string): Promise<Informer | undefined> {
    const { connection, onError } = this.#parts;
    const key = describe(kind);
    const known = this.#informers.get(key);
    if (known !== undefined) return known;
    const report = (error: unknown): void => onError(error, { controller });
    const making = awaitKind(connection, kind, { signal: this.#abort.signal, onError: report }).then((resource) => {
      if (resource === undefined) return undefined;
      const { clock } = connection;
      const informer = new Informer(connection.source(kind, resource), { clock, namespaced: resource.namespaced, onError: report });
      this.#started.set(key, informer);
      return informer;
    });
    this.#informers.set(key, making);
    return making;
  }

  /** An informer that has all objects of the kind in the namespace. */
  #findInformer({ apiVersion, kind }: Pick<KindReference, 'apiVersion' | 'kind'>, namespace: string): Informer | undefined {
    return this.#started.get(describe({ apiVersion, kind })) ?? this.#started.get(describe({ apiVersion, kind, namespace }));
  }

  async #end(): Promise<void> {
    this.#abort.abort();
    for (const informer of this.#started.values()) informer.stop();
    await Promise.all(this.#queues.map((queue) => queue.stop()));
    if (this.#candidate !== undefined) await this.#candidate.release().catch(() => undefined);
    this.#parts.connection.close();
    await delay(systemClock, 0);
  }
}

function parseKey(key: string): ObjectName {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The object of a kind that controls another one. */
function ownersOf({ metadata }: KubernetesObject, { apiVersion, kind }: KindReference, namespaced: boolean): ObjectName[] {
  const { group } = splitApiVersion(apiVersion);
  const owner = metadata?.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined || owner.kind !== kind || splitApiVersion(owner.apiVersion).group !== group) return [];
  return [{ namespace: namespaced ? metadata?.namespace ?? '' : '', name: owner.name }];
}
