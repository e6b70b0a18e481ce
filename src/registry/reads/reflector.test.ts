// The reflector over a real registry: the objects that are there, their changes, and those that were removed while the watch was down.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Registry, RegistryWatch } from '../contract.ts';
import { startReflector } from './reflector.ts';
import { createBench, rows, settle } from '../testing.ts';

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** Everything that a reflector says, in order, over a registry whose watches can be lost. */
function listen(bench: ReturnType<typeof createBench>) {
  const told: string[] = [];
  const errors: unknown[] = [];
  let lost = false;
  let wake = (): void => undefined;
  const registry: Registry = {
    ...bench.registry,
    list: (target, options) => bench.registry.list(target, options),
    async watch(target, options) {
      const inner = await bench.registry.watch(target, options);
      const watch: RegistryWatch = {
        take: (limit) => (lost ? [] : inner.take(limit)),
        onReadable(resolve) {
          wake = resolve;
          inner.onReadable(resolve);
        },
        get end() {
          return lost ? 'expired' : inner.end;
        },
        revision: 0, fork: () => watch, close: () => inner.close(),
      };
      return watch;
    },
  };
  const reflector = startReflector({
    registry, clock: bench.clock, target: bench.at(rows.configMaps), onError: (error) => errors.push(error),
    onChange: (type, { name }) => void told.push(`${type} ${name}`),
    onListed: ({ items }) => told.push(`listed ${Array.from(items, ({ name }) => name).join(' ')}`),
  });
  return {
    told, errors, reflector,
    lose() {
      lost = true;
    },
    async find() {
      wake();
      lost = false;
      await settle();
    },
  };
}

test('startReflector delivers what is there, then every change', async () => {
  const bench = createBench();
  await bench.create(rows.configMaps, configMap('a'));
  const { told, errors, reflector } = listen(bench);
  await reflector.synced;
  assert.deepEqual(told, ['present a', 'listed a']);
  await bench.create(rows.configMaps, configMap('b'));
  await bench.remove(rows.configMaps, 'a');
  await settle();
  assert.deepEqual(told.slice(2), ['present b', 'deleted a']);
  reflector.stop();
  await bench.create(rows.configMaps, configMap('c'));
  await settle();
  assert.equal(told.length, 4);
  assert.deepEqual(errors, []);
});

test('startReflector delivers everything again after a loss, and what is listed then', async () => {
  const bench = createBench();
  for (const name of ['a', 'b']) await bench.create(rows.configMaps, configMap(name));
  const { told, reflector, lose, find } = listen(bench);
  await reflector.synced;
  await settle();
  lose();
  await bench.remove(rows.configMaps, 'a');
  await find();
  assert.deepEqual(told.slice(3), ['present b', 'listed b']);
  reflector.stop();
});

test('startReflector reports what fails and tries again, later each time', async () => {
  const bench = createBench();
  let [calls, reported] = [0, 0];
  const registry: Registry = {
    ...bench.registry,
    list(target, options) {
      calls += 1;
      return calls < 3 ? Promise.reject(new Error('not yet')) : bench.registry.list(target, options);
    },
    watch: (target, options) => bench.registry.watch(target, options),
  };
  const reflector = startReflector({
    registry, clock: bench.clock, target: bench.at(rows.configMaps), onChange: () => undefined, onError: () => (reported += 1),
  });
  const seen: number[] = [];
  for (let step = 0; step < 4; step += 1) {
    await settle();
    seen.push(calls);
    bench.clock.advance(50);
  }
  assert.deepEqual([seen, reported], [[1, 2, 2, 3], 2]);
  await reflector.synced;
  reflector.stop();
});

test('startReflector ends when no caller needs it, and lets waiting callers go', async () => {
  const bench = createBench();
  const reflector = startReflector({
    registry: bench.registry, clock: bench.clock, target: bench.at(rows.configMaps), onChange: () => assert.fail(),
    isNeeded: () => false, onError: () => assert.fail(),
  });
  await reflector.synced;
});

test('catchUp hands over, in the same turn, every change that is committed', async () => {
  const bench = createBench();
  await bench.create(rows.configMaps, configMap('a'));
  const seen: string[] = [];
  const reflector = startReflector({
    registry: bench.registry, clock: bench.clock, target: bench.at(rows.configMaps), delivery: 'on-demand', onError: () => assert.fail(),
    onReset: () => void seen.push('reset'), onChange: (type, { name }) => void seen.push(`${type} ${name}`),
  });
  reflector.catchUp();
  assert.deepEqual(seen, []);
  await reflector.synced;
  await settle();
  await bench.create(rows.configMaps, configMap('b'));
  await settle();
  assert.deepEqual(seen, ['reset', 'present a'], 'changes wait until they are asked for');
  reflector.catchUp();
  assert.deepEqual(seen.slice(2), ['present b']);
  await bench.create(rows.configMaps, configMap('c'));
  reflector.catchUp();
  assert.deepEqual(seen.slice(3), ['present c'], 'a second change in the same second waits for nothing');
  await bench.remove(rows.configMaps, 'a');
  await settle();
  bench.clock.advance(1_000);
  await settle();
  assert.deepEqual(seen.slice(4), ['deleted a'], 'unasked, changes are taken after a second');
  reflector.stop();
});
