// The checks of a server by themselves: what they say before its start is finished.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createManualClock } from '../base/index.ts';
import { StorageHealth, createMemoryStore } from '../storage/index.ts';
import { runChecks } from './observability/health.ts';
import { listChecks } from './root-handler.ts';

/** A server that has got so far, and the names of the checks of a root that fail. */
function prepare(initialized: boolean) {
  const clock = createManualClock();
  const checks = listChecks({ stopping: false, initialized }, {
    storeParts: [],
    store: createMemoryStore({ clock }), health: new StorageHealth(), flowControl: undefined, more: [],
    options: { clock, livezGraceMs: 10_000 },
  });
  const failing = async (root: string): Promise<readonly string[]> =>
    (await runChecks(checks, { clock })).filter(({ type, passed }) => type === root && !passed).map(({ name }) => name);
  return { clock, failing };
}

it('listChecks: readyz fails until the start is finished, livez as soon as its grace is over', async () => {
  const { clock, failing } = prepare(false);
  const hook = 'poststarthook/start-kube-apiserver-identity-lease-controller';
  assert.ok((await failing('readyz')).includes(hook));
  assert.ok((await failing('healthz')).includes('autoregister-completion'));
  assert.deepEqual(await failing('livez'), []);
  clock.advance(10_000);
  assert.ok((await failing('livez')).includes(hook));
  assert.deepEqual(await prepare(true).failing('readyz'), []);
});
