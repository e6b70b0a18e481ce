// The annotation of a Deployment that older versions have a field for: read as a number, written as one, and refused where it is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../test-support/index.ts';
import { applyDefaults, box, create, prepareChanged } from '../kinds.suite.ts';

const KEY = 'deprecated.deployment.rollback.to';
const annotated = (annotations: object): object => ({
  metadata: { name: 'a', annotations },
  spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [box()] } } },
});
const wrong = (text: string, why = 'invalid syntax'): string =>
  `failed to parse annotation[${KEY}]=${text} as int64: strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`;

test('applyDefaults of a deployment writes the revision of a rollback as a number', () => {
  const written = (text: string, others: object = {}): unknown => applyDefaults('apps/Deployment', annotated({ [KEY]: text, ...others })).metadata.annotations;
  for (const [text, shown] of [['+3', '3'], ['007', '7'], ['-0', '0'], ['-12', '-12'], ['x', 'x']] as const) assert.deepEqual(written(text), { [KEY]: shown });
  assert.deepEqual([written(''), written('', { a: 'b' })], [undefined, { a: 'b' }]);
});

test('validateDeployment refuses a rollback to what is before the first revision', () => {
  assert.deepEqual(create('apps/Deployment', annotated({ [KEY]: '-3' })), ['spec.rollback.version: Invalid value: -3: must be greater than or equal to 0']);
  assert.deepEqual(create('apps/Deployment', annotated({ [KEY]: '3' })), []);
});

test('prepareForUpdate of the status of a deployment keeps the revision of its rollback', () => {
  const annotationsAfter = (now: object, old: object): unknown =>
    prepareChanged('apps/Deployment', { object: annotated(now), old: annotated(old), subresource: 'status' }).metadata.annotations;
  assert.deepEqual(annotationsAfter({ [KEY]: '4', a: 'b' }, { [KEY]: '3' }), { [KEY]: '3', a: 'b' });
  assert.deepEqual(annotationsAfter({ [KEY]: '4' }, {}), undefined);
});

test('a deployment whose rollback is no number is refused, each write in its own words', async (context) => {
  const server = await startTestServer();
  context.after(() => server.close());
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const object = (text: string): object => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...annotated({ [KEY]: text }) });
  const send = async (method: string, query: string, { body, type = 'application/json' }: { readonly body: object; readonly type?: string }) => {
    const { status, text } = await server.request({ method, path: `${path}${query}`, body, headers: { 'content-type': type } });
    return [status, JSON.parse(text).message] as [number, string];
  };
  const cannot = (why: string): string => `Deployment in version "v1" cannot be handled as a Deployment: ${why}`;
  assert.deepEqual(await send('POST', '', { body: object('x') }), [400, cannot(wrong('x'))]);
  assert.deepEqual(await send('POST', '', { body: object('9223372036854775808') }), [400, cannot(wrong('9223372036854775808', 'value out of range'))]);
  assert.equal((await send('POST', '', { body: object('5') }))[0], 201);
  const patch = { metadata: { annotations: { [KEY]: 'x' } } };
  const [status, message] = await send('PATCH', '/a', { body: patch, type: 'application/merge-patch+json' });
  assert.equal(status, 422);
  assert.ok(message.startsWith(' "" is invalid: patch: Invalid value: ') && message.endsWith(`: ${wrong('x')}`));
  assert.deepEqual(await send('PATCH', '/a', { body: patch, type: 'application/strategic-merge-patch+json' }), [500, wrong('x')]);
  assert.deepEqual(await send('PATCH', '/a?fieldManager=m&force=true', { body: object('x'), type: 'application/apply-patch+yaml' }),
    [500, `failed to convert to unversioned (/a; apps/v1, Kind=Deployment): ${wrong('x')}`]);
});
