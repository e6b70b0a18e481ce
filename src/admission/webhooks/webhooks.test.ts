// What webhooks are sent, which answers are accepted, what patches do, and how refusals and failures read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, type SchemaSet, StatusError, loadSchemas } from '../../apimachinery/index.ts';
import { createManualClock, systemClock } from '../../base/index.ts';
import type { AdmissionAttributes, AuditAnnotation, Catalog, Resource } from '../../registry/index.ts';
import { createBuiltinResources, schemaData } from '../../resources/index.ts';
import { createAdmissionChain } from '../chain.ts';
import type { EvaluateElsewhere, EvaluationTask } from '../match/evaluation.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import { evaluateTask } from '../policies/evaluator.ts';
import { WebhookConfigurations } from './configurations.ts';
import { createMutatingWebhooks, type WebhookDependencies } from './mutating.ts';
import { createValidatingWebhooks } from './validating.ts';

const schemas: SchemaSet = loadSchemas(schemaData);
const rows = createBuiltinResources(schemas);
const configMaps = rows.find(({ plural }) => plural === 'configmaps') as Resource;
const newEvents = rows.find(({ group, plural }) => group === 'events.k8s.io' && plural === 'events') as Resource;
const scalers = rows.find(({ plural }) => plural === 'horizontalpodautoscalers') as Resource;
const catalog = { resources: () => rows, generation: 1 } as unknown as Catalog;

interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly object: any; readonly kind: { readonly version: string } };
}
type Answer = (review: Review, hook: string) => unknown;

const answerOf = (response: object): Answer => (review) => ({ apiVersion: review.apiVersion, kind: 'AdmissionReview',
  response: { uid: review.request.uid, allowed: true, ...response } });
const patching = (...operations: unknown[]): Answer => answerOf({ patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });
const allowing = answerOf({});

const hook = (name: string, more: object = {}) => ({
  name, clientConfig: { url: `https://hook/${name}` }, rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }],
  namespaceSelector: {}, objectSelector: {}, sideEffects: 'None', failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10,
  admissionReviewVersions: ['v1'], ...more,
});

function attributes(more: Partial<AdmissionAttributes> = {}): AdmissionAttributes & { readonly notes: Map<string, AuditAnnotation> } {
  const notes = new Map<string, AuditAnnotation>();
  const object: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns' }, data: { k: 'v' } };
  return {
    resource: configMaps, version: 'v1', namespace: 'ns', operation: 'CREATE', subresource: '', name: 'a',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    object, oldObject: undefined, options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' }, notes,
    context: { user: { name: 'u', groups: ['g'] }, dryRun: false, fieldManager: 'm', warnings: [], auditAnnotations: notes }, ...more,
  };
}

/** A chain of webhooks of one sort, and what they were sent and reported. */
function createBench(sort: 'mutating' | 'validating', hooks: readonly object[], answer: Answer, more: Partial<WebhookDependencies> = {}) {
  const calls: { readonly name: string; readonly review: Review; readonly timeoutMs: number; readonly leftMs: number | undefined }[] = [];
  const reported: unknown[] = [];
  const report = (what: string) => (value: object): void => {
    reported.push([what, ...Object.values({ ...value, durationMs: undefined }).filter((field) => field !== undefined)]);
  };
  const metrics: AdmissionMetrics = {
    countStep: () => () => {}, recordWebhook: report('call'), recordRejection: report('rejection'), recordFailOpen: report('open'),
    recordConditions: report('conditions'), recordPolicyCheck: () => undefined, recordPodSecurity: () => undefined,
  };
  const configurations = new WebhookConfigurations(catalog);
  configurations.put({ metadata: { name: 'conf' }, webhooks: hooks } as unknown as KubeObject);
  const clock = createManualClock();
  const dependencies: WebhookDependencies = {
    configurations, schemas, clock, random: { uuid: () => 'uid-1' }, metrics, askAccess: () => ({ type: 'none', reason: '' }),
    readNamespace: async () => undefined, onFailOpen: () => undefined, onUnusable: () => undefined,
    async send({ url = '' }, body, { timeoutMs, leftMs }) {
      const name = url.slice(url.lastIndexOf('/') + 1);
      calls.push({ name, review: body as Review, timeoutMs, leftMs });
      return answer(body as Review, name);
    },
    ...more,
  };
  const plugin = sort === 'mutating' ? createMutatingWebhooks(dependencies) : createValidatingWebhooks(dependencies);
  const chain = createAdmissionChain([plugin]);
  const run = async (request: AdmissionAttributes): Promise<void> => (sort === 'mutating' ? chain.mutate(request) : chain.validate(request));
  return { run, calls, reported, clock, names: () => calls.map(({ name }) => name) };
}

