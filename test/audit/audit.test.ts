// Every line of the audit is as the reference, but for those that are named here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Lines that differ. The list may only shrink. */
const different = ['G-16'];

test(`the audit finds ${different.length} lines that differ`, () => {
  const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('run.js', import.meta.url))], { encoding: 'utf8' });
  assert.match(stdout, /of \d{3} lines are as the reference/, stderr);
  const found = [...stdout.matchAll(/^([A-X]-\d\d) (?:not|partly):/gm)].map((match) => match[1]);
  assert.deepEqual(found.sort(), different, stdout);
});
