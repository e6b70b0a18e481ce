// RBAC as tables: rules and requests, reasons, changes that take effect at once, and rights that cannot be granted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startStepCounter } from '../../test-support/steps.ts';
import { createBootstrapPolicy } from '../bootstrap/bootstrap-policy.ts';
import { describeMissing, findUncovered } from './cover.ts';
import { createEscalationRules } from './escalation.ts';
import { createRbacAuthorizer, resolveRules } from './rbac.ts';
import { reviewAccess } from './access-review.ts';
import { type PolicyRule, allowsRequest } from './rule.ts';
import { PolicyStore, makeBinding, makeRequest, makeRole } from './testing.ts';

const rule = (verbs: string, resources: string, more: Partial<PolicyRule> = {}): PolicyRule =>
  ({ verbs: verbs.split(' '), apiGroups: [''], resources: resources.split(' '), ...more });
const user = (name: string) => ({ kind: 'User', name });
const now = Promise.resolve();
const countSteps = await startStepCounter();

describe('allowsRequest', () => {
  const rows: readonly (readonly [PolicyRule, string, boolean])[] = [
    [rule('get', 'pods'), 'get pods x', true],
    [rule('get', 'pods'), 'get pods/log x', false],
    [rule('get', 'pods/log'), 'get pods/log x', true],
    [rule('get', 'pods/log'), 'get pods x', false],
    [rule('get', '*'), 'get pods/log x', true],
    [rule('get', '*/scale'), 'get deployments/scale x', true],
    [rule('get', '*/scale'), 'get deployments/status x', false],
    [rule('get', '*/scale'), 'get scale x', false],
    [rule('*', 'pods'), 'deletecollection pods', true],
    [rule('get', 'pods', { apiGroups: ['apps'] }), 'get pods x', false],
    [rule('get', 'pods', { apiGroups: ['*'] }), 'get pods.metrics.k8s.io x', true],
    [rule('*', 'pods', { resourceNames: ['x'] }), 'get pods x', true],
    [rule('*', 'pods', { resourceNames: ['x'] }), 'get pods y', false],
    [rule('*', 'pods', { resourceNames: ['x'] }), 'list pods', false],
    [rule('*', 'pods', { resourceNames: ['x'] }), 'list pods x', true],
    [rule('*', 'pods', { resourceNames: ['x'] }), 'create pods', false],
    [rule('*', 'pods', { resourceNames: ['x'] }), 'deletecollection pods', false],
    [rule('*', '*', { apiGroups: ['*'] }), 'get /metrics', false],
    [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }, 'get /metrics', true],
    [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }, 'get /metrics/slis', false],
    [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }, 'get /a/b/c', true],
    [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }, 'get /a', false],
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, 'post /a', false],
    [{ verbs: ['*'], nonResourceURLs: ['*'] }, 'get pods x', false],
  ];
  for (const [given, what, expected] of rows) {
    it(`${JSON.stringify(given)} ${expected ? 'allows' : 'does not allow'} ${what}`, () => {
      assert.equal(allowsRequest(given, makeRequest('u', what)), expected);
    });
  }
});

