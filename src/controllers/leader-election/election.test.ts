// Which component leads, by what candidates and their Lease say.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Candidate, askCandidates, isExpired, needsElection, nextLease, pickLeader, pickStrategy, readCandidate } from './election.ts';

const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
const at = (agoMs: number): string => `${new Date(NOW_MS - agoMs).toISOString().slice(0, -1)}000Z`;

function candidate(name: string, spec: Readonly<Record<string, string>> = {}, createdAgoMs = 0): Candidate {
  return readCandidate({ apiVersion: 'coordination.k8s.io/v1beta1', kind: 'LeaseCandidate', metadata: { name, creationTimestamp: at(createdAgoMs) },
    spec: { leaseName: 'l', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion', renewTime: at(0), ...spec } });
}

const lease = { holderIdentity: 'a', strategy: 'OldestEmulationVersion', renewTime: at(1000), leaseDurationSeconds: 5 };

describe('election', () => {
  test('pickLeader takes the oldest emulated version, then the oldest binary, then the oldest candidate, and none without versions', () => {
    const leaderOf = (...candidates: Candidate[]): string | undefined => pickLeader(candidates)?.name;
    assert.equal(leaderOf(candidate('a'), candidate('b', { emulationVersion: '1.35.0' })), 'b');
    assert.equal(leaderOf(candidate('a', { binaryVersion: '1.37.0' }), candidate('b')), 'b');
    assert.equal(leaderOf(candidate('a'), candidate('b', {}, 1000)), 'b');
    assert.equal(leaderOf(candidate('a', { emulationVersion: '' })), undefined);
  });

  test('pickStrategy is that of the newest binary, which must be one', () => {
    const other = candidate('b', { strategy: 'example.com/x' });
    assert.equal(pickStrategy([candidate('a', { binaryVersion: '1.37.0' }), other]), 'OldestEmulationVersion');
    assert.throws(() => pickStrategy([candidate('a'), other]), {
      message: 'candidates "a", "b" at same binary version but received differing strategies OldestEmulationVersion, example.com/x',
    });
  });

  test('needsElection where there is no leader, a candidate was not heard of for a quarter of an hour, or a better one is there', () => {
    const one = candidate('a');
    assert.equal(needsElection(undefined, [one], NOW_MS), true);
    assert.equal(needsElection({ ...lease, holderIdentity: '' }, [one], NOW_MS), true);
    assert.equal(needsElection({ ...lease, renewTime: at(5001) }, [one], NOW_MS), true);
    assert.equal(needsElection(lease, [one], NOW_MS), false);
    assert.equal(needsElection(lease, [candidate('a', { renewTime: at(15 * 60_000 + 1) })], NOW_MS), true);
    assert.equal(needsElection(lease, [one, candidate('b', { emulationVersion: '1.35.0' })], NOW_MS), true);
    assert.equal(needsElection(lease, [candidate('b', { strategy: 'example.com/x' })], NOW_MS), false);
    assert.equal(isExpired({ renewTime: at(0) }, NOW_MS), true);
  });

  test('askCandidates asks those that said nothing for five seconds, once, and waits as long for their answers', () => {
    const names = (...candidates: Candidate[]): unknown => {
      const { asked, isWaiting } = askCandidates(candidates, NOW_MS);
      return [asked.map(({ name }) => name).join(), isWaiting];
    };
    assert.deepEqual(names(candidate('a')), ['', false]);
    assert.deepEqual(names(candidate('a', { renewTime: at(6000) })), ['a', true]);
    assert.deepEqual(names(candidate('a', { renewTime: at(9000), pingTime: at(4000) })), ['', true]);
    assert.deepEqual(names(candidate('a', { renewTime: at(9000), pingTime: at(6000) })), ['', false]);
    assert.deepEqual(names(candidate('a', { renewTime: at(7000), pingTime: at(8000) })), ['a', true]);
  });

  test('nextLease names a better leader as preferred, takes the place of one that is gone, and changes nothing else', () => {
    const fresh = { holderIdentity: 'b', leaseDurationSeconds: 5, renewTime: at(0) };
    const next = (given: object, leader: string | undefined, strategy = lease.strategy): unknown =>
      nextLease({ ...lease, ...given }, { strategy, leader, fresh }, NOW_MS);
    assert.deepEqual(next({}, 'b'), { ...lease, preferredHolder: 'b' });
    assert.deepEqual(next({ renewTime: at(6000), preferredHolder: 'c', acquireTime: at(9000) }, 'b'), { ...lease, ...fresh });
    assert.deepEqual(next({}, undefined, 'example.com/x'), { ...lease, strategy: 'example.com/x' });
    const same = { ...lease, preferredHolder: 'b' };
    assert.equal(nextLease(same, { strategy: lease.strategy, leader: 'b', fresh }, NOW_MS), same);
  });
});
