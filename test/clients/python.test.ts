// The Python client's watch through cuts and compactions. PINTLE_PYTHON names an interpreter that has `kubernetes`; without one the suite says that it skips.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { awaitSameAsList, churn, startArena } from './churn.ts';
import { startProgram } from './program.ts';

const python = process.env['PINTLE_PYTHON'] ?? 'python3';
const usable = spawnSync(python, ['-c', 'import kubernetes'], { timeout: 30_000 }).status === 0;
const script = join(fileURLToPath(new URL('../../../', import.meta.url)), 'test', 'clients', 'python', 'watch.py');

test('a Python watch ends equal to a list after cuts and a compaction', { skip: usable ? false : `${python} has no module kubernetes`, timeout: 90_000 },
  async (context) => {
  const arena = await startArena();
  context.after(() => arena.close());
  const program = startProgram(context, { command: python, args: [script], kubeconfig: arena.kubeconfig });
  await program.until((answer) => answer['lists'] > 0);
  await churn(arena);
  let last: any;
  await awaitSameAsList(arena.server, async () => (last = await program.ask())['state']);
  assert.ok(last['breaks'] > 0, 'no connection was cut');
  assert.ok(last['lists'] >= 2, 'no list was repeated');
});