describe('createRbacAuthorizer', () => {
  it('names the binding, the role and the subject that allowed', async () => {
    const store = new PolicyStore();
    store.put(makeRole('ns', 'r', rule('get', 'pods')));
    store.put(makeRole('', 'c', rule('get', 'secrets')));
    store.put(makeBinding('ns', 'Role/r', user('other'), { kind: 'Group', name: 'devs' }, { kind: 'ServiceAccount', name: 'robot' }));
    store.put(makeBinding('', 'ClusterRole/c', user('alice')));
    const authorize = createRbacAuthorizer(await store.open(), now);
    const reason = async (who: string, what: string, namespace?: string) => (await authorize(makeRequest(who, what, namespace))).reason;
    assert.equal(await reason('bob devs', 'get pods x'), 'RBAC: allowed by RoleBinding "to-r/ns" of Role "r" to Group "devs"');
    assert.equal(await reason('system:serviceaccount:ns:robot', 'get pods x'),
      'RBAC: allowed by RoleBinding "to-r/ns" of Role "r" to ServiceAccount "robot/ns"');
    assert.equal(await reason('alice', 'get secrets x', 'any'), 'RBAC: allowed by ClusterRoleBinding "to-c" of ClusterRole "c" to User "alice"');
    assert.equal(await reason('bob devs', 'get pods x', 'elsewhere'), '');
    assert.equal(await reason('bob devs', 'get pods x', ''), '');
    assert.equal(await reason('system:serviceaccount:elsewhere:robot', 'get pods x'), '');
  });

  it('reports roles that are missing, unless another allows', async () => {
    const store = new PolicyStore();
    store.put(makeBinding('', 'ClusterRole/lost', user('alice')));
    store.put(makeBinding('ns', 'Role/gone', user('alice')));
    const authorize = createRbacAuthorizer(await store.open(), now);
    assert.deepEqual(await authorize(makeRequest('alice', 'get pods x', '')), {
      type: 'none', reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "lost" not found',
    });
    assert.deepEqual(await authorize(makeRequest('alice', 'get pods x')), {
      type: 'none', reason: 'RBAC: [clusterrole.rbac.authorization.k8s.io "lost" not found, role.rbac.authorization.k8s.io "gone" not found]',
    });
    store.put(makeRole('ns', 'gone', rule('get', 'pods')));
    assert.equal((await authorize(makeRequest('alice', 'get pods x'))).type, 'allow');
  });

  it('decides with what is committed, in the same turn', async () => {
    const store = new PolicyStore();
    const index = await store.open();
    const authorize = createRbacAuthorizer(index, now);
    const decide = () => authorize(makeRequest('alice', 'get pods x'));
    assert.equal((await decide()).type, 'none');
    const decideNow = () => (decide() as { type: string }).type;
    store.put(makeRole('ns', 'r', rule('get', 'pods')));
    store.put(makeBinding('ns', 'Role/r', user('alice')));
    assert.equal(decideNow(), 'allow');
    store.put(makeBinding('ns', 'Role/r', user('bob')));
    assert.equal(decideNow(), 'none');
    store.put(makeBinding('ns', 'Role/r', user('bob'), user('alice')));
    store.put(makeRole('ns', 'r', rule('list', 'pods')));
    assert.equal(decideNow(), 'none');
    store.put(makeRole('ns', 'r', rule('get', 'pods')));
    store.remove('RoleBinding', 'ns', 'to-r');
    assert.equal(decideNow(), 'none');
  });

  it('remembers for one caller what holds for every name, until a role or a binding changes', async () => {
    const store = new PolicyStore();
    store.put(makeRole('ns', 'named', rule('get', 'secrets', { resourceNames: ['x'] })));
    store.put(makeRole('ns', 'r', rule('get', 'pods')));
    store.put(makeBinding('ns', 'Role/named', user('alice')));
    store.put(makeBinding('ns', 'Role/r', user('alice')));
    const authorize = createRbacAuthorizer(await store.open(), now);
    const { user: alice } = makeRequest('alice', 'get pods x');
    const decideFor = (what: string, namespace?: string) => (authorize({ ...makeRequest('alice', what, namespace), user: alice }) as { type: string }).type;
    await authorize(makeRequest('alice', 'get pods x'));
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(['get pods x', 'get pods y', 'get secrets x', 'get secrets y', 'list pods'].map((what) => decideFor(what)),
        ['allow', 'allow', 'allow', 'none', 'none']);
      assert.equal(decideFor('get pods x', 'elsewhere'), 'none');
      assert.equal((await authorize(makeRequest('bob', 'get pods x'))).type, 'none');
    }
    // The parts of these two are the same text when they are put together.
    const base = { ...makeRequest('alice', 'get pods x'), user: alice };
    assert.equal((await authorize({ ...base, resource: 'pod', subresource: 's' })).type, 'none');
    assert.equal((await authorize({ ...base, namespace: 'sns', resource: 'pod' })).type, 'none');
    store.remove('RoleBinding', 'ns', 'to-r');
    assert.equal(decideFor('get pods x'), 'none');
    store.put(makeBinding('ns', 'Role/r', user('alice')));
    assert.equal(decideFor('get pods x'), 'allow');
    store.put(makeRole('ns', 'r', rule('list', 'pods')));
    assert.deepEqual([decideFor('get pods x'), decideFor('list pods')], ['none', 'allow']);
  });

  it('decides nothing before the bootstrap roles are there', async () => {
    let arrive = () => {};
    const roles = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const store = new PolicyStore();
    const answer = createRbacAuthorizer(await store.open(), roles)(makeRequest('u system:unauthenticated', 'get /healthz'));
    for (const object of Object.values(createBootstrapPolicy()).flat()) store.put(object);
    arrive();
    assert.equal((await answer).reason,
      'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole "system:public-info-viewer" to Group "system:unauthenticated"');
  });
});

describe('the bootstrap policy', () => {
  const rows: readonly (readonly [who: string, what: string, expected: 'allow' | 'none'])[] = [
    ['u system:authenticated', 'get /apis/apps/v1', 'allow'],
    ['u system:authenticated', 'get /apisx', 'none'],
    ['u system:authenticated', 'post /api', 'none'],
    ['u system:authenticated', 'get /metrics', 'none'],
    ['u system:unauthenticated', 'get /api', 'none'],
    ['u system:unauthenticated', 'get /openapi/v3', 'none'],
    ['u system:unauthenticated', 'get /readyz', 'allow'],
    ['u system:unauthenticated', 'get /readyz/ping', 'none'],
    ['u system:monitoring', 'get /metrics', 'allow'],
    ['u system:authenticated', 'create selfsubjectreviews.authentication.k8s.io', 'allow'],
    ['u system:authenticated', 'create tokenreviews.authentication.k8s.io', 'none'],
    ['u system:authenticated', 'create subjectaccessreviews.authorization.k8s.io', 'none'],
    ['system:serviceaccount:kube-system:namespace-controller', 'deletecollection pods', 'allow'],
    ['system:serviceaccount:default:namespace-controller', 'deletecollection pods', 'none'],
    ['system:node:n1 system:nodes', 'get secrets s', 'none'],
  ];
  for (const [who, what, expected] of rows) {
    it(`${who} ${what}: ${expected}`, async () => {
      const store = new PolicyStore();
      for (const object of Object.values(createBootstrapPolicy()).flat()) store.put(object);
      assert.equal((await createRbacAuthorizer(await store.open(), now)(makeRequest(who, what))).type, expected);
    });
  }
});

