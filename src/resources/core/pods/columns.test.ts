// The columns of pods.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../apimachinery/index.ts';
import { podColumns, readPodConditions } from './columns.ts';

const printPod = (spec: object, status: object, metadata: object = {}): readonly unknown[] =>
  podColumns.slice(1, 4).map(({ cell }) => cell({ metadata, spec, status } as KubeObject, Date.parse('2024-01-01T00:05:00Z')));
const two = { containers: [{ name: 'a' }, { name: 'b' }] };

test('podColumns show how far init containers are', () => {
  const spec = { ...two, initContainers: [{ name: 'i' }, { name: 'j' }] };
  const ended = { name: 'i', state: { terminated: { exitCode: 0 } } };
  assert.deepEqual(printPod(spec, { phase: 'Pending', initContainerStatuses: [ended, { name: 'j', state: { running: {} } }] }), ['0/2', 'Init:1/2', '0']);
  const failed = { name: 'i', restartCount: 2, state: { terminated: { exitCode: 3 } } };
  assert.deepEqual(printPod(spec, { phase: 'Pending', initContainerStatuses: [failed] }), ['0/2', 'Init:ExitCode:3', '2']);
  const waiting = { name: 'i', restartCount: 0, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  assert.deepEqual(printPod(spec, { phase: 'Pending', initContainerStatuses: [waiting] }), ['0/2', 'Init:CrashLoopBackOff', '0']);
});

test('podColumns count sidecars as containers', () => {
  const spec = { containers: [{ name: 'a' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] };
  const status = {
    phase: 'Running',
    initContainerStatuses: [{ name: 's', started: true, ready: true, restartCount: 1, state: { running: {} } }],
    containerStatuses: [{ name: 'a', ready: true, restartCount: 2, state: { running: {} }, lastState: { terminated: { finishedAt: '2024-01-01T00:00:00Z' } } }],
  };
  assert.deepEqual(printPod(spec, status), ['2/2', 'Running', '3 (5m ago)']);
});

test('podColumns name the state of ended, unreachable and terminating pods', () => {
  const done = { ready: false, state: { terminated: { reason: 'Completed', exitCode: 0 } } };
  const running = { ready: true, state: { running: {} } };
  assert.equal(printPod(two, { phase: 'Running', containerStatuses: [done, running] })[1], 'NotReady');
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [done, running] };
  assert.equal(printPod(two, ready)[1], 'Running');
  const killed = { ready: false, state: { terminated: { signal: 9 } } };
  assert.equal(printPod(two, { phase: 'Failed', containerStatuses: [killed] })[1], 'Signal:9');
  const deleted = { deletionTimestamp: '2024-01-01T00:00:00Z' };
  assert.equal(printPod(two, { phase: 'Running', reason: 'NodeLost' }, deleted)[1], 'Unknown');
  assert.equal(printPod(two, { phase: 'Running' }, deleted)[1], 'Terminating');
  assert.equal(printPod(two, { phase: 'Succeeded' }, deleted)[1], 'Succeeded');
});

test('readPodConditions speaks of finished pods only', () => {
  assert.deepEqual(readPodConditions({ metadata: {}, status: { phase: 'Running' } }), []);
  assert.equal(readPodConditions({ metadata: {}, status: { phase: 'Failed' } })[0]?.message, 'The pod failed.');
});
