// Every flag of kube-apiserver works, is refused or warns, and docs/flags.md says so.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatFlagTable, judgeFlag, kubeApiserverFlags } from '../scripts/flag-table.ts';

test('every flag of kube-apiserver is known', () => {
  assert.equal(kubeApiserverFlags.length, 172);
  assert.deepEqual(kubeApiserverFlags.filter((name) => judgeFlag(name) === 'missing'), []);
});

test('docs/flags.md is what the code says (npm run generate:flags)', () => {
  assert.equal(readFileSync(new URL('../../docs/flags.md', import.meta.url), 'utf8'), formatFlagTable());
});