const refusal = async (work: Promise<void>): Promise<{ readonly code: number | undefined; readonly message: string | undefined }> => {
  const error = await work.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof StatusError, String(error));
  return { code: error.status.code, message: error.status.message };
};

test('webhooks are sent a review with the request as upstream describes it', async () => {
  const { run, calls } = createBench('validating', [hook('h')], allowing);
  const request = attributes({ context: { ...attributes().context, user: { name: 'u', uid: '7', groups: ['g'], extra: { e: ['x'] } }, dryRun: true } });
  await run(request);
  const configMap = { group: '', version: 'v1', kind: 'ConfigMap' };
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  assert.deepEqual(calls[0]?.review, { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: {
    uid: 'uid-1', kind: configMap, resource, requestKind: configMap, requestResource: resource, name: 'a', namespace: 'ns', operation: 'CREATE',
    userInfo: { username: 'u', uid: '7', groups: ['g'], extra: { e: ['x'] } }, object: request.object, oldObject: null, dryRun: true,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  } });
});

test('refusals have the message, reason, code and details of the webhook, and a code of 400 at least', async () => {
  const refuse = async (response: object) => refusal(createBench('validating', [hook('h')], answerOf({ allowed: false, ...response })).run(attributes()));
  const denied = 'admission webhook "h" denied the request';
  assert.deepEqual(await refuse({}), { code: 400, message: `${denied} without explanation` });
  assert.deepEqual(await refuse({ status: { code: 200, message: 'low' } }), { code: 400, message: `${denied}: low` });
  assert.deepEqual(await refuse({ status: { code: 409, reason: 'Conflict' } }), { code: 409, message: `${denied}: Conflict` });
});

test('answers that cannot be trusted are failed calls, in the words of upstream', async () => {
  const fail = async (answer: Answer, sort: 'mutating' | 'validating' = 'validating') =>
    (await refusal(createBench(sort, [hook('h')], answer).run(attributes()))).message;
  const text = (why: string) => `Internal error occurred: failed calling webhook "h": ${why}`;
  const invalid = (why: string) => text(`received invalid webhook response: ${why}`);
  assert.equal(await fail(answerOf({ uid: 'other' })), invalid('expected response.uid="uid-1", got "other"'));
  assert.equal(await fail(() => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })), invalid('webhook response was absent'));
  assert.equal(await fail(answerOf({ allowed: 'yes' })),
    text('failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool'));
  assert.equal(await fail(patching()), invalid('validating webhook may not return response.patch'));
  assert.equal(await fail(answerOf({ patch: 'W10=' }), 'mutating'), invalid('webhook returned response.patch but not response.patchType'));
  assert.equal(await fail(() => Promise.reject(new Error('Post "https://hook/h": EOF'))), text('failed to call webhook: Post "https://hook/h": EOF'));
  assert.equal(await fail((review) => ({ ...(answerOf({})(review, 'h') as object), apiVersion: 'admission.k8s.io/v1beta1' })),
    text('failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion'));
});

test('v1beta1 answers are not compared with the question', async () => {
  const { run } = createBench('mutating', [hook('h', { admissionReviewVersions: ['v3', 'v1beta1'] })],
    () => ({ response: { uid: 'x', allowed: true, patch: Buffer.from('[{"op":"add","path":"/data/b","value":"c"}]').toString('base64') } }));
  const request = attributes();
  await run(request);
  assert.deepEqual(request.object?.['data'], { b: 'c', k: 'v' });
});

test('patches are applied, typed and read back; those that do not apply fail the request whatever the failure policy says', async () => {
  const run = async (...operations: unknown[]) => {
    const request = attributes();
    await createBench('mutating', [hook('h', { failurePolicy: 'Ignore' })], patching(...operations)).run(request);
    return request.object;
  };
  assert.deepEqual((await run({ op: 'add', path: '/nonsense', value: 1 }, { op: 'replace', path: '/data/none', value: 'x' }))?.['data'], { k: 'v', none: 'x' });
  const fail = async (operation: object) => (await refusal(run(operation).then(() => undefined))).message;
  assert.equal(await fail({ op: 'test', path: '/data/k', value: 'x' }), 'Internal error occurred: testing value /data/k failed: test failed');
  assert.equal(await fail({ op: 'remove', path: '/data/x' }),
    "Internal error occurred: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value");
  assert.equal(await fail({ op: 'add', path: '/data/n', value: 5 }),
    'Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string');
  assert.equal(await fail({ op: 'add', path: '/a/b/c', value: 5 }),
    'Internal error occurred: add operation does not apply: doc is missing path: "/a/b/c": missing value');
});

