// Mutating policies by example: what apply configurations and JSON patches make of an object, what failures do, and when policies run again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { createBench, createRequest, refusalOf, rowOf, specOf } from './policies.suite.ts';

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const mutations = (...list: object[]): object => ({ mutations: list, reinvocationPolicy: 'Never' });

async function mutate(spec: object, request: Partial<AdmissionAttributes> = {}): Promise<KubeObject | undefined> {
  const attributes = createRequest(request);
  await createBench('mutating', { policies: { p: specOf(spec) } }).mutate(attributes);
  return attributes.object;
}
const refusal = (spec: object, request: Partial<AdmissionAttributes> = {}) => refusalOf(() => mutate(spec, request));
const dataOf = (object: KubeObject | undefined): unknown => object?.['data'];

test('an apply configuration is merged into the object, which stays as it was given', async () => {
  const { object } = createRequest();
  const labels = "Object{metadata: Object.metadata{labels: {'by': request.userInfo.username}}, data: {'x': string(object.data.k)}}";
  const mutated = await mutate(mutations(apply(labels)), { object });
  assert.deepEqual(mutated, {
    kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns', labels: { by: 'alice' } }, data: { k: 'v', x: 'v' },
  });
  assert.deepEqual(dataOf(object), { k: 'v' });
});

const pod = (spec: object): Partial<AdmissionAttributes> => ({
  resource: rowOf('pods'), kind: { group: '', version: 'v1', kind: 'Pod' },
  object: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns' }, spec } as unknown as KubeObject,
});
const forPods = { matchConstraints: { resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] } };

test('items of keyed lists are merged by their keys, and the result has its defaults', async () => {
  const sidecar = "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'm', image: 'i', restartPolicy: 'Always'}], "
    + "containers: [Object.spec.containers{name: 'a', image: 'new'}]}}";
  const mutated = await mutate({ ...forPods, ...mutations(apply(sidecar)) }, pod({ containers: [{ name: 'b', image: 'b' }, { name: 'a', image: 'old' }] }));
  const { containers, initContainers } = mutated?.['spec'] as { containers: Record<string, unknown>[]; initContainers: Record<string, unknown>[] };
  assert.deepEqual(containers.map(({ name, image }) => [name, image]), [['b', 'b'], ['a', 'new']]);
  assert.deepEqual(initContainers.map(({ name, terminationMessagePath }) => [name, terminationMessagePath]), [['m', '/dev/termination-log']]);
});

test('a JSON patch is applied in order, and not at all where a test fails', async () => {
  const escaped = patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}, "
    + "JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y~z'), value: 'c'}]");
  const tested = patch("[JSONPatch{op: 'replace', path: '/data/k', value: 'w'}, JSONPatch{op: 'test', path: '/data/k', value: 'v'}]");
  const moved = patch("[JSONPatch{op: 'copy', from: '/data/k', path: '/data/c'}, JSONPatch{op: 'move', from: '/data/k', path: '/data/m'}]");
  const mutated = await mutate(mutations(escaped, tested, moved));
  assert.deepEqual(mutated?.metadata.labels, { a: 'b', 'x/y~z': 'c' });
  assert.deepEqual(dataOf(mutated), { c: 'v', m: 'v' });
});

const denied = "policy 'p' with binding 'b-p' denied request: ";
for (const [what, mutation, message] of [
  ['an expression fails', apply("Object{data: {'x': string(object.data.none)}}"),
    "expression 'Object{data: {'x': string(object.data.none)}}' resulted in error: no such key: none"],
  ['a patch does not apply', patch("[JSONPatch{op: 'remove', path: '/data/none'}]"),
    "JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value"],
  ['a field is not declared', apply('Object{none: 1}'),
    'error applying patch: failed to convert patch object to typed object: .none: field not declared in schema'],
  ['an object is named for another field', apply('Object{metadata: Object.data{labels: {}}}'),
    'type mismatch: unexpected type name "Object.data", expected "Object.metadata", which matches field name path from root Object type'],
] as const) {
  test(`a request is refused where ${what}, and passes unchanged under failurePolicy Ignore`, async () => {
    const status = await refusal(mutations(mutation));
    assert.deepEqual([status?.message, status?.reason, status?.code], [`${denied}${message}`, 'Invalid', 403]);
    assert.deepEqual(status?.details, { name: 'a', kind: 'configmaps', causes: [{ message: `${denied}${message}` }] });
    assert.deepEqual(dataOf(await mutate({ ...mutations(mutation), failurePolicy: 'Ignore' })), { k: 'v' });
  });
}

