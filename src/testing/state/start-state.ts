// Start states: the store after a server has made its own objects and a test's are applied. They are made once per process and forked by every
// server that begins with the same.
import { BoundedCache, once, systemClock, systemRandom } from '../../base/index.ts';
import { type MemoryStore, type RestoredKey, createMemoryStore } from '../../storage/index.ts';
import { type Pki, type ServiceAccountKeys, SnapshotReader, createServiceAccountKeys, preparePki } from '../../server/index.ts';
import type { Setup } from './setup.ts';

/** A state that servers begin with. Its store is closed: it is forked, never written. */
export interface StartState {
  readonly store: MemoryStore;
}

/** Starts over a state (none: an empty store), applies what is missing and answers the state when it is at rest. */
export type MakeState = (setup: Setup, from: StartState | undefined) => Promise<StartState>;

const KEPT_STATES = 32;
const states = new BoundedCache<string, Promise<StartState>>({ limit: KEPT_STATES });

/** The state under a key, made when it is first asked for; one that could not be made is forgotten at once. */
const keep = (key: string, make: () => Promise<StartState>): Promise<StartState> => states.getOrMake(key, () => {
  const making = make();
  making.catch(() => states.delete(key));
  return making;
});

/** The state for a setup; objects of the test are in it unless functions of the test take part in their writes. */
export async function findStartState(setup: Setup, make: MakeState): Promise<{ readonly state: StartState; readonly isComplete: boolean }> {
  const plain: Setup = { ...setup, objects: [], serverOptions: { ...setup.serverOptions, admission: [], conversions: {} } };
  const base = (): Promise<StartState> => keep(setup.baseKey, () => make(plain, undefined));
  if (setup.objects.length === 0) return { state: await base(), isComplete: true };
  if (setup.stateKey === undefined) return { state: await base(), isComplete: false };
  return { state: await keep(setup.stateKey, async () => make(setup, await base())), isComplete: true };
}

/** What all test servers of a process share: a certificate costs milliseconds, a key of tokens a tenth of a second. */
interface Secrets {
  readonly pki: Pki;
  readonly keys: ServiceAccountKeys;
}

/** The certificates, valid by the clock of the machine, and the keys of tokens. */
export const shareSecrets: () => Secrets = once(() => ({
  pki: preparePki({ clock: systemClock, random: systemRandom, directory: '', addresses: ['127.0.0.1'], serviceRange: '10.0.0.0/24' }),
  keys: createServiceAccountKeys({ serviceAccountKeyFiles: [], serviceAccountSigningKeyFile: '' }, ''),
}));

/** The store that a first server begins with: empty, or with the objects of a snapshot. Throws StartError for a file that is none. */
export function createFirstStore(setup: Setup): MemoryStore {
  const options = { clock: setup.clock, ...storeTimes(setup) };
  const { snapshot: file } = setup.options;
  if (file === undefined) return createMemoryStore(options);
  const snapshot = new SnapshotReader(file);
  try {
    const { root, revision } = snapshot.header;
    return createMemoryStore(options, { keys: moveKeys(snapshot.keys(), root), revision });
  } finally {
    snapshot.close();
  }
}

/** Keys below the root that servers in memory have. */
function* moveKeys(keys: Iterable<RestoredKey>, root: string): Generator<RestoredKey> {
  for (const key of keys) yield key.key.startsWith(`${root}/`) ? { ...key, key: `/registry${key.key.slice(root.length)}` } : key;
}

interface StoreTimes {
  readonly historyMs?: number;
  readonly compactionIntervalMs: number;
}

/** How long a store keeps what was replaced. */
export function storeTimes({ serverOptions: { historyMs, compactionIntervalMs } }: Setup): StoreTimes {
  return { compactionIntervalMs: compactionIntervalMs === undefined || compactionIntervalMs === 0 ? 1e15 : compactionIntervalMs,
    ...(historyMs !== undefined && { historyMs }) };
}