test('a patch that answers a DELETE is refused', async () => {
  const { run } = createBench('mutating', [hook('h')], patching({ op: 'add', path: '/x', value: 1 }));
  const request = attributes({ operation: 'DELETE', object: undefined, oldObject: attributes().object });
  assert.equal((await refusal(run(request))).message,
    'Internal error occurred: admission webhook "h" attempted to modify the object, which is not supported for this operation');
});

test('webhooks of another version get the object converted, and their patches are converted back', async () => {
  const { run, calls } = createBench('mutating', [hook('h', { rules: [{ operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'],
    resources: ['horizontalpodautoscalers'] }] })], patching({ op: 'add', path: '/spec/minReplicas', value: 4 }));
  const object = { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v2', metadata: { name: 'a', namespace: 'ns' },
    spec: { maxReplicas: 5, scaleTargetRef: { kind: 'Deployment', name: 'd' } } } as unknown as KubeObject;
  const request = attributes({ resource: scalers, version: 'v2', kind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' }, object });
  await run(request);
  assert.deepEqual([calls[0]?.review.request.kind.version, calls[0]?.review.request.object.apiVersion], ['v1', 'autoscaling/v1']);
  assert.deepEqual([request.object?.apiVersion, (request.object?.['spec'] as { minReplicas: number }).minReplicas], ['autoscaling/v2', 4]);
});

test('webhooks of another group that shows the same objects get them converted too', async () => {
  const { run, calls } = createBench('mutating', [hook('h', { rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }] })],
    patching({ op: 'add', path: '/message', value: 'seen' }));
  const kind = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };
  const object = { kind: 'Event', apiVersion: 'events.k8s.io/v1', metadata: { name: 'a', namespace: 'ns' }, note: 'sent' } as unknown as KubeObject;
  const request = attributes({ resource: newEvents, kind, object });
  await run(request);
  assert.deepEqual([calls[0]?.review.request.object.apiVersion, calls[0]?.review.request.object.message], ['v1', 'sent']);
  assert.deepEqual([request.object?.apiVersion, request.object?.['note']], ['events.k8s.io/v1', 'seen']);
});

test('mutating webhooks are called in order; IfNeeded ones again when the object has changed after them', async () => {
  const again = { reinvocationPolicy: 'IfNeeded' };
  const change = patching({ op: 'add', path: '/data/seen', value: 'third' });
  const { run, names } = createBench('mutating', [hook('first', again), hook('second'), hook('third'), hook('fourth', again)],
    (review, name) => (name === 'third' ? change : allowing)(review, name));
  await run(attributes());
  assert.deepEqual(names(), ['first', 'second', 'third', 'fourth', 'first']);
});

test('failurePolicy Ignore passes over failed calls, notes them for audit and counts them; refusals are never passed over', async () => {
  const ignoring = hook('h', { failurePolicy: 'Ignore' });
  const broken = createBench('mutating', [hook('ok'), ignoring], (review, name) => (name === 'h' ? Promise.reject(new Error('EOF')) : allowing(review, name)));
  const request = attributes();
  await broken.run(request);
  assert.deepEqual(broken.reported, [['call', 'ok', 'admit', 'CREATE', 200, false], ['call', 'h', 'admit', 'CREATE', 503, false], ['open', 'h', 'admit']]);
  assert.deepEqual([...request.notes].map(([key, { value }]) => [key, value]), [
    ['mutation.webhook.admission.k8s.io/round_0_index_0', '{"configuration":"conf","webhook":"ok","mutated":false}'],
    ['mutation.webhook.admission.k8s.io/round_0_index_1', '{"configuration":"conf","webhook":"h","mutated":false}'],
    ['failed-open.mutation.webhook.admission.k8s.io/round_0_index_1', 'h'],
  ]);
  const refusing = createBench('validating', [ignoring], answerOf({ allowed: false, status: { code: 403 } }));
  assert.equal((await refusal(refusing.run(attributes()))).code, 403);
  assert.deepEqual(refusing.reported, [['call', 'h', 'validating', 'CREATE', 403, true], ['rejection', 'h', 'validating', 'CREATE', 'no_error', 403]]);
});

