// client-go's informers, which begin with a streamed list and speak protobuf, through cuts and compactions. Built by `go`; without it the suite says that it
// skips.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { awaitSameAsList, churn, startArena } from './churn.ts';
import { buildInformer, startProgram } from './program.ts';

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
  let last: any;
  await awaitSameAsList(arena.server, async () => (last = await program.ask())['state']);
  assert.ok(last['requests'] > first['requests'], 'no connection was cut');
});
