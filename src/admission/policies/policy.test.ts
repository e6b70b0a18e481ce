// Compiling of policies: one program for all requests that wait for it, an expression at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { compileConfiguration } from '../webhooks/webhook.ts';
import { createPolicy } from './policy.ts';
import { compileValidations } from './validations.ts';

const variables = Array.from({ length: 20 }, (_, i) => ({ name: `v${i}`, expression: i === 0 ? '1' : `variables.v${i - 1} + 1` }));
const object = {
  metadata: { name: 'p', uid: 'u', generation: 1 },
  spec: {
    variables, validations: [{ expression: 'variables.v19 == 20', messageExpression: "'no'" }], auditAnnotations: [{ key: 'k', valueExpression: "'v'" }],
  },
} as unknown as KubeObject;

test('a policy is compiled once, with a pause after each expression', async () => {
  const policy = createPolicy(object, compileValidations);
  let pauses = 0;
  const pause = (): undefined => void (pauses += 1);
  const first = policy.prepare(pause);
  assert.equal(policy.prepare(pause), first);
  await first;
  assert.equal(pauses, 23);
  assert.equal(policy.prepare(pause), undefined);
  const { program } = policy;
  assert.deepEqual([program.variables.length, program.validations[0]?.text, program.annotations[0]?.key], [20, 'variables.v19 == 20', 'k']);
});

test('a program that nothing has prepared is compiled at once, to the same', async () => {
  const [prepared, read] = [createPolicy(object, compileValidations), createPolicy(object, compileValidations)];
  await prepared.prepare(() => undefined);
  assert.deepEqual(read.program.variables.map(({ name }) => name), prepared.program.variables.map(({ name }) => name));
  assert.equal(read.program, read.program);
});

test('a long expression takes many turns, in a policy and in a webhook', async () => {
  const expression = Array.from({ length: 5000 }, () => 'true').join('&&');
  let pauses = 0;
  const pause = (): undefined => void (pauses += 1);
  await createPolicy({ ...object, spec: { validations: [{ expression }] } } as unknown as KubeObject, compileValidations).prepare(pause);
  assert.ok(pauses > 30, `${pauses} pauses`);
  pauses = 0;
  const configuration = { metadata: { name: 'w' }, webhooks: [{ name: 'a', matchConditions: [{ name: 'c', expression }] }] } as unknown as KubeObject;
  await compileConfiguration(configuration)[0]?.prepareConditions(pause);
  assert.ok(pauses > 30, `${pauses} pauses`);
});
