// Expressions that take long are evaluated elsewhere, with the same outcome; an authorizer is asked here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { EvaluateElsewhere, EvaluationTask } from '../match/evaluation.ts';
import { evaluateTask } from './evaluator.ts';
import { createBench, createRequest, refusalOf, specOf } from './policies.suite.ts';

/** Costs more than a turn of the request may, and less than an expression may. */
const long = 'object.binaryData.all(x, object.binaryData.exists(y, y == x))';
const binaryData = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, 'AA==']));
const createLongRequest = () => createRequest({
  object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns' }, data: { k: 'v' }, binaryData } as unknown as KubeObject,
});

/** A stand-in of a thread: messages are cloned on their way. */
function createWorker() {
  const tasks: EvaluationTask[] = [];
  const evaluateElsewhere: EvaluateElsewhere = async (task, { user }) => {
    assert.equal(user.name, 'alice');
    tasks.push(task);
    return structuredClone(await evaluateTask(structuredClone(task)));
  };
  return { evaluateElsewhere, groups: () => tasks.map(({ group }) => group) };
}

for (const [what, spec, groups] of [
  ['short expressions', { validations: [{ expression: 'false', message: 'no' }] }, []],
  ['validations', { validations: [{ expression: long }, { expression: 'false', message: 'no' }] }, ['validations']],
  ['variables', { variables: [{ name: 'v', expression: long }], validations: [{ expression: '!variables.v', message: 'no' }] }, ['validations']],
  ['conditions', { matchConditions: [{ name: 'c', expression: long }], validations: [{ expression: 'false', message: 'no' }] }, ['conditions']],
  ['annotations', {
    auditAnnotations: [{ key: 'k', valueExpression: `string(${long})` }], validations: [{ expression: 'false', message: 'no' }],
  }, ['annotations']],
  ['what asks the authorizer, once without its decision', {
    validations: [{ expression: `${long} && authorizer.path('/').check('get').allowed()`, message: 'no' }],
  }, ['validations', 'validations']],
] as const) {
  test(`evaluateElsewhere gets ${what} by what they take, and denies as it is denied here`, async () => {
    const worker = createWorker();
    const refuse = (more: Pick<Parameters<typeof createBench>[1], 'evaluateElsewhere'>) =>
      refusalOf(() => createBench('validating', { policies: { p: specOf(spec) }, ...more }).validate(createLongRequest()));
    const status = await refuse(worker);
    assert.match(status?.message ?? '', / denied request: no$/);
    assert.deepEqual(await refuse({}), status);
    assert.deepEqual(worker.groups(), groups);
  });
}

test('mutations are made elsewhere and applied here', async () => {
  const worker = createWorker();
  const spec = { reinvocationPolicy: 'Never', mutations: [
    { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'a': 'short'}}" } },
    { patchType: 'JSONPatch', jsonPatch: { expression: `[JSONPatch{op: 'add', path: '/data/b', value: string(${long}) + string(object.data.a)}]` } },
    { patchType: 'ApplyConfiguration', applyConfiguration: { expression: `Object{data: {'c': string(${long})}}` } },
  ] };
  const request = createLongRequest();
  await createBench('mutating', { policies: { p: specOf(spec) }, evaluateElsewhere: worker.evaluateElsewhere }).mutate(request);
  assert.deepEqual(request.object?.['data'], { k: 'v', a: 'short', b: 'trueshort', c: 'true' });
  assert.deepEqual(worker.groups(), [1, 2]);
});

for (const [what, decide] of [
  ['at once', () => ({ type: 'none' as const, reason: '' })],
  ['later', async () => ({ type: 'none' as const, reason: '' })],
] as const) {
  test(`an authorizer that decides ${what} is asked each question once`, async () => {
    const asked: string[] = [];
    const worker = createWorker();
    const allowed = (path: string): string => `authorizer.path('${path}').check('get').allowed()`;
    const validations = [`!${allowed('/a')}`, `${long} && !${allowed('/b')}`, allowed('/a')].map((expression) => ({ expression, message: 'no' }));
    const chain = createBench('validating', {
      policies: { p: specOf({ validations }) }, evaluateElsewhere: worker.evaluateElsewhere,
      askAccess({ path }) {
        asked.push(path);
        return decide();
      },
    });
    assert.match((await refusalOf(() => chain.validate(createLongRequest())))?.message ?? '', / denied request: no$/);
    assert.deepEqual([asked, worker.groups().length > 0], [['/a', '/b'], true]);
  });
}