test('dry runs are not sent to webhooks with side effects', async () => {
  const request = attributes({ context: { ...attributes().context, dryRun: true } });
  const bench = createBench('validating', [hook('h', { sideEffects: 'Some' })], allowing);
  assert.deepEqual(await refusal(bench.run(request)), { code: 400, message: 'admission webhook "h" does not support dry run' });
  assert.deepEqual(bench.names(), []);
});

test('a call lasts no longer than its timeout, and states the rest of the time of the request', async () => {
  const bench = createBench('validating', [hook('h', { timeoutSeconds: 5 })], allowing);
  const limited = attributes({ context: { ...attributes().context, signal: { aborted: false, deadlineMs: bench.clock.monotonicMs() + 2500 } } });
  await bench.run(attributes());
  await bench.run(limited);
  assert.deepEqual(bench.calls.map(({ timeoutMs, leftMs }) => [timeoutMs, leftMs]), [[5000, undefined], [5000, 2500]]);
});

test('the request hears how long each call took, also of one that failed', async () => {
  for (const sort of ['mutating', 'validating'] as const) {
    const bench = createBench(sort, [hook('a', { failurePolicy: 'Ignore' })], () => {
      bench.clock.advance(30);
      throw new Error('down');
    });
    const times: unknown[] = [];
    await bench.run(attributes({ context: { ...attributes().context, noteWebhook: (time) => times.push(time) } }));
    assert.deepEqual(times, [{ isMutating: sort === 'mutating', tookMs: 30 }]);
  }
});

test('warnings and audit annotations of webhooks reach the request', async () => {
  const request = attributes();
  await createBench('validating', [hook('h.example.com')], answerOf({ warnings: ['w'], auditAnnotations: { ok: 'yes', 'bad key!': 'x' } })).run(request);
  assert.deepEqual(request.context.warnings, ['w']);
  assert.deepEqual([...request.notes], [['h.example.com/ok', { value: 'yes', level: 'Metadata' }]]);
});

test('webhooks never see requests about webhook configurations and admission policies', async () => {
  const bench = createBench('validating', [hook('h')], answerOf({ allowed: false }));
  for (const kind of ['ValidatingWebhookConfiguration', 'MutatingAdmissionPolicyBinding']) {
    await bench.run(attributes({ kind: { group: 'admissionregistration.k8s.io', version: 'v1', kind } }));
  }
  assert.deepEqual(bench.names(), []);
});

test('WebhookConfigurations looks through its webhooks once per place, whatever the number of requests', () => {
  let looks = 0;
  const configurations = new WebhookConfigurations(catalog);
  for (let i = 0; i < 500; i++) {
    const rules = [{ operations: ['*'], apiGroups: ['apps'], get apiVersions() { looks += 1; return ['v1']; }, resources: ['deployments'] }];
    configurations.put({ metadata: { name: `c${i}` }, webhooks: [hook('h', { rules, matchPolicy: 'Exact' })] } as unknown as KubeObject);
  }
  const deployments = rows.find(({ plural }) => plural === 'deployments') as Resource;
  assert.equal(configurations.findCandidates(attributes()).length, 0);
  assert.equal(configurations.findCandidates(attributes({ resource: deployments })).length, 500);
  const before = looks;
  for (let i = 0; i < 100; i++) configurations.findCandidates(attributes({ resource: deployments, name: `n${i}` }));
  assert.equal(looks, before);
});

test('conditions that take long are evaluated elsewhere, and say the same there', async () => {
  const expression = 'object.binaryData.all(x, object.binaryData.exists(y, y == x))';
  const binaryData = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, 'AA==']));
  const object = { ...attributes().object, binaryData } as KubeObject;
  for (const [end, called] of [['', ['h']], [' && false', []], [" && authorizer.path('/').check('get').allowed()", []]] as const) {
    const tasks: EvaluationTask[] = [];
    const evaluateElsewhere: EvaluateElsewhere = async (task) => {
      tasks.push(task);
      return structuredClone(await evaluateTask(structuredClone(task)));
    };
    const hooks = [hook('h', { matchConditions: [{ name: 'c', expression: `${expression}${end}` }] })];
    const { run, names } = createBench('validating', hooks, allowing, { clock: systemClock, evaluateElsewhere });
    await run(attributes({ object }));
    assert.deepEqual([names(), tasks.length > 0, tasks.every(({ group }) => group === 'conditions')], [called, true, true], end);
  }
});
