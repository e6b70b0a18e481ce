// The side thread judges writes as the server does, one after the other, and gives up what takes too long.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createManualClock, systemClock } from '../../base/index.ts';
import { YamlError, parseYaml } from '../../codec/index.ts';
import type { ValidateRequest } from '../../crd/index.ts';
import { createWorkerThread, parseYamlWith } from './worker.ts';

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

describe('createSideThread', () => {
  const side = createWorkerThread({ clock: systemClock, report: (error) => assert.fail(String(error)) });
  after(() => side.stop());

  it('run answers what is wrong by schema and by rule, in order of asking', async () => {
    const schema = { type: 'string', pattern: '^a+$', 'x-kubernetes-validations': [{ rule: 'size(self) < 3' }] };
    const answers = await Promise.all(['aa', 'aaa', 'b', 5n].map((value) => side.run('judge', request(schema, value))));
    assert.deepEqual(answers.map(({ errors }) => errors.map(({ field, message }) => `${field}: ${message}`)), [
      [], ['spec: Invalid value: "aaa": failed rule: size(self) < 3'], ['spec: Invalid value: "b": spec in body should match \'^a+$\''],
      ['spec: Invalid value: "integer": spec in body must be of type string: "integer"', '<nil>: Invalid value: null: some validation rules were not checked '
        + 'because the object was invalid; correct the existing errors to complete validation'],
    ]);
  });

  it('parseYamlWith reads long texts as short ones are read, and tells what is wrong with them', async () => {
    const parse = parseYamlWith(side);
    const long = Array.from({ length: 3000 }, (_, i) => `k${i}: ${i}`).join('\n');
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    assert.deepEqual(await parse(bytes(`${long}\nk1: 9007199254740993\n`)), await parseYaml(bytes(`${long}\nk1: 9007199254740993\n`)));
    await assert.rejects(parse(bytes(`${long}\n\t- a`)), (error: Error) => error instanceof YamlError && error.message.startsWith('yaml: line 3001'));
  });

  it('run gives up what takes too long, and the thread with it', async () => {
    const clock = createManualClock();
    const other = createWorkerThread({ clock, report: (error) => assert.fail(String(error)) });
    const schema = { type: 'array', items: { type: 'string', pattern: '^(a?){900}$' } };
    const asked = other.run('judge', request(schema, Array.from({ length: 1000 }, () => 'a'.repeat(800))));
    const next = other.run('judge', request({ type: 'string' }, 'a'));
    clock.advance(20_000);
    await assert.rejects(asked, /more computation than is available/);
    assert.deepEqual((await next).errors, []);
    await other.stop();
  });

  it('run answers no task with what was said to one that was given up', async () => {
    const clock = createManualClock();
    const other = createWorkerThread({ clock, report: (error) => assert.fail(String(error)) });
    // The thread is up, so that the next answer is there before anybody can take it.
    await other.run('judge', request({ type: 'string' }, 'a'));
    const late = other.run('judge', request({ type: 'string' }, 5n));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    clock.advance(20_000);
    const next = other.run('judge', request({ type: 'string' }, 'a'));
    await assert.rejects(late, /more computation than is available/);
    assert.deepEqual((await next).errors, []);
    await other.stop();
  });

  it('run rejects when the thread is stopped meanwhile, and after', async () => {
    const other = createWorkerThread({ clock: systemClock, report: (error) => assert.fail(String(error)) });
    const asked = other.run('judge', request({ type: 'string' }, 'a'));
    await Promise.all([assert.rejects(asked, /stopping/), other.stop()]);
    await assert.rejects(other.run('judge', request({ type: 'string' }, 'a')), /too much work is waiting/);
  });
});
