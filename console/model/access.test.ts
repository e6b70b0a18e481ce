// RBAC as the page reads it: rules of a caller, subjects of an action, names, subresources, wildcards.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Action, type Policy, covers, findCaller, grantsFor, grantsOf, subjectsFor } from './access.ts';

const reader = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] };
const policy: Policy = {
  roles: [{ metadata: { name: 'reader', namespace: 'shop' }, rules: [reader] }, { metadata: { name: 'reader', namespace: 'other' }, rules: null }],
  clusterRoles: [{ metadata: { name: 'admin' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] }],
  bindings: [
    { metadata: { name: 'readers', namespace: 'shop' }, roleRef: { kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', name: 'jane' }, { kind: 'ServiceAccount', name: 'bot' }] },
    { metadata: { name: 'local', namespace: 'other' }, roleRef: { kind: 'ClusterRole', name: 'admin' }, subjects: [{ kind: 'Group', name: 'devs' }] },
    { metadata: { name: 'broken', namespace: 'shop' }, roleRef: { kind: 'Role', name: 'none' }, subjects: [{ kind: 'User', name: 'jane' }] },
  ],
  clusterBindings: [{ metadata: { name: 'root' }, roleRef: { kind: 'ClusterRole', name: 'admin' }, subjects: [{ kind: 'Group', name: 'system:masters' }] }],
};
const action = (verb: string, resource: string, namespace: string, name = ''): Action => ({ verb, group: '', resource, namespace, name });
const may = (user: string, groups: string[], wanted: Action): boolean => grantsOf(grantsFor(policy, findCaller(user, groups)), wanted).length > 0;

describe('access', () => {
  test('a caller has the rules of its bindings, where they hold', () => {
    assert.ok(may('jane', [], action('get', 'pods', 'shop')));
    for (const [verb, namespace] of [['get', 'other'], ['get', ''], ['delete', 'shop']] as const) assert.ok(!may('jane', [], action(verb, 'pods', namespace)));
    assert.ok(may('joe', ['devs'], action('delete', 'secrets', 'other')) && !may('joe', ['devs'], action('delete', 'secrets', 'shop')));
    assert.ok(may('root', ['system:masters'], action('delete', 'nodes', '')));
  });

  test('a service account is a user with groups, found by the namespace of its binding', () => {
    assert.ok(may('system:serviceaccount:shop:bot', [], action('list', 'pods/log', 'shop')));
    assert.ok(!may('system:serviceaccount:other:bot', [], action('list', 'pods', 'shop')));
    assert.ok(findCaller('system:serviceaccount:shop:bot', []).groups.includes('system:serviceaccounts:shop'));
    assert.deepEqual(findCaller('system:anonymous', []).groups, ['system:unauthenticated']);
  });

  test('subjectsFor names every subject of an action with its binding', () => {
    const found = subjectsFor(policy, action('get', 'pods', 'shop')).map(({ subject, binding }) => `${subject.name} by ${binding.metadata.name}`);
    assert.deepEqual(found.sort(), ['bot by readers', 'jane by readers', 'system:masters by root']);
  });

  test('covers takes wildcards, subresources and names as RBAC does', () => {
    assert.ok(covers({ verbs: ['get'], apiGroups: ['*'], resources: ['*/log'] }, action('get', 'pods/log', '')));
    assert.ok(!covers({ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, action('get', 'pods/log', '')));
    const named = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] };
    assert.ok(covers(named, action('get', 'pods', '', 'a')) && !covers(named, action('get', 'pods', '')) && !covers(named, action('get', 'pods', '', 'b')));
  });
});
