// Impersonation as a table: the headers, the rights of the caller, and the resulting user or refusal.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusError } from '../apimachinery/index.ts';
import type { Attributes } from './authorize/attributes.ts';
import { createImpersonator, readImpersonation } from './impersonate.ts';

const base: Attributes = {
  user: { name: 'caller', groups: [] }, verb: 'list', isResource: true, group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '',
  name: '', path: '',
};
const describeRight = ({ verb, group, namespace, resource, subresource, name }: Attributes): string =>
  `${verb} ${group}/${resource}${subresource && `/${subresource}`} ${namespace && `${namespace}/`}${name}`.trim();
const headers = (entries: Record<string, string | string[]>): Map<string, readonly string[]> =>
  new Map(Object.entries(entries).map(([name, value]) => [name, typeof value === 'string' ? [value] : value]));

async function act(entries: Record<string, string | string[]>, rights: readonly string[], attributes = base): Promise<string> {
  const wanted = readImpersonation(headers(entries));
  if (wanted === undefined) return 'nobody';
  const impersonate = createImpersonator((asked) => ({ type: rights.includes(describeRight(asked)) ? 'allow' : 'none', reason: '' }));
  try {
    const { user: { name, groups, uid, extra } } = await impersonate(wanted, attributes);
    return [name, groups.join(','), uid, extra && JSON.stringify(extra)].filter((part) => part !== undefined).join(' ');
  } catch (error) {
    return `${(error as StatusError).code} ${(error as StatusError).message}`;
  }
}

const legacyBob = 'impersonate /users bob';
const onUserInfo = 'impersonate-on:user-info:list /pods n/';
const refusedOnUserInfo = '403 pods is forbidden: User "caller" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "n"';
const byUserInfo = (what: string): string => `impersonate:user-info authentication.k8s.io/${what}`;
const cannotConstrain = (resource: string): string =>
  `is forbidden: User "caller" cannot impersonate:user-info resource "${resource}" in API group "authentication.k8s.io" at the cluster scope`;
