// Every line of the audit is as the reference, but for those that are named here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { noEtcd } from '../../src/storage/etcd/cluster.suite.ts';
import { elsewhere } from './elsewhere/index.ts';
import { findFault } from './elsewhere/said.ts';
import { evidence } from './evidence/index.ts';
import { rows } from './rows.ts';
import { setups } from './setups/index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Lines that differ, and why. The list may only shrink. */
const different: Readonly<Record<string, string>> = {
  'A-53': 'the server asks itself by calls, not over its port (docs/differences.md)',
  'B-31': 'dates name the zone as HTTP wants it (docs/differences.md)',
  'D-40': 'the own store takes what a body may hold (docs/differences.md)',
  'J-40': 'lists with a value that cannot be read are answered 429 at once (docs/differences.md)',
  'J-43': 'each request takes one seat (docs/differences.md)',
  'K-21': 'a watch that is not read stays open (docs/differences.md)',
  'L-15': 'conditions name the pods that remain (docs/differences.md)',
  'M-59': 'an empty list is shown as null (docs/differences.md)',
  'N-18': 'the own authority is named as well (docs/differences.md)',
  'S-08': 'each request takes one seat (docs/differences.md)',
  'S-12': 'the own store takes what a body may hold (docs/differences.md)',
  'U-17': 'one version is served, and none emulated (docs/differences.md)',
  'W-09': 'the own authority is named as well (docs/differences.md)',
};

test(`the audit finds ${Object.keys(different).length} lines that differ`, () => {
  const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('run.js', import.meta.url))], { encoding: 'utf8' });
  assert.match(stdout, /of \d{3} lines are as the reference/, stderr);
  const found = new Set([...stdout.matchAll(/^([A-X]-\d\d) (?:not|partly):/gm)].map((match) => match[1]));
  const tried = Object.keys(different).filter((line) => noEtcd === false || line !== 'J-40').sort();
  assert.deepEqual([...found].sort(), tried, stdout);
});

test('what the audit says of other tests is there, and of lines that it does not try', () => {
  const faults = Object.entries(elsewhere).map(([line, said]) => [line, findFault(root, said)] as const).filter(([, fault]) => fault !== undefined);
  assert.deepEqual(faults, []);
  const tried = new Set([...Object.keys(evidence), ...[...rows, ...setups.flatMap((setup) => setup.rows)].flatMap(({ line }) => line.split(' '))]);
  assert.deepEqual(Object.keys(elsewhere).filter((line) => tried.has(line)), []);
});

test('findFault finds files and tests that are not there', () => {
  assert.equal(findFault(root, { file: 'test/audit/audit.test.ts', test: 'findFault finds files and tests that are not there' }), undefined);
  assert.match(findFault(root, { file: 'test/audit/none.test.ts', test: 'x' })!, /there is no test\/audit\/none.test.ts/);
  assert.match(findFault(root, { file: 'test/audit/audit.test.ts', test: `${'x'}y` })!, /has no test with the name xy/);
  assert.equal(findFault(root, { notApplicable: 'n/a' }), 'no reason');
});