describe('findUncovered', () => {
  const rows: readonly (readonly [string, readonly PolicyRule[], PolicyRule, string])[] = [
    ['the same', [rule('get list', 'pods')], rule('list get', 'pods'), ''],
    ['pieces of several', [rule('get', 'pods'), rule('list', 'pods')], rule('get list', 'pods'), ''],
    ['more verbs', [rule('get', 'pods')], rule('get list watch', 'pods'), '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}'],
    ['a wildcard of what is held', [rule('get', 'pods')], rule('*', 'pods'), '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
    ['a name of what is held', [rule('get', 'pods')], rule('get', 'pods', { resourceNames: ['x'] }), ''],
    [
      'everything, holding one name', [rule('get', 'pods', { resourceNames: ['x'] })], rule('get', 'pods'),
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ],
    ['a subresource of all', [rule('get', '*/scale')], rule('get', 'pods/scale'), ''],
    ['paths', [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }], { verbs: ['get'], nonResourceURLs: ['/a/b', '/b'] }, '{NonResourceURLs:["/b"], Verbs:["get"]}'],
  ];
  for (const [what, held, wanted, expected] of rows) {
    it(`says what is missing when granting ${what}`, () => assert.equal(describeMissing(findUncovered(held, [wanted])), expected));
  }

  it('checks rules that stand for billions of rights as a whole', async () => {
    const many = Array.from({ length: 2000 }, (_, index) => `x${index}`);
    const huge: PolicyRule = { verbs: many, apiGroups: many, resources: many, resourceNames: many };
    const steps = await countSteps(() => {
      assert.deepEqual(findUncovered([rule('get', 'pods')], [huge, rule('get', 'pods')]), [huge]);
      assert.deepEqual(findUncovered([huge, rule('*', '*', { apiGroups: ['*'] })], [huge]), []);
    });
    assert.ok(steps < 100_000, `${steps} steps`);
  });
});

describe('createEscalationRules', () => {
  it('refuses in the words of the reference', async () => {
    const store = new PolicyStore();
    store.put(makeRole('ns', 'r', rule('get', 'configmaps')));
    store.put(makeBinding('ns', 'Role/r', user('alice')));
    store.put(makeBinding('', 'ClusterRole/lost', user('alice')));
    const rules = createEscalationRules(await store.open());
    const alice = { name: 'alice', groups: ['devs', 'system:authenticated'] };
    assert.equal(rules.findExcess(alice, 'ns', [rule('get', 'configmaps')]), undefined);
    assert.equal(
      rules.findExcess(alice, 'ns', [rule('get list', 'configmaps'), rule('get', 'secrets')]),
      'user "alice" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
      + '{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
      + '; resolution errors: [clusterrole.rbac.authorization.k8s.io "lost" not found]',
    );
    assert.equal(rules.findRole({ kind: 'Role', name: 'none' }, 'ns'), undefined);
  });
});

describe('resolveRules and reviewAccess', () => {
  it('list what is bound, once per binding', async () => {
    const store = new PolicyStore();
    store.put(makeRole('', 'c', rule('get', 'nodes')));
    store.put(makeBinding('', 'ClusterRole/c', user('alice'), { kind: 'Group', name: 'devs' }));
    assert.deepEqual(resolveRules(await store.open(), { name: 'alice', groups: ['devs'] }, ''), { rules: [rule('get', 'nodes')], errors: [] });
  });

  it('attack 40: a self review cannot be about another user', async () => {
    const store = new PolicyStore();
    store.put(makeRole('', 'c', rule('get', 'nodes')));
    store.put(makeBinding('', 'ClusterRole/c', user('alice')));
    const authorize = createRbacAuthorizer(await store.open(), now);
    const object = {
      apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata: {},
      spec: { user: 'alice', groups: ['system:masters'], resourceAttributes: { verb: 'get', resource: 'nodes' } },
    };
    const answer = await reviewAccess({ object, user: { name: 'bob', groups: [] }, namespace: '', subject: 'self' }, authorize);
    assert.deepEqual(answer['status'], { allowed: false });
  });
});