const rows: readonly (readonly [string, Record<string, string | string[]>, readonly string[], string])[] = [
  ['no header', { accept: '*/*' }, [], 'nobody'],
  ['an empty user', { 'impersonate-user': '' }, [], 'nobody'],
  ['no right', { 'impersonate-user': 'bob' }, [], refusedOnUserInfo],
  ['the old right', { 'impersonate-user': 'bob' }, [legacyBob], 'bob system:authenticated'],
  ['the old right on the user and not on the group', { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }, [legacyBob], refusedOnUserInfo],
  ['a group with a comma, which is one group', { 'impersonate-user': 'bob', 'impersonate-group': ['devs, system:masters'] },
    [legacyBob, 'impersonate /groups devs', 'impersonate /groups system:masters'], refusedOnUserInfo],
  ['groups', { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'b'] },
    [legacyBob, 'impersonate /groups a', 'impersonate /groups b'], 'bob a,b,system:authenticated'],
  ['uid and extra', { 'impersonate-user': 'bob', 'impersonate-uid': '7', 'impersonate-extra-acme.com%2fteam': 'x' },
    [legacyBob, 'impersonate authentication.k8s.io/uids 7', 'impersonate authentication.k8s.io/userextras/acme.com/team x'],
    'bob system:authenticated 7 {"acme.com/team":["x"]}'],
  ['a service account', { 'impersonate-user': 'system:serviceaccount:n:a' }, ['impersonate /serviceaccounts n/a'],
    'system:serviceaccount:n:a system:serviceaccounts,system:serviceaccounts:n,system:authenticated'],
  ['anonymous', { 'impersonate-user': 'system:anonymous' }, ['impersonate /users system:anonymous'], 'system:anonymous system:unauthenticated'],
  ['the constrained right without the action', { 'impersonate-user': 'bob' }, ['impersonate:user-info authentication.k8s.io/users bob'], refusedOnUserInfo],
  ['the constrained right', { 'impersonate-user': 'bob' }, [onUserInfo, 'impersonate:user-info authentication.k8s.io/users bob'], 'bob system:authenticated'],
  ['system:masters with the constrained right', { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' },
    [onUserInfo, 'impersonate:user-info authentication.k8s.io/users bob', 'impersonate:user-info authentication.k8s.io/groups system:masters'],
    '403 groups.authentication.k8s.io "system:masters" is forbidden: User "caller" cannot impersonate:user-info resource "groups" in API group '
      + '"authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed'],
  ['system:masters among groups, though no group is allowed', { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'system:masters'] },
    [onUserInfo, byUserInfo('users bob')], `403 groups.authentication.k8s.io "system:masters" ${cannotConstrain('groups')}: impersonating the `
      + 'system:masters group is not allowed'],
  ['four groups with the right to all', { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'b', 'c', 'd'] },
    [onUserInfo, byUserInfo('users bob'), byUserInfo('groups *')], 'bob a,b,c,d,system:authenticated'],
  ['three groups with the right to all', { 'impersonate-user': 'bob', 'impersonate-group': ['a', 'b', 'c'] },
    [onUserInfo, byUserInfo('users bob'), byUserInfo('groups *')], `403 groups.authentication.k8s.io "a" ${cannotConstrain('groups')}`],
  ['four extra values with the right to all', { 'impersonate-user': 'bob', 'impersonate-extra-a.io%2fk': ['1', '2'], 'impersonate-extra-b.io%2fk': ['3', '4'] },
    [onUserInfo, byUserInfo('users bob'), byUserInfo('userextras/* *')], 'bob system:authenticated {"a.io/k":["1","2"],"b.io/k":["3","4"]}'],
  ['an extra key that is no path', { 'impersonate-user': 'bob', 'impersonate-extra-k': 'v' }, [onUserInfo, byUserInfo('users bob')],
    `403 userextras.authentication.k8s.io ${cannotConstrain('userextras')}: impersonating an invalid key in extra is not allowed: extra.key: Invalid `
      + 'value: "k": must be a domain-prefixed path (such as "acme.io/foo")'],
  ['an extra key in upper case', { 'impersonate-user': 'bob', 'impersonate-extra-a.io%2f%4b': 'v' }, [onUserInfo, byUserInfo('users bob')],
    `403 userextras.authentication.k8s.io ${cannotConstrain('userextras')}: impersonating a non-lowercase key in extra is not allowed: "a.io/K"`],
  ['any node', { 'impersonate-user': 'system:node:w' },
    ['impersonate-on:arbitrary-node:list /pods n/', 'impersonate:arbitrary-node authentication.k8s.io/nodes w'],
    'system:node:w system:nodes,system:authenticated'],
];

describe('createImpersonator', () => {
  for (const [what, entries, rights, expected] of rows) it(`${what}: ${expected}`, async () => assert.equal(await act(entries, rights), expected));

  it('lets a service account act as the node of its pod, and as no other', async () => {
    const user = { name: 'system:serviceaccount:n:agent', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['w'] } };
    const rights = ['impersonate-on:associated-node:list /pods n/', 'impersonate:associated-node authentication.k8s.io/nodes *'];
    assert.equal(await act({ 'impersonate-user': 'system:node:w' }, rights, { ...base, user }), 'system:node:w system:nodes,system:authenticated');
    assert.match(await act({ 'impersonate-user': 'system:node:v' }, rights, { ...base, user }), /^403 .*impersonate-on:arbitrary-node:list/);
  });

  it('words the refusal by the way that last let the caller through', async () => {
    const impersonate = createImpersonator((asked) => ({ type: describeRight(asked) === legacyBob ? 'allow' : 'none', reason: '' }));
    const ask = (name: string) => impersonate({ name, uid: '', groups: [], extra: {} }, base);
    await ask('bob');
    await assert.rejects(ask('dave'),
      /^StatusError: users "dave" is forbidden: User "caller" cannot impersonate resource "users" in API group "" at the cluster scope$/);
  });
});

describe('readImpersonation', () => {
  it('is a bad request without a user', () => {
    assert.throws(() => readImpersonation(headers({ 'impersonate-group': 'devs' })),
      /requested &user\.DefaultInfo\{Name:"", UID:"", Groups:\[\]string\{"devs"\}, Extra:map\[string\]\[\]string\(nil\)\} without impersonating a user name/);
    assert.throws(() => readImpersonation(headers({ 'impersonate-extra-k': 'v' })), /Extra:map\[string\]\[\]string\{"k":\[\]string\{"v"\}\}/);
  });
});
