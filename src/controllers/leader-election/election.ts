// Which component leads: what LeaseCandidates and their Lease say at a moment, without any write. Mirrors kube-apiserver's coordinated leader election
// (KEP-4355).
import { type KubeObject, type SemanticVersion, compareVersions, parseVersion } from '../../apimachinery/index.ts';

/** A component that wants to lead. */
export interface Candidate {
  readonly name: string;
  readonly leaseName: string;
  readonly strategy: string;
  readonly binaryVersion: SemanticVersion | undefined;
  readonly emulationVersion: SemanticVersion | undefined;
  readonly createdMs: number;
  /** When it was asked whether it is there; NaN where it was not. */
  readonly pingMs: number;
  /** When it said so last; NaN where it never did. */
  readonly renewMs: number;
}

/** The Lease of a leader. */
export interface LeaderLease {
  readonly strategy?: string | null;
  readonly holderIdentity?: string | null;
  readonly preferredHolder?: string | null;
  readonly renewTime?: string | null;
  readonly acquireTime?: string | null;
  readonly leaseDurationSeconds?: number | null;
}

/** The strategy that is decided here; for others the Lease is made and no leader named. */
export const BY_EMULATION = 'OldestEmulationVersion';
const ANSWER_MS = 5_000;
const VALID_MS = 30 * 60_000;
const zero: SemanticVersion = { numbers: [0, 0, 0], pre: [] };

/** Reads a LeaseCandidate. */
export function readCandidate({ metadata, ...rest }: KubeObject): Candidate {
  const spec = rest['spec'] as Readonly<Record<string, string | undefined>>;
  const parse = (text: string | undefined): number => Date.parse(text ?? '');
  return {
    name: metadata.name ?? '', leaseName: spec['leaseName'] ?? '', strategy: spec['strategy'] ?? '', createdMs: parse(metadata.creationTimestamp),
    binaryVersion: parseVersion(spec['binaryVersion'] ?? ''), emulationVersion: parseVersion(spec['emulationVersion'] ?? ''),
    pingMs: parse(spec['pingTime']), renewMs: parse(spec['renewTime']),
  };
}

/** Whether nothing was heard of a candidate for so long that it does not count. */
export const isForgotten = ({ renewMs }: Candidate, nowMs: number): boolean => !(renewMs + VALID_MS >= nowMs);

/** Whether the leader has not renewed the Lease in its time. */
export const isExpired = ({ renewTime, leaseDurationSeconds }: LeaderLease, nowMs: number): boolean =>
  !(Date.parse(renewTime ?? '') + (leaseDurationSeconds ?? NaN) * 1000 >= nowMs);

/** The strategy of the newest binary; throws where two of them want different ones. */
export function pickStrategy([first, ...others]: readonly Candidate[]): string {
  if (first === undefined) throw new Error('no candidates');
  let newest = first;
  for (const candidate of others) {
    const order = compareVersions(newest.binaryVersion ?? zero, candidate.binaryVersion ?? zero);
    if (order < 0) newest = candidate;
    else if (order === 0 && candidate.strategy !== newest.strategy) {
      throw new Error(`candidates ${JSON.stringify(newest.name)}, ${JSON.stringify(candidate.name)} at same binary version but received differing strategies `
        + `${newest.strategy}, ${candidate.strategy}`);
    }
  }
  return newest.strategy;
}

/** The candidate that emulates the oldest version; of equals that of the oldest binary, then the oldest one. */
export function pickLeader(candidates: readonly Candidate[]): Candidate | undefined {
  const fit = candidates.filter(({ binaryVersion, emulationVersion }) => binaryVersion !== undefined && emulationVersion !== undefined);
  return fit.sort((one, other) => compareVersions(one.emulationVersion!, other.emulationVersion!)
    || compareVersions(one.binaryVersion!, other.binaryVersion!) || one.createdMs - other.createdMs)[0];
}

/** Whether a leader has to be chosen: there is none, a candidate has to be heard of again, or a better one is there. */
export function needsElection(lease: LeaderLease | undefined, candidates: readonly Candidate[], nowMs: number): boolean {
  if (lease === undefined || isExpired(lease, nowMs) || (lease.holderIdentity ?? '') === '') return true;
  if (candidates.some(({ renewMs }) => renewMs + VALID_MS / 2 < nowMs)) return true;
  if (pickStrategy(candidates) !== BY_EMULATION) return false;
  const leader = pickLeader(candidates);
  return leader !== undefined && leader.name !== lease.holderIdentity;
}

/** Whether a candidate has said a moment ago that it is there. */
const isPresent = ({ renewMs }: Candidate, nowMs: number): boolean => renewMs + ANSWER_MS > nowMs;

/** The candidates that are to be asked whether they are there, and whether their answers, or those of others, have to be waited for. */
export function askCandidates(candidates: readonly Candidate[], nowMs: number): { readonly asked: readonly Candidate[]; readonly isWaiting: boolean } {
  const isAwaited = ({ pingMs, renewMs }: Candidate): boolean => pingMs + ANSWER_MS > nowMs && renewMs < pingMs;
  const asked = candidates.filter((each) => !isAwaited(each) && !isPresent(each, nowMs)
    && (Number.isNaN(each.pingMs) || (each.pingMs + ANSWER_MS < nowMs && each.renewMs >= each.pingMs)));
  return { asked, isWaiting: asked.length > 0 || candidates.some(isAwaited) };
}

/** Those that have said a moment ago that they are there. */
export const listPresent = (candidates: readonly Candidate[], nowMs: number): Candidate[] => candidates.filter((each) => isPresent(each, nowMs));

/** The Lease after a leader was chosen; the same where nothing changes. */
export function nextLease(lease: LeaderLease, chosen: { readonly strategy: string; readonly leader: string | undefined; readonly fresh: LeaderLease },
  nowMs: number): LeaderLease {
  const { strategy, leader, fresh } = chosen;
  const holder = lease.holderIdentity ?? '';
  const decided = lease.strategy === strategy ? lease : { ...lease, strategy };
  if (leader === undefined || leader === holder) return decided;
  if (holder === '' || isExpired(lease, nowMs)) {
    const { preferredHolder: _preferred, acquireTime: _acquired, ...kept } = decided;
    return { ...kept, ...fresh };
  }
  return decided.preferredHolder === leader ? decided : { ...decided, preferredHolder: leader };
}
