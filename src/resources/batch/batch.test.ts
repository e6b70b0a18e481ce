// Jobs and CronJobs, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { readPath, toObject, toObjects } from '../common/values.ts';
import { box, build, change, completeStored, create, prepareNew, update } from '../kinds.suite.ts';

const at = (seconds: number): string => `2024-01-01T00:00:0${seconds}Z`;
const conditions = (...types: string[]): object[] => types.map((type) => ({ type, status: 'True' }));
const template = (labels: object = { app: 'x' }, spec: object = {}): object => ({ metadata: { labels }, spec: { containers: [box()], ...spec } });

const jobTemplate = { spec: { restartPolicy: 'Never', containers: [box()] } };

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['batch/Job', { spec: { template: template({}) } }, ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']],
  ['batch/Job', { spec: { completionMode: 'Indexed', parallelism: 1, template: template({}, { restartPolicy: 'Never' }) } },
    ['spec.completions: Required value: when completion mode is Indexed']],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateJobStatus wants ends that make sense', () => {
  const spec = { completions: 3, completionMode: 'Indexed', parallelism: 1 };
  const status = {
    completedIndexes: '0,2-1', failedIndexes: '0-5', ready: 1, completionTime: at(0), uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] },
    conditions: conditions('Complete', 'Failed'),
  };
  assert.deepEqual(update('batch/Job', { spec, status }, { old: { spec }, subresource: 'status' }), [
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
    'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
    'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    'status.startTime: Required value: startTime is required for finished job',
    'status.uncountedTerminatedPods: Invalid value: {"Succeeded":["a",""],"Failed":["a"]}: must be empty for finished job',
    'status.completedIndexes: Invalid value: "0,2-1": error parsing completedIndexes: non-increasing order, previous: 2, current: 1',
    'status.failedIndexes: Invalid value: "0-5": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    'status.ready: Invalid value: 1: cannot set more ready pods than active',
  ]);
});

test('validateJobStatus refuses a step back', () => {
  const spec = { completions: 3, completionMode: 'Indexed', parallelism: 1 };
  const old = { spec, status: { succeeded: 2, startTime: at(0), completionTime: at(0), conditions: conditions('Complete', 'SuccessCriteriaMet') } };
  const status = { succeeded: 1, startTime: at(1), completionTime: at(0) };
  assert.deepEqual(update('batch/Job', { spec, status }, { old, subresource: 'status' }), [
    `status.completionTime: Invalid value: "${at(0)}": cannot set completionTime when there is no Complete=True condition`,
    `status.completionTime: Invalid value: "${at(0)}": must be equal to or after \`startTime\``,
    'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
    `status.startTime: Invalid value: "${at(1)}": field is immutable for unsuspended job once set`,
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
  ]);
});

test('prepareForCreate of a job makes the selector, unless it is set by hand', () => {
  const job = prepareNew('batch/Job', { spec: { template: { metadata: {} } } });
  const labels = { 'batch.kubernetes.io/controller-uid': 'uid-1', 'batch.kubernetes.io/job-name': 'a', 'controller-uid': 'uid-1', 'job-name': 'a' };
  // Labels that only the template has are shown, and neither validated nor seen by admission before.
  assert.equal(job.metadata.labels, undefined);
  completeStored('batch/Job', job);
  assert.deepEqual(job.metadata.labels, labels);
  const metadata = { labels: { x: 'y' } };
  const labelled = prepareNew('batch/Job', { metadata: { name: 'a', uid: 'uid-1', ...metadata }, spec: { template: { metadata } } });
  assert.deepEqual(labelled.metadata.labels, { ...labels, x: 'y' });
  assert.deepEqual(job['spec'], {
    template: { metadata: { labels } }, selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } },
  });
  const manual = { spec: { manualSelector: true, selector: { matchLabels: { x: 'y' } } } };
  assert.deepEqual(prepareNew('batch/Job', manual)['spec'], manual.spec);
});

test('validateJob checks policies for failure and success', () => {
  const errorsOf = (spec: object): readonly string[] => build('batch/Job', { spec: { template: jobTemplate, ...spec } }).errors;
  assert.deepEqual(errorsOf({ podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [2, 0] } }] } }), [
    'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
    'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
    'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0]: must be ordered',
  ]);
  const indexed = { completionMode: 'Indexed', completions: 3 };
  assert.deepEqual(errorsOf({ ...indexed, successPolicy: { rules: [{ succeededIndexes: '0,3', succeededCount: 4 }] } }), [
    'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,3": error parsing succeededIndexes: too large index: "3"',
    'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)',
    'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 0 '
      + '(the number of indexes in the specified succeededIndexes field)',
  ]);
  assert.deepEqual(errorsOf({ maxFailedIndexes: 1, managedBy: 'x' }), [
    'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
    'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
    'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
  ]);
});

test('validateJobUpdate shows what is sealed as the reference keeps it', () => {
  const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'a.b/c', status: 'True' }] }];
  const before = { spec: { template: jobTemplate, podReplacementPolicy: 'Failed' } };
  assert.deepEqual(change('batch/Job', before, (job) => Object.assign(job['spec'] as object, { podFailurePolicy: { rules } })), [
    'spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Ignore","OnExitCodes":null,"OnPodConditions":[{"Type":"a.b/c","Status":"True"}]}]}: '
      + 'field is immutable',
  ]);
});

test('validateJobUpdate lets a waiting job change how its pods are scheduled, labelled and provided for', () => {
  const job = (status: object = {}): object => ({ spec: { suspend: true, template: jobTemplate }, status });
  const podOf = (object: KubeObject): JsonObject => toObject(readPath(object, 'spec', 'template', 'spec'));
  const edits: readonly (readonly [string, (object: KubeObject) => void])[] = [
    ['resources', (object) => { toObjects(podOf(object)['containers'])[0]!['resources'] = { requests: { cpu: '2' } }; }],
    ['nodeSelector', (object) => { podOf(object)['nodeSelector'] = { a: 'b' }; }],
    ['image', (object) => { toObjects(podOf(object)['containers'])[0]!['image'] = 'other'; }],
  ];
  const refusals = (status: object): readonly (readonly string[])[] => edits.map(([, edit]) =>
    change('batch/Job', job(status), edit).map((error) => error.slice(0, error.indexOf(':'))));
  const started = { startTime: at(0) };
  assert.deepEqual(refusals({}), [[], [], ['spec.template.spec']]);
  assert.deepEqual(refusals({ ...started, conditions: conditions('Suspended') }), [[], [], ['spec.template.spec']]);
  for (const status of [started, { active: 1 }]) assert.deepEqual(refusals(status), [['spec.template'], ['spec.template'], ['spec.template']]);
});

test('validateJob shows the labels of a template in the order of their names', () => {
  const job = { spec: { selector: { matchLabels: { z: '1' } }, template: template({ z: '1', 'job-name': 'b', a: '1' }, { restartPolicy: 'Never' }) } };
  assert.deepEqual(create('batch/Job', job).filter((error) => error.startsWith('spec.template.metadata.labels')), [
    'spec.template.metadata.labels[job-name]: Invalid value: {"a":"1","batch.kubernetes.io/controller-uid":"uid-1","batch.kubernetes.io/job-name":"a",'
      + '"controller-uid":"uid-1","job-name":"b","z":"1"}: must be \'a\'',
  ]);
});
