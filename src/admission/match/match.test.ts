// Rules, forms, selectors and conditions, as tables: which requests webhooks and policies are about.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, type MetaLabelSelector, labelSelectorOf } from '../../apimachinery/index.ts';
import type { AdmissionAttributes, Catalog, Resource, StoredObject } from '../../registry/index.ts';
import { compileConditions, describeInput, evaluateConditions, joinErrors } from './conditions.ts';
import { Decisions, createAsk } from './decisions.ts';
import { findForm, requestedForm } from './resource-forms.ts';
import { type MatchRule, matchesRule, pointOf } from './rules.ts';
import { matchesNamespace, matchesObject } from './selectors.ts';

const version = (name: string, served = true) => ({ name, served, schema: { type: 'any' }, columns: [] });
const row = (plural: string, kind: string, more: Partial<Resource> = {}): Resource =>
  ({ group: '', kind, plural, namespaced: true, versions: [version('v1')], subresources: [], ...more }) as unknown as Resource;
const scale = { name: 'scale', verbs: [], kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } };
const pods = row('pods', 'Pod', { subresources: [{ name: 'status', verbs: [] }] });
const namespaces = row('namespaces', 'Namespace', { namespaced: false });
const scalers = row('scalers', 'Scaler', { group: 'a', versions: [version('v2'), version('v1'), version('v0', false)] as never, subresources: [scale] });
const events = row('events', 'Event');
const newEvents = row('events', 'Event', { group: 'events.k8s.io', storedAs: '/events' });
const catalog = { resources: () => [pods, namespaces, scalers, events, newEvents] } as unknown as Catalog;

function attributes(more: Partial<AdmissionAttributes>): AdmissionAttributes {
  const { resource = pods } = more;
  return {
    resource, version: 'v1', namespace: 'ns', operation: 'CREATE', subresource: '', name: 'a',
    kind: { group: resource.group, version: 'v1', kind: resource.kind },
    object: { metadata: {} }, oldObject: undefined, options: undefined, context: { user: { name: 'u', groups: ['g'] }, dryRun: false }, ...more,
  } as AdmissionAttributes;
}

const rule = (resources: string[], more: MatchRule = {}): MatchRule => ({ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources, ...more });

test('matchesRule compares operation, group, version, resource, subresource and scope', () => {
  const status = { subresource: 'status' };
  const cases: [MatchRule, Partial<AdmissionAttributes>, boolean][] = [
    [rule(['pods']), {}, true], [rule(['pods']), status, false], [rule(['pods/*']), {}, true], [rule(['pods/*']), status, true],
    [rule(['pods/status']), status, true], [rule(['pods/status']), {}, false], [rule(['*']), {}, true], [rule(['*']), status, false],
    [rule(['*/*']), status, true], [rule(['*/status']), status, true], [rule(['*/status']), {}, false],
    [rule(['pods'], { operations: ['UPDATE', 'CREATE'] }), {}, true], [rule(['pods'], { operations: ['UPDATE'] }), {}, false],
    [rule(['pods'], { apiGroups: ['apps'] }), {}, false], [rule(['pods'], { apiVersions: ['v2'] }), {}, false],
    [rule(['pods'], { operations: null }), {}, false],
    [rule(['*'], { scope: 'Namespaced' }), {}, true], [rule(['*'], { scope: 'Cluster' }), {}, false], [rule(['*'], { scope: '*' }), {}, true],
    [rule(['*'], { scope: 'Cluster' }), { resource: namespaces, namespace: '' }, true],
    [rule(['*'], { scope: 'Namespaced' }), { resource: namespaces, namespace: '' }, false],
  ];
  for (const [one, more, expected] of cases) assert.equal(matchesRule(one, pointOf(attributes(more))), expected, JSON.stringify([one, more]));
});

test('findForm finds what was asked for first, and with Equivalent the form of another version or group', () => {
  const find = (rules: MatchRule[], matchPolicy: string, more: Partial<AdmissionAttributes>) => {
    const request = attributes(more);
    const form = findForm(request, { rules, matchPolicy, point: pointOf(request), catalog });
    return form && `${form.resource.group}/${form.version}/${form.kind.kind}`;
  };
  const asked = { resource: scalers, version: 'v2', kind: { group: 'a', version: 'v2', kind: 'Scaler' } };
  assert.equal(find([rule(['scalers'], { apiVersions: ['v1'] })], 'Exact', asked), undefined);
  assert.equal(find([rule(['scalers'], { apiVersions: ['v1'] })], 'Equivalent', asked), 'a/v1/Scaler');
  assert.equal(find([rule(['scalers'], { apiVersions: ['v0'] })], 'Equivalent', asked), undefined, 'a version that is not served is no form');
  assert.equal(find([rule(['scalers'], { apiVersions: ['v1'] }), rule(['scalers'])], 'Equivalent', asked), 'a/v2/Scaler');
  assert.equal(find([rule(['scalers/scale'], { apiVersions: ['v1'] })], 'Equivalent', { ...asked, subresource: 'scale' }), 'a/v1/Scale');
  assert.equal(find([rule(['scalers/status'], { apiVersions: ['v1'] })], 'Equivalent', { ...asked, subresource: 'status' }), undefined);
  assert.equal(find([rule(['events'], { apiGroups: ['events.k8s.io'] })], 'Equivalent', { resource: events }), 'events.k8s.io/v1/Event');
});

