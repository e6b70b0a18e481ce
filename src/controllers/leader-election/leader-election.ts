// Chooses the leaders of components that ask for it by LeaseCandidates (gate CoordinatedLeaderElection). Where servers share a store each of them looks; a
// write holds only if what it was decided from is still there, so they decide as one.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Timer, createTimeSlice, formatMicroseconds } from '../../base/index.ts';
import { type Target, WorkQueue, createSystemClient, startReflector } from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import {
  BY_EMULATION, type Candidate, type LeaderLease, askCandidates, isForgotten, listPresent, needsElection, nextLease, pickLeader, pickStrategy, readCandidate,
} from './election.ts';

const NAME = 'leader-election';
const GROUP = 'coordination.k8s.io';
const LOOK_AGAIN_MS = 5_000;
const LEASE_SECONDS = 5;
const CLEAR_MS = 30 * 60_000;
const SLICE_MS = 5;
/** The version of LeaseCandidates that is read. */
const VERSION = 'v1beta1';

/** By the namespace and name of their Lease, then by their own name. */
type KnownCandidates = Map<string, Map<string, Candidate>>;

const specOf = (object: KubeObject): LeaderLease => object['spec'] as LeaderLease | undefined ?? {};

/** Starts the loop; undefined where the gate is off or LeaseCandidates are not served. */
export function createLeaderElection(context: ControllerContext): Controller | undefined {
  const { registry, catalog, clock, report } = context;
  if (context.isGateOn?.('CoordinatedLeaderElection') !== true || catalog.find(GROUP, VERSION, 'leasecandidates') === undefined) return undefined;
  const leases = createSystemClient(context, [GROUP, 'v1', 'leases'], 'kube-apiserver');
  const clients = createSystemClient(context, [GROUP, VERSION, 'leasecandidates'], 'kube-apiserver');
  const known: KnownCandidates = new Map();

  async function ask(namespace: string, asked: readonly Candidate[]): Promise<void> {
    const pingTime = formatMicroseconds(clock.now());
    // One after the other: however many there are, others have their turns.
    for (const { name } of asked) {
      await clients.update({ namespace, name }, '', (current) => ({ ...current, spec: { ...current['spec'] as object, pingTime } }));
    }
  }

  async function choose(namespace: string, name: string, present: readonly Candidate[]): Promise<void> {
    const strategy = pickStrategy(present);
    const leader = strategy === BY_EMULATION ? pickLeader(present)?.name : undefined;
    const fresh = { ...(leader !== undefined && { holderIdentity: leader }), leaseDurationSeconds: LEASE_SECONDS, renewTime: formatMicroseconds(clock.now()) };
    const made = { apiVersion: `${GROUP}/v1`, kind: 'Lease', metadata: { name }, spec: { ...fresh, strategy } };
    if (await leases.createIfAbsent(namespace, made)) return;
    await leases.update({ namespace, name }, '', (current) => {
      const spec = nextLease(specOf(current), { strategy, leader, fresh }, clock.now());
      return spec === current['spec'] ? current : { ...current, spec: { ...spec } };
    });
  }

  const queue = new WorkQueue({
    observer: context.observeQueue?.('leader-election-controller'), clock, concurrency: 1, onError: (key, error) => report(NAME, key, error),
    async work(key) {
      const nowMs = clock.now();
      const [namespace = '', name = ''] = key.split('/');
      const candidates = [...known.get(key)?.values() ?? []].filter((candidate) => !isForgotten(candidate, nowMs));
      if (candidates.length === 0) return undefined;
      const lease = await leases.get({ namespace, name });
      if (!needsElection(lease && specOf(lease), candidates, nowMs)) return LOOK_AGAIN_MS;
      const { asked, isWaiting } = askCandidates(candidates, nowMs);
      await ask(namespace, asked);
      if (isWaiting) return LOOK_AGAIN_MS;
      const present = listPresent(candidates, nowMs);
      // Candidates that did not answer are asked again when they say that they are there.
      if (present.length > 0) await choose(namespace, name, present);
      return LOOK_AGAIN_MS;
    },
  });
  const following = [
    followCandidates(context, { target: clients.target(''), known, add: (key) => queue.add(key) }),
    startReflector({
      registry, clock, target: leases.target(''), onError: (error) => report(NAME, 'leases', error),
      onChange: (_, { namespace, name }) => void (known.has(`${namespace}/${name}`) && queue.add(`${namespace}/${name}`)),
    }),
  ];
  const clearing = clearForgotten(clients, context);
  return {
    ready: () => Promise.all(following.map(({ synced }) => synced)).then(() => undefined),
    async stop() {
      for (const reflector of following) reflector.stop();
      await Promise.all([queue.stop(), clearing.stop()]);
    },
  };
}

interface Follow {
  readonly target: Target;
  readonly known: KnownCandidates;
  readonly add: (key: string) => void;
}

/** Keeps the candidates as they are, and asks for a look at their Leases. */
function followCandidates({ registry, clock, report }: ControllerContext, { target, known, add }: Follow): ReturnType<typeof startReflector> {
  return startReflector({
    registry, clock, target, onError: (error) => report(NAME, 'leasecandidates', error),
    onChange(type, stored) {
      const candidate = readCandidate(stored.object(VERSION));
      const key = `${stored.namespace}/${candidate.leaseName}`;
      const others = known.get(key) ?? new Map<string, Candidate>();
      if (type === 'present') others.set(stored.name, candidate);
      else others.delete(stored.name);
      if (others.size > 0) known.set(key, others);
      else known.delete(key);
      // One that was asked and has not answered changes nothing.
      if (!(candidate.renewMs < candidate.pingMs)) add(key);
    },
  });
}

/** Removes candidates of which nothing was heard for long. */
function clearForgotten(clients: ReturnType<typeof createSystemClient>, { clock, report }: ControllerContext): Pick<Controller, 'stop'> {
  let timer: Timer | undefined;
  let stopped = false;
  const clear = async (): Promise<void> => {
    try {
      for await (const stored of clients.each('', createTimeSlice(clock, SLICE_MS))) {
        const { namespace, name } = stored;
        if (isForgotten(readCandidate(stored.object(VERSION)), clock.now())) await clients.delete({ namespace, name });
      }
    } catch (error) {
      report(NAME, '', error);
    }
    if (!stopped) timer = clock.after(CLEAR_MS, () => void (running = clear()));
  };
  let running = clear();
  return {
    stop() {
      stopped = true;
      timer?.cancel();
      return running;
    },
  };
}
