// One run of a test server: an ordinary server over a store of its own, with the seams that tests look through. `reset` ends a run and begins another
// at the same address.
import { systemClock } from '../base/index.ts';
import type { AuthenticateToken } from '../auth/index.ts';
import type { MemoryStore } from '../storage/index.ts';
import { type ExposedParts, type RunningServer, WebhookCallError, isReadVerb, startServer } from '../server/index.ts';
import { createFaultFilter } from './faults/fault-filter.ts';
import type { FaultBook } from './faults/fault-book.ts';
import { type LocalClient, createLocalClient } from '../client/index.ts';
import type { RequestRecorder } from './record/requests.ts';
import type { ServerClock } from './state/clock.ts';
import { type ObservedStore, observeStore } from './state/observed-store.ts';
import type { Setup } from './state/setup.ts';
import { shareSecrets, storeTimes } from './state/start-state.ts';
import { createSeededRandom } from './state/random.ts';

/** The port that the `kubernetes` Service of every test server names. */
const ADVERTISED_PORT = 6443;
/** Turns of the loop without a read or write of the store, after which nothing is under way. */
const QUIET_TURNS = 4;

/** What a run is made with. */
export interface RunParts {
  readonly setup: Setup;
  /** Closed with the run. */
  readonly memory: MemoryStore;
  readonly revision: number;
  /** The store has the objects of a server; controllers begin at the first write. */
  readonly isComplete: boolean;
  readonly port: number;
  readonly tokens: AuthenticateToken;
  readonly faults: FaultBook;
  readonly recorder: RequestRecorder;
  readonly clock: ServerClock;
}

/** A server that runs. */
export interface Run {
  readonly running: RunningServer;
  readonly parts: ExposedParts;
  readonly store: ObservedStore;
  readonly clock: ServerClock;
  readonly client: LocalClient;
  /** Resolves when nothing is under way any more: what a write entails is done, timers aside. */
  settle(): Promise<void>;
  /** Stops in real time, whatever the clock says. */
  close(): Promise<void>;
}

/** The connection of requests of the test server itself, which are neither recorded nor disturbed. */
export const ownConnection = {};

/** Starts a run. */
export async function startRun({ setup, memory, revision, isComplete, port, tokens, faults, recorder, clock }: RunParts): Promise<Run> {
  const { serverOptions } = setup;
  const isSeeded = setup.options.seed !== undefined;
  const store = observeStore(memory);
  const settle = (): Promise<void> => awaitQuiet(store);
  let exposed: ExposedParts | undefined;
  const isOwn = (exchange: { readonly connection: object }): boolean => exchange.connection === ownConnection;
  const record = recorder.filter();
  store.onCommit((_, written) => recorder.noteCommit(written));
  const { pki, keys } = shareSecrets();
  const running = await startServer({ shutdownGraceMs: 1000, ...serverOptions, clock, random: setup.randomAt(revision), securePort: port }, {
    store, keys, tokens, advertisedPort: ADVERTISED_PORT, pki,
    ...(isSeeded && { transportRandom: createSeededRandom(`${setup.options.seed}/transport`) }),
    ...(isComplete && { woken: new Promise<void>((resolve) => void store.onCommit(() => resolve())) }),
    observe: (exchange, next) => record(exchange, isSeeded ? async (inner) => {
      const answer = await next(inner);
      if (!isReadVerb(inner.info.verb)) await settle();
      return answer;
    } : next),
    disturb: createFaultFilter({ book: faults, spares: isOwn, api: () => (exposed as ExposedParts).api }),
    beforeWebhook(client, { limitMs }) {
      const target = client.url ?? `${client.service?.namespace}/${client.service?.name}`;
      const outcome = faults.takeWebhook(target);
      if (outcome === undefined) return;
      const url = client.url ?? `https://${client.service?.name}.${client.service?.namespace}.svc:443${client.service?.path ?? '/'}`;
      const why = outcome === 'timeout' ? 'context deadline exceeded' : 'dial tcp: connect: connection refused';
      throw new WebhookCallError(`Post "${url}?timeout=${limitMs / 1000}s": ${why}`);
    },
    expose: (parts) => {
      exposed = parts;
    },
  });
  const parts = exposed as unknown as ExposedParts;
  return {
    running, parts, store, clock, settle,
    client: createLocalClient({ handler: parts.handler, clock, connection: ownConnection, program: 'pintle-testing' }),
    close() {
      clock.release();
      return running.close();
    },
  };
}

/** A store beside the one of a run, with the same state. */
export const forkStore = (store: MemoryStore, setup: Setup, clock: ServerClock): MemoryStore => store.fork({ clock, ...storeTimes(setup) });

async function awaitQuiet(store: ObservedStore): Promise<void> {
  const limitMs = systemClock.monotonicMs() + 10_000;
  for (let quiet = 0, seen = -1; quiet < QUIET_TURNS && systemClock.monotonicMs() < limitMs;) {
    await new Promise((resolve) => setImmediate(resolve));
    quiet = store.activity === seen ? quiet + 1 : 0;
    seen = store.activity;
  }
}
