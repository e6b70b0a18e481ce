// Flipped bits anywhere in the file of the tables: a check notices each that changes an answer, and no answer has other bytes than were written. A flip in
// the structure of a page may end the process, which serves nothing then. PINTLE_FLIPS sets how many are tried.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/index.ts';
import { openEmbeddedStore } from '../../src/storage/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-flips-'));
after(() => rmSync(root, { recursive: true }));

const flips = Number(process.env.PINTLE_FLIPS ?? 150);
const child = fileURLToPath(new URL('flipped-bits.child.js', import.meta.url));

async function fill(directory: string): Promise<void> {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  const write = (index: number, expect: number) =>
    store.txn({ key: `/registry/pods/n/${index}`, expect, value: Buffer.from(`{"n":${index},"at":${expect},"x":"${'y'.repeat(300 + index * 3)}"}`) });
  const written = await Promise.all(Array.from({ length: 400 }, (_, index) => write(index, 0)));
  for (let index = 0; index < 400; index += 3) await write(index, written[index]?.revision ?? 0);
  for (let index = 1; index < 400; index += 6) await store.txn({ key: `/registry/pods/n/${index}`, expect: written[index]?.revision ?? 0 });
  await store.close();
}

test(`${flips} flipped bits are noticed, and none is served as data`, async (context) => {
  await fill(join(root, 'whole'));
  const seen = { harmless: 0, damaged: 0, refused: 0, ended: 0 };
  for (let next = 0; next < flips; next += 1) {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [child, root, String(next), String(flips)], { encoding: 'utf8' });
    for (const line of stdout.split('\n').filter((text) => text !== '')) {
      const { index, outcome } = JSON.parse(line) as { index: number; outcome: keyof typeof seen };
      seen[outcome] += 1;
      next = index + 1;
    }
    if (status === 0) break;
    assert.notEqual(signal, null, `flip ${next}: ${stderr}`);
    seen.ended += 1;
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen.damaged > seen.harmless);
  assert.ok(seen.ended * 20 < flips, `${seen.ended} of ${flips} flips ended the process`);
});
