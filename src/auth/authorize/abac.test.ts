// ABAC: the reference's own examples, lines of both formats, what is no line, and the rules that can be listed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAbacPolicies } from './abac.ts';
import { makeRequest } from './testing.ts';

const versioned = (spec: object): string => JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });
const { authorize, resolveRules } = readAbacPolicies([
  '# comments and empty lines', '',
  versioned({ user: 'alice', namespace: '*', resource: '*', apiGroup: '*' }),
  versioned({ user: 'kubelet', namespace: '*', resource: 'pods', readonly: true }),
  versioned({ user: 'bob', namespace: 'projectCaribou', resource: 'pods', readonly: true }),
  versioned({ group: 'devs', namespace: 'dev', resource: 'deployments', apiGroup: 'apps' }),
  versioned({ user: 'eve', group: 'ops', nonResourcePath: '/logs*' }),
  versioned({ user: '*', nonResourcePath: '/version', readonly: true }),
  '{"user":"old","readonly":true}', '{"group":"older","namespace":"dev"}',
].join('\n'));

const ask = (who: string, what: string, namespace?: string): string =>
  (authorize(makeRequest(`${who} system:authenticated`, what, namespace)) as { type: string }).type;

describe('readAbacPolicies', () => {
  const rows: readonly (readonly [who: string, what: string, namespace: string, expected: 'allow' | 'none'])[] = [
    ['alice', 'delete pods', 'ns', 'allow'], ['alice', 'get /logs', '', 'none'],
    ['kubelet', 'list pods', '', 'allow'], ['kubelet', 'create pods', '', 'none'],
    ['bob', 'get pods', 'projectCaribou', 'allow'], ['bob', 'get pods', 'other', 'none'],
    ['carol devs', 'update deployments.apps', 'dev', 'allow'], ['carol devs', 'update deployments', 'dev', 'none'],
    ['eve', 'get /logs/a', '', 'none'], ['eve ops', 'post /logs/a', '', 'allow'],
    ['nadia', 'get /version', '', 'allow'], ['nadia', 'post /version', '', 'none'],
    ['old', 'watch secrets.any', 'x', 'allow'], ['old', 'get /any', '', 'allow'], ['old', 'create secrets', '', 'none'],
    ['x older', 'create secrets', 'dev', 'allow'], ['x older', 'get /any', '', 'none'],
  ];
  for (const [who, what, namespace, expected] of rows) {
    it(`${who} ${what} in ${JSON.stringify(namespace)}: ${expected}`, () => assert.equal(ask(who, what, namespace), expected));
  }

  it('says why where no line matches', async () => {
    assert.deepEqual(await authorize(makeRequest('zoe', 'get pods')), { type: 'none', reason: 'No policy matched.' });
  });

  it('lists rules by namespace', () => {
    assert.deepEqual(resolveRules({ name: 'carol', groups: ['devs'] }, 'dev').rules, [{ verbs: ['*'], apiGroups: ['apps'], resources: ['deployments'] }]);
    assert.deepEqual(resolveRules({ name: 'carol', groups: ['devs'] }, 'other').rules, []);
  });

  it('names the line that is none', () => {
    assert.throws(() => readAbacPolicies('\n{"user":1}'), /^Error: line 2: \{"user":1\}: user must be a string/);
    assert.throws(() => readAbacPolicies('nonsense'), /line 1/);
    assert.throws(() => readAbacPolicies('{"apiVersion":"v1","kind":"Pod"}'), /unrecognized object/);
  });
});