test('an apply configuration does not replace lists and maps that are merged as a whole', async () => {
  const atomic = apply("Object{spec: Object.spec{nodeSelector: {'a': 'b'}, tolerations: [Object.spec.tolerations{key: 'k'}], "
    + "containers: [Object.spec.containers{name: 'a', args: ['x']}]}}");
  assert.equal((await refusal({ ...forPods, ...mutations(atomic) }, pod({ containers: [{ name: 'a', image: 'i' }] })))?.message,
    `${denied}error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: `
    + '.spec.nodeSelector, .spec.tolerations, .spec.containers[0].args');
});

for (const [what, operation, message] of [
  ['has a field of another type', "JSONPatch{op: 'add', path: '/data', value: 1}", /^Internal error occurred: json: cannot unmarshal number/],
  ['has an unknown field', "JSONPatch{op: 'add', path: '/none', value: 1}", /^Internal error occurred: strict decoding error: unknown field "none"$/],
] as const) {
  test(`a patched object that ${what} is a server error, whatever the failure policy says`, async () => {
    const status = await refusal({ ...mutations(patch(`[${operation}]`)), failurePolicy: 'Ignore' });
    assert.equal(status?.code, 500);
    assert.match(status?.message ?? '', message);
  });
}

test('all failures are causes of a refusal, configuration before mutations', async () => {
  const fails = mutations(apply('Object{none: 1}'), apply("Object{data: {'x': string(1 / 0)}}"));
  const chain = createBench('mutating', {
    policies: { p: specOf(fails), q: specOf({ ...fails, paramKind: { apiVersion: 'v1', kind: 'None' } }) },
  });
  const status = await refusalOf(() => chain.mutate(createRequest()));
  assert.equal(status?.reason, 'Forbidden');
  const starts = ['policy "q" denied request: failed to configure policy: ', `${denied}error applying patch: `, `${denied}expression 'Object{`];
  const messages = status?.details?.causes?.map(({ message = '' }) => message) ?? [];
  assert.deepEqual(messages.map((message, at) => message.slice(0, starts[at]?.length)), starts);
  assert.equal(status?.message, messages[0]);
});

test('removals are not mutated', async () => {
  assert.equal(await mutate(mutations(apply('Object{none: 1}')), { operation: 'DELETE', object: undefined }), undefined);
});

/** What each policy appended to `data.log`, after both passes. */
async function logOf(policies: Readonly<Record<string, 'Never' | 'IfNeeded'>>): Promise<unknown> {
  const append = (name: string) => apply(`Object{data: {'log': (has(object.data.log) ? string(object.data.log) : '') + '${name}'}}`);
  const specs = Object.entries(policies).map(([name, reinvocationPolicy]) => [name, specOf({ mutations: [append(name)], reinvocationPolicy })]);
  const attributes = createRequest();
  await createBench('mutating', { policies: Object.fromEntries(specs) }).mutate(attributes);
  return (dataOf(attributes.object) as { log?: string }).log;
}

test('policies that ask for it run once more after a mutation, the others do not', async () => {
  assert.equal(await logOf({ a: 'Never', b: 'Never' }), 'ab');
  assert.equal(await logOf({ a: 'IfNeeded', b: 'Never' }), 'aba');
  assert.equal(await logOf({ a: 'IfNeeded', b: 'IfNeeded' }), 'abab');
});
