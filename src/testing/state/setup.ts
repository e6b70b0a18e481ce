// From the options of a test server to what it is made of, and the part of them on which its start state depends.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Clock, type Random, createManualClock, systemClock, systemRandom } from '../../base/index.ts';
import type { ServerOptions } from '../../server/index.ts';
import type { KubernetesObject } from '../../client/index.ts';
import type { TestServerOptions } from '../options.ts';
import { readManifests } from '../manifests/documents.ts';
import { createStandingClock } from './clock.ts';
import { createSeededRandom } from './random.ts';

/** Where the time of seeded and manual clocks begins. */
const START_MS = Date.UTC(2026, 0, 1);

/** What a test server is made of. */
export interface Setup {
  readonly options: TestServerOptions;
  readonly clock: Clock;
  readonly objects: readonly KubernetesObject[];
  /** Options of the server that decide about its state. */
  readonly serverOptions: Partial<ServerOptions>;
  /** Random numbers of a server that begins at a revision. */
  readonly randomAt: (revision: number) => Random;
  /** Equal for servers with the same state before any object of the test is there; undefined where that cannot be known. */
  readonly baseKey: string;
  /** The same with the objects; undefined where functions of the test take part. */
  readonly stateKey: string | undefined;
}

/** Reads the options; manifests are read from their files each time. */
export async function resolveSetup(options: TestServerOptions): Promise<Setup> {
  const { seed, admission = [], conversions = {}, server = {}, crds = [], manifests = [], namespaces = [] } = options;
  const clock = chooseClock(options);
  const objects = [
    ...await readManifests(crds), ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })), ...await readManifests(manifests),
  ];
  const hasFunctions = admission.length > 0 || Object.keys(conversions).length > 0;
  const time = clock === systemClock ? 'now' : clock.now();
  const baseKey = JSON.stringify([server, options.tls ?? true, seed ?? null, time, describeFile(options.snapshot)]);
  return {
    options, clock, objects, baseKey,
    stateKey: hasFunctions ? undefined : createHash('sha256').update(`${baseKey}\n${JSON.stringify(objects)}`).digest('hex'),
    serverOptions: {
      compactionIntervalMs: 0, ...server, admission, conversions, tls: options.tls ?? true, dataDir: '', etcdServers: [], datastoreEndpoint: '',
      ...(options.logger !== undefined && { logger: options.logger }),
    },
    randomAt: (revision) => (seed === undefined ? systemRandom : createSeededRandom(`${seed}/${revision}`)),
  };
}

/** The values by which a file differs from a later one with the same name. */
function describeFile(path: string | undefined): unknown {
  if (path === undefined) return null;
  const { mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return [resolve(path), mtimeMs, size];
}

function chooseClock({ clock, seed }: TestServerOptions): Clock {
  if (clock === undefined) return seed === undefined ? systemClock : createStandingClock(START_MS);
  if (clock === 'manual') return createManualClock(START_MS);
  if (typeof clock === 'object' && 'after' in clock) return clock;
  const startMs = new Date(clock).getTime();
  if (Number.isNaN(startMs)) throw new TypeError(`clock: ${String(clock)} is no time`);
  return createManualClock(startMs);
}

/** The setup of a server whose objects are being made: its clock stands at the same time, but timers pass, so that controllers come to an end. */
export function createRestingSetup(setup: Setup): Setup {
  return setup.clock === systemClock ? setup : { ...setup, clock: createStandingClock(setup.clock.now()) };
}

/** The setup of a fork: a clock that this library made is doubled, one of the test's own is shared. No faults, no file. */
export function createForkSetup(setup: Setup, nowMs: number): Setup {
  const { clock, seed, faults: _faults, requestLog: _file, ...options } = setup.options;
  const isOwn = typeof clock === 'object' && 'after' in clock;
  const made = clock === undefined ? (seed === undefined ? systemClock : createStandingClock(nowMs)) : createManualClock(nowMs);
  return {
    ...setup, clock: isOwn ? clock : made,
    options: { ...options, ...(clock !== undefined && { clock }), ...(seed !== undefined && { seed }) },
    serverOptions: { ...setup.serverOptions, securePort: 0 },
  };
}
