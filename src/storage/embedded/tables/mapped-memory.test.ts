// Mapping again: only when there is much to give back and no read or write under way, and without an effect on either.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createManualClock } from '../../../base/index.ts';
import { MappedMemory } from './mapped-memory.ts';
import { Tables } from './tables.ts';

test('MappedMemory maps again when much is resident and no work is under way, then rests', async () => {
  const clock = createManualClock();
  const state = { quiet: false, residentKb: 50_000, remaps: 0 };
  const remap = async (): Promise<void> => {
    state.remaps++;
    state.residentKb = 60_000;
  };
  const memory = new MappedMemory({ clock, isQuiet: () => state.quiet, remap, onFailed: assert.fail, residentKb: () => state.residentKb });
  const pass = async (ms: number): Promise<number> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
    return state.remaps;
  };
  assert.equal(await pass(5_000), 0);
  state.residentKb = 100_000;
  assert.equal(await pass(5_000), 0);
  state.quiet = true;
  assert.equal(await pass(5_000), 1);
  state.residentKb = 100_000;
  assert.equal(await pass(14_000), 1);
  assert.equal(await pass(1_000), 2);
  state.residentKb = 75_000;
  for (let i = 0; i < 20; i++) assert.equal(await pass(5_000), 2);
  await memory.stop();
  state.residentKb = 200_000;
  assert.equal(await pass(120_000), 2);
});

test('MappedMemory.giveBack maps again between reads when much was read, is resident, and no work is under way', async () => {
  const state = { quiet: true, residentKb: 100_000, remaps: 0 };
  const remap = async (): Promise<void> => {
    state.remaps++;
    state.residentKb = 60_000;
  };
  const clock = createManualClock();
  const memory = new MappedMemory({ clock, isQuiet: () => state.quiet, remap, onFailed: assert.fail, residentKb: () => state.residentKb });
  const page = [{ value: new Uint8Array(5 * 2 ** 20) }, { value: new Uint8Array(4 * 2 ** 20) }];
  const read = async (): Promise<number> => {
    memory.noticeRead(page);
    await memory.giveBack();
    return state.remaps;
  };
  assert.equal(await read(), 0);
  state.residentKb = 200_000;
  state.quiet = false;
  assert.equal(await read(), 0);
  state.quiet = true;
  assert.equal(memory.giveBack(), undefined);
  assert.equal(await read(), 1);
  assert.equal(await read(), 1);
  state.residentKb = 200_000;
  assert.equal(await read(), 2);
  await memory.stop();
  state.residentKb = 200_000;
  assert.equal(await read(), 2);
});

test('Tables.remap gives no other work a turn, keeps everything and can be written afterwards', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-remap-'));
  const tables = new Tables({ file: join(directory, 'store.mdb') });
  for (let revision = 1; revision <= 20; revision++) {
    await tables.write(() => tables.putRevision(revision));
    let turns = 0;
    const other = setImmediate(() => turns++);
    await tables.remap();
    clearImmediate(other);
    assert.equal(turns, 0);
    assert.equal(tables.read((snapshot) => snapshot.revision), revision);
  }
  await tables.close();
  rmSync(directory, { recursive: true });
});
