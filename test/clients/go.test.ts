// client-go's informers, which begin with a streamed list and speak protobuf, through cuts and compactions. Built by `go`; without it the suite says that it
// skips.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { churn, settle, startArena } from './churn.ts';
import { startProgram } from './program.ts';

const folder = join(fileURLToPath(new URL('../../../', import.meta.url)), 'test', 'clients', 'go-informer');

/** Builds the program; answers why it could not. */
function buildInformer(output: string): string | undefined {
  const build = (...args: string[]) => spawnSync('go', args, { cwd: folder, encoding: 'utf8', timeout: 400_000 });
  if (build('version').status !== 0) return 'go is not on PATH';
  const download = build('mod', 'download');
  if (download.status !== 0) return `the modules could not be downloaded: ${download.stderr.slice(0, 300)}`;
  const built = build('build', '-buildvcs=false', '-o', output, '.');
  assert.equal(built.status, 0, built.stderr);
  return undefined;
}

test('client-go informers sync by streamed lists and end equal to a list after cuts and a compaction', { timeout: 600_000 }, async (context) => {
  const output = mkdtempSync(join(tmpdir(), 'pintle-go-'));
  context.after(() => rmSync(output, { recursive: true, force: true }));
  const missing = buildInformer(join(output, 'informer'));
  if (missing !== undefined) return context.skip(missing);
  const arena = await startArena();
  context.after(() => arena.close());
  const program = startProgram(context, { command: join(output, 'informer'), args: [], kubeconfig: arena.kubeconfig });
  const first = await program.until((answer) => answer['synced']);
  assert.ok(first['streamed'] >= 2, 'the lists were not streamed');
  assert.equal(first['protobuf'], first['requests']);
  await churn(arena);
  let last = await program.ask();
  const { seen, listed } = await settle(arena.server, () => {
    void program.ask().then((answer) => {
      last = answer;
    });
    return last['state'];
  });
  assert.deepEqual(seen, listed);
  assert.ok(last['requests'] > first['requests'], 'no connection was cut');
});
