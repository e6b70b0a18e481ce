// Every workload in seconds, so that none rots: what it measures is not looked at, what it proves is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureGets } from './rbac.ts';
import { runBench } from './run.ts';
import { measureTesting } from './testing.ts';

test('runBench runs every workload', { timeout: 240_000 }, async () => {
  const rows = await runBench(['--tiny']);
  const names = rows.map(({ workload }) => workload.split(' ')[0]);
  const wanted = ['W1', 'W2', 'restart:', 'W3', 'W4', 'W5', 'W8', 'W9', 'W10', 'W11', 'W12', 'W13', 'W14', 'W15', 'W16', 'watches:', 'informers:', 'mixed:'];
  for (const name of wanted) assert.ok(names.includes(name), `${name} is missing`);
  assert.equal(rows.find(({ workload }) => workload.startsWith('W11'))?.extra?.['lostOrDoubled'], 0);
});

test('measureTesting measures servers for tests', { timeout: 240_000 }, async () => {
  const lines = await measureTesting({ objects: 20, definitions: 2, rounds: 1, suite: 2 });
  for (const name of ['a server with a write', 'a fork with 20 objects', 'a reset with 2 definitions']) {
    assert.ok(lines.some((line) => line.startsWith(name)), lines.join('\n'));
  }
});

test('measureGets compares RBAC with a server that allows everything', { timeout: 240_000 }, async () => {
  const { rate, allowedRate, cpuRatio } = await measureGets(50, { rounds: 1, seconds: 0.2 });
  assert.ok(rate > 0 && allowedRate > 0 && cpuRatio > 0);
});
