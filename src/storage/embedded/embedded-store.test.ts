// The embedded Store against the suite of all Stores; each test in a directory of its own, verified afterwards.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Clock } from '../../base/index.ts';
import { describeStore } from '../store.suite.ts';
import { checkEmbeddedStore, openEmbeddedStore } from './open.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-embedded-'));
let stores = 0;

const open = (clock: Clock) => openEmbeddedStore({ directory: join(root, `${(stores += 1)}`), clock });
const reopen = (clock: Clock) => openEmbeddedStore({ directory: join(root, `${stores}`), clock });

describeStore('openEmbeddedStore', open, { reopen });

after(async () => {
  for (let store = 1; store <= stores; store += 1) {
    const report = await checkEmbeddedStore(join(root, `${store}`));
    assert.deepEqual(report.problems, []);
  }
  rmSync(root, { recursive: true });
});