const select = (selector: MetaLabelSelector) => labelSelectorOf(selector)!;
const labelled = (labels?: Record<string, string>): KubeObject => ({ metadata: { ...(labels && { labels }) } });

test('matchesNamespace reads the namespace, or the Namespace that is written; what is in no namespace passes', async () => {
  const read = async (name: string) => (name === 'ns' ? { labels: { team: 'blue' } } as unknown as StoredObject : undefined);
  const matches = async (more: Partial<AdmissionAttributes>, selector: MetaLabelSelector = { matchLabels: { team: 'blue' } }) =>
    matchesNamespace(select(selector), attributes(more), read);
  const red = { matchLabels: { team: 'red' } };
  assert.deepEqual(await Promise.all([matches({}), matches({}, red), matches({ namespace: '' }, red)]), [true, false, true]);
  const own = { resource: namespaces, namespace: '', name: 'ns' };
  assert.equal(await matches({ ...own, object: labelled({ team: 'red' }) }), false);
  assert.equal(await matches({ ...own, operation: 'DELETE', object: undefined }), true, 'what is deleted is read');
  await assert.rejects(matches({ namespace: 'none' }), { message: 'namespaces "none" not found' });
  assert.equal(await matches({ namespace: 'none' }, {}), true, 'an empty selector reads nothing');
});

test('matchesObject looks at the new and the old object, and never at what has no metadata', () => {
  const blue = select({ matchLabels: { team: 'blue' } });
  const absent = select({ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] });
  assert.equal(matchesObject(blue, { object: labelled(), oldObject: labelled({ team: 'blue' }) }), true);
  assert.equal(matchesObject(blue, { object: labelled({ team: 'red' }), oldObject: undefined }), false);
  assert.equal(matchesObject(absent, { object: { kind: 'PodExecOptions' } as unknown as KubeObject, oldObject: undefined }), false);
  assert.equal(matchesObject(select({}), { object: undefined, oldObject: undefined }), true);
});

test('evaluateConditions: a false one wins over others that fail; failures are reported together; checks wait for their answers', async () => {
  const asked: string[] = [];
  const askAccess = async ({ user, verb, resource, namespace }: { user: { name: string }; verb: string; resource: string; namespace: string }) => {
    asked.push(`${user.name} ${verb} ${resource} ${namespace}`);
    return { type: verb === 'get' ? 'allow' as const : 'none' as const, reason: '' };
  };
  const object = { metadata: { name: 'a' }, data: { k: 'v' } } as KubeObject;
  const request = attributes({ object });
  const evaluate = async (...expressions: string[]) => {
    const conditions = compileConditions(expressions.map((expression, index) => ({ name: `c${index}`, expression })));
    const input = describeInput(request, { form: requestedForm(request), object, oldObject: undefined });
    return new Decisions(createAsk(request, askAccess)).run((authorize) => evaluateConditions(conditions, { ...input, authorize }));
  };
  assert.deepEqual(await evaluate("object.data.k == 'v'", "request.name == 'a' && request.userInfo.username == 'u'", 'oldObject == null'), { type: 'match' });
  assert.deepEqual(await evaluate('object.data.none == 1', 'false'), { type: 'mismatch' });
  const failed = await evaluate('object.data.none == 1', 'true', 'oldObject.data.k == "v"');
  assert.deepEqual(failed, { type: 'failed', errors: [
    "expression 'object.data.none == 1' resulted in error: no such key: none", 'expression \'oldObject.data.k == "v"\' resulted in error: no such key: data',
  ] });
  assert.deepEqual(await evaluate("authorizer.requestResource.check('get').allowed()", "authorizer.requestResource.check('get').allowed()"), { type: 'match' });
  assert.deepEqual(await evaluate("authorizer.serviceAccount('n', 's').group('').resource('pods').check('list').allowed()"), { type: 'mismatch' });
  assert.deepEqual(asked, ['u get pods ns', 'system:serviceaccount:n:s list pods ']);
});

test('joinErrors shows one error as it is, several in brackets, none twice', () => {
  assert.deepEqual([joinErrors(['a']), joinErrors(['a', 'b', 'a'])], ['a', '[a, b]']);
});
