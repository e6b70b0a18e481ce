// The pool validates writes as the server does, gives up what takes too long, drops what has no client, and takes users in turn.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createManualClock, systemClock } from '../../base/index.ts';
import { YamlError, parseYaml } from '../../codec/index.ts';
import type { ValidateRequest } from '../../crd/index.ts';
import { createMemoryStore } from '../../storage/index.ts';
import { shareMemory } from './task-worker.ts';
import { type WorkerPoolOptions, createWorkerPool, parseYamlWith } from './worker-pool.ts';

const owner = { user: 'alice' };

function createPool(more: Partial<WorkerPoolOptions> = {}) {
  const store = createMemoryStore({ clock: systemClock });
  return createWorkerPool({ clock: systemClock, store, mostWorkers: 1, report: (error) => assert.fail(String(error)), ...more });
}

function request(spec: object, value: unknown): ValidateRequest {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'a.b.c' },
    spec: { group: 'b.c', versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }] },
  };
  return {
    definition: new TextEncoder().encode(JSON.stringify(definition)), fingerprint: JSON.stringify(spec), version: 'v1', subresource: '', old: undefined,
    object: { apiVersion: 'b.c/v1', kind: 'A', metadata: { name: 'a' }, spec: value },
  };
}

const quick = request({ type: 'string' }, 'a');
const endless = request({ type: 'array', items: { type: 'string', pattern: '^(a?){900}$' } }, Array.from({ length: 1000 }, () => 'a'.repeat(800)));

describe('shareMemory', () => {
  it('gives workers half of what the process may take, within bounds', () => {
    const mebibytes = (count: number): number => count * 2 ** 20;
    const shares = [[undefined, 1], [0, 3], [mebibytes(65_536), 3], [mebibytes(512), 1], [mebibytes(1024), 4], [mebibytes(256), 3]] as const;
    assert.deepEqual(shares.map(([limit, workers]) => shareMemory(limit, workers)), [512, 512, 512, 256, 128, 64]);
  });
});

describe('createWorkerPool', () => {
  const pool = createPool();
  after(() => pool.stop());

  it('run answers what is wrong by schema and by rule, in order of asking', async () => {
    const schema = { type: 'string', pattern: '^a+$', 'x-kubernetes-validations': [{ rule: 'size(self) < 3' }] };
    const answers = await Promise.all(['aa', 'aaa', 'b', 5n].map((value) => pool.run('validate', request(schema, value), owner)));
    assert.deepEqual(answers.map(({ errors }) => errors.map(({ field, message }) => `${field}: ${message}`)), [
      [], ['spec: Invalid value: "aaa": failed rule: size(self) < 3'], ['spec: Invalid value: "b": spec in body should match \'^a+$\''],
      ['spec: Invalid value: "integer": spec in body must be of type string: "integer"', '<nil>: Invalid value: null: some validation rules were not checked '
        + 'because the object was invalid; correct the existing errors to complete validation'],
    ]);
  });

  it('parseYamlWith reads long texts as short ones are read, and reports what is wrong with them', async () => {
    const parse = parseYamlWith(pool);
    const long = Array.from({ length: 3000 }, (_, i) => `k${i}: ${i}`).join('\n');
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    assert.deepEqual(await parse(bytes(`${long}\nk1: 9007199254740993\n`)), await parseYaml(bytes(`${long}\nk1: 9007199254740993\n`)));
    await assert.rejects(parse(bytes(`${long}\n\t- a`)), (error: Error) => error instanceof YamlError && error.message.startsWith('yaml: line 3001'));
  });

  it('run gives up what takes too long, and the worker with it', async () => {
    const clock = createManualClock();
    const other = createPool({ clock });
    await other.run('validate', quick, owner);
    const asked = other.run('validate', endless, owner);
    const next = other.run('validate', quick, owner);
    clock.advance(20_000);
    await assert.rejects(asked, /more computation than is available/);
    assert.deepEqual((await next).errors, []);
    await other.stop();
  });

  it('run does not count the start of a worker, within a minute, as time of its task', async () => {
    const clock = createManualClock();
    const other = createPool({ clock });
    const asked = other.run('validate', quick, owner);
    clock.advance(59_000);
    assert.deepEqual((await asked).errors, []);
    await other.stop();
    const never = createPool({ clock });
    const lost = never.run('validate', quick, owner);
    clock.advance(60_000);
    await assert.rejects(lost, /more computation than is available/);
    await never.stop();
  });

  it('run answers no task with the answer to one that was given up', async () => {
    const clock = createManualClock();
    const other = createPool({ clock });
    // The worker is up, so that the next answer is there before it can be taken.
    await other.run('validate', quick, owner);
    const late = other.run('validate', request({ type: 'string' }, 5n), owner);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    clock.advance(20_000);
    const next = other.run('validate', quick, owner);
    await assert.rejects(late, /more computation than is available/);
    assert.deepEqual((await next).errors, []);
    await other.stop();
  });

  it('run takes users in turn: a task of one is done after one of another, however many that one waits for', async () => {
    const other = createPool();
    const order: string[] = [];
    const run = (user: string): Promise<unknown> => other.run('validate', quick, { user }).then(() => order.push(user));
    await Promise.all([run('alice'), run('alice'), run('alice'), run('alice'), run('bob')]);
    assert.deepEqual(order, ['alice', 'alice', 'bob', 'alice', 'alice']);
    await other.stop();
  });

  it('run refuses the user with the most tasks with 429 when the queue is full', async () => {
    const other = createPool();
    const asked = Array.from({ length: 102 }, () => other.run('validate', endless, { user: 'alice' }).catch((error: Error) => error));
    const bob = other.run('validate', quick, { user: 'bob' }).catch((error: Error) => error);
    // One runs, a hundred wait: the newest of alice's makes room for bob.
    for (const each of asked.slice(-2)) assert.match(String(await each), /too much work is waiting/);
    await other.stop();
    assert.match(String(await bob), /stopping/);
    await Promise.all(asked);
  });

  it('run drops a task that waits when its client leaves', async () => {
    const other = createPool();
    const client = new AbortController();
    const running = other.run('validate', quick, owner);
    const dropped = other.run('validate', endless, { ...owner, signal: client.signal });
    const next = other.run('validate', quick, owner);
    client.abort();
    await assert.rejects(dropped, /allotted timeout/);
    assert.deepEqual((await running).errors, []);
    assert.deepEqual((await next).errors, []);
    await other.stop();
  });

  it('run rejects when the pool is stopped meanwhile, and after', async () => {
    const other = createPool();
    const asked = other.run('validate', quick, owner);
    await Promise.all([assert.rejects(asked, /stopping/), other.stop()]);
    await assert.rejects(other.run('validate', quick, owner), /too much work is waiting/);
  });
});
