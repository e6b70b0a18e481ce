// Attacks on authorization, each over the socket of a whole server: what a caller with narrow rights must not get, and how soon rights come and go.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ClientResponse, type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
const roles = `${rbac}/namespaces/default/roles`;
const bindings = `${rbac}/namespaces/default/rolebindings`;
const rule = (verbs: string, resources: string, more: Record<string, unknown> = {}) =>
  ({ apiGroups: [''], resources: resources.split(' '), verbs: verbs.split(' '), ...more });
const alice = { kind: 'User', apiGroup, name: 'alice' };

describe('authorization', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  const post = (path: string, body: unknown, token = 'admin-token') => server.request({ method: 'POST', path, body, token });
  const get = (path: string, token = 'alice-token') => server.request({ path, token });
  const bind = (name: string, role: string) => {
    const [kind, roleName] = role.split('/') as [string, string];
    return { metadata: { name }, roleRef: { apiGroup, kind, name: roleName }, subjects: [alice] };
  };
  async function grant(name: string, ...rules: readonly unknown[]): Promise<void> {
    assert.equal((await post(roles, { metadata: { name }, rules })).status, 201);
    assert.equal((await post(bindings, bind(name, `Role/${name}`))).status, 201);
  }
  async function revoke(name: string): Promise<void> {
    for (const path of [`${bindings}/${name}`, `${roles}/${name}`]) assert.equal((await server.request({ method: 'DELETE', path })).status, 200);
  }
  const isRefused = (response: ClientResponse, text: string) => {
    assert.equal(response.status, 403, response.text);
    assert.ok((response.body.message as string).includes(text), response.body.message);
  };

  it('rights come and go with the write that gives and takes them', async () => {
    for (let round = 0; round < 5; round++) {
      await grant('quick', rule('get', 'configmaps'));
      assert.equal((await get('/api/v1/namespaces/default/configmaps/none')).status, 404);
      await revoke('quick');
      assert.equal((await get('/api/v1/namespaces/default/configmaps/none')).status, 403);
    }
  });

  const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const actAs = (headers: Record<string, string>) => server.request({
    method: 'POST', path: reviews, body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }, token: 'alice-token',
    headers: { 'content-type': 'application/json', ...headers },
  });
  async function grantEverywhere(name: string, ...rules: readonly unknown[]): Promise<void> {
    assert.equal((await post(`${rbac}/clusterroles`, { metadata: { name }, rules })).status, 201);
    assert.equal((await post(`${rbac}/clusterrolebindings`, bind(name, `ClusterRole/${name}`))).status, 201);
  }
  async function revokeEverywhere(name: string): Promise<void> {
    for (const path of ['clusterrolebindings', 'clusterroles']) {
      assert.equal((await server.request({ method: 'DELETE', path: `${rbac}/${path}/${name}` })).status, 200);
    }
  }

  it('attack 36: no user acts as another without the right to every part of them', async () => {
    isRefused(await actAs({ 'impersonate-user': 'bob' }), 'User "alice" cannot impersonate');
    for (const part of ['impersonate-uid', 'impersonate-group', 'impersonate-extra-scopes']) {
      assert.equal((await actAs({ [part]: 'x' })).status, 400, part);
    }
    await grantEverywhere('as-bob', rule('impersonate', 'users', { resourceNames: ['bob'] }));
    assert.equal((await actAs({ 'impersonate-user': 'bob' })).body.status.userInfo.username, 'bob');
    isRefused(await actAs({ 'impersonate-user': 'carol' }), 'users "carol" is forbidden');
    isRefused(await actAs({ 'impersonate-user': 'bob', 'impersonate-uid': '1' }), 'uids.authentication.k8s.io "1" is forbidden');
    isRefused(await actAs({ 'impersonate-user': 'bob', 'impersonate-extra-scopes': 'all' }), 'userextras.authentication.k8s.io "all" is forbidden');
    isRefused(await actAs({ 'impersonate-user': 'system:serviceaccount:default:default' }), 'is forbidden: User "alice" cannot impersonate');
    await revokeEverywhere('as-bob');
    assert.equal((await actAs({ 'impersonate-user': 'bob' })).status, 403);
  });

  it('attack 37: a narrow right to act as others does not lead to system:masters', async () => {
    await grantEverywhere('as-devs', rule('impersonate', 'users'), rule('impersonate', 'groups', { resourceNames: ['devs'] }));
    const as = (group: string) => actAs({ 'impersonate-user': 'bob', 'impersonate-group': group });
    assert.deepEqual((await as('devs')).body.status.userInfo.groups, ['devs', 'system:authenticated']);
    for (const group of ['system:masters', 'devs, system:masters', 'System:Masters', 'system:masters ']) assert.equal((await as(group)).status, 403, group);
    isRefused(await as('system:masters'), 'groups "system:masters" is forbidden: User "alice" cannot impersonate resource "groups"');
    await revokeEverywhere('as-devs');
    const constrained = { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate:user-info'] };
    await grantEverywhere('as-anybody', constrained, { apiGroups: ['*'], resources: ['*'], verbs: ['impersonate-on:user-info:create'] });
    assert.equal((await as('devs')).status, 201);
    assert.equal((await as('system:masters')).status, 403);
    await revokeEverywhere('as-anybody');
  });

  it('attack 38: a role beyond the rights of its writer is refused, however it is written', async () => {
    await grant('writer', { apiGroups: [apiGroup], resources: ['roles'], verbs: ['create', 'update', 'patch', 'get'] }, rule('get', 'configmaps'));
    const create = (name: string, ...rules: readonly unknown[]) => post(roles, { metadata: { name }, rules }, 'alice-token');
    assert.equal((await create('held', rule('get', 'configmaps'))).status, 201);
    isRefused(await create('more', rule('get list', 'configmaps')),
      'is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["list"]}');
    isRefused(await create('star', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }), '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}');
    isRefused(await create('sub', rule('get', 'configmaps/status')), 'Resources:["configmaps/status"]');
    const patch = { method: 'PATCH', path: `${roles}/held`, token: 'alice-token', body: { rules: [rule('*', 'secrets')] } };
    isRefused(await server.request(patch), 'Resources:["secrets"]');
    isRefused(await server.request({ ...patch, path: `${roles}/held?dryRun=All` }), 'Resources:["secrets"]');
    const applied = { apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata: { name: 'applied', namespace: 'default' }, rules: [rule('*', 'secrets')] };
    isRefused(await server.request({
      method: 'PATCH', path: `${roles}/applied?fieldManager=m`, token: 'alice-token', body: JSON.stringify(applied),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    }), 'Resources:["secrets"]');
    await revoke('writer');
  });

  it('attack 38: aggregation collects for no user that may not do everything', async () => {
    const write = { apiGroups: [apiGroup], resources: ['clusterroles'], verbs: ['create', 'update'] };
    await post(`${rbac}/clusterroles`, { metadata: { name: 'role-writer' }, rules: [write] });
    await post(`${rbac}/clusterrolebindings`, bind('role-writer', 'ClusterRole/role-writer'));
    const all = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } }] } };
    isRefused(await post(`${rbac}/clusterroles`, { metadata: { name: 'all' }, ...all }, 'alice-token'),
      'must have cluster-admin privileges to use the aggregationRule');
    assert.equal((await post(`${rbac}/clusterroles`, { metadata: { name: 'all' }, ...all })).status, 201);
    await requestUntil(server, { path: `${rbac}/clusterroles/all` }, { until: ({ body }) => body.rules?.length > 50 });
  });

  it('attack 38: binding a role beyond the rights of the binder needs the bind verb', async () => {
    const bindVerb = { apiGroups: [apiGroup], resources: ['roles'], verbs: ['bind'], resourceNames: ['reader'] };
    await post(roles, { metadata: { name: 'reader' }, rules: [rule('get', 'secrets')] });
    await grant('binder', { apiGroups: [apiGroup], resources: ['rolebindings'], verbs: ['create'] });
    isRefused(await post(bindings, bind('mine', 'Role/reader'), 'alice-token'), '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}');
    isRefused(await post(bindings, bind('mine', 'ClusterRole/cluster-admin'), 'alice-token'), '{NonResourceURLs:["*"], Verbs:["*"]}');
    assert.equal((await post(bindings, bind('mine', 'Role/missing'), 'alice-token')).status, 404);
    await grant('bind-reader', bindVerb);
    isRefused(await post(bindings, bind('mine', 'ClusterRole/cluster-admin'), 'alice-token'), 'not currently held');
    assert.equal((await post(bindings, bind('mine', 'Role/reader'), 'alice-token')).status, 201);
    for (const name of ['binder', 'bind-reader']) await revoke(name);
    assert.equal((await server.request({ method: 'DELETE', path: `${bindings}/mine` })).status, 200);
  });

  it('attack 38: names limit what has a name, and nothing else', async () => {
    await grant('named', rule('*', 'configmaps', { resourceNames: ['one'] }));
    const path = '/api/v1/namespaces/default/configmaps';
    assert.equal((await get(`${path}/one`)).status, 404);
    assert.equal((await get(`${path}?fieldSelector=metadata.name%3Done`)).status, 200);
    for (const query of ['', '?fieldSelector=metadata.name%3Dtwo', '?fieldSelector=metadata.name%21%3Done', '?watch=1']) {
      assert.equal((await get(`${path}${query}`)).status, 403, query);
    }
    assert.equal((await post(path, { metadata: { name: 'one' } }, 'alice-token')).status, 403);
    assert.equal((await server.request({ method: 'DELETE', path, token: 'alice-token' })).status, 403);
    await revoke('named');
  });

  it('attack 39: connections behind subresources are authorized by the verb of their method', async () => {
    await grant('getter', rule('get', 'nodes pods'));
    isRefused(await get('/api/v1/nodes/x/proxy/metrics'), 'cannot get resource "nodes/proxy"');
    isRefused(await get('/api/v1/namespaces/default/pods/p/exec?command=id'), 'cannot get resource "pods/exec"');
    isRefused(await post('/api/v1/namespaces/default/pods/p/exec?command=id', '', 'alice-token'), 'cannot create resource "pods/exec"');
    isRefused(await post('/api/v1/namespaces/default/pods/http:p:1/proxy/x', '', 'alice-token'), 'cannot create resource "pods/proxy"');
    await revoke('getter');
  });

  it('attack 40: no user asks about others without the right to', async () => {
    const spec = { user: 'bob', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } };
    for (const path of ['/apis/authorization.k8s.io/v1/subjectaccessreviews', '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews']) {
      assert.equal((await post(path, { spec }, 'alice-token')).status, 403);
    }
    const own = await post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes: spec.resourceAttributes } }, 'alice-token');
    assert.deepEqual(own.body.status, { allowed: false });
  });

  it('attack 49: a refusal is the same whether or not the object, the namespace or the kind exists', async () => {
    await post('/api/v1/namespaces/default/secrets', { metadata: { name: 'there' } });
    const shapeOf = async (path: string) => {
      const { status, body } = await get(path);
      return [status, body.reason, (body.message as string).replace(/there|gone|default|nowhere|secrets|things/g, '_')];
    };
    const expected = await shapeOf('/api/v1/namespaces/default/secrets/there');
    assert.deepEqual(expected.slice(0, 2), [403, 'Forbidden']);
    for (const path of ['default/secrets/gone', 'nowhere/secrets/there', 'default/things/there']) {
      assert.deepEqual(await shapeOf(`/api/v1/namespaces/${path}`), expected, path);
    }
  });

  it('attack 49: an update that would create needs the right to create', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/new';
    await grant('updater', { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update', 'patch'] });
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'new' } };
    isRefused(await server.request({ method: 'PUT', path, body, token: 'alice-token' }),
      'leases.coordination.k8s.io "new" is forbidden: User "alice" cannot create resource "leases"');
    assert.equal((await server.request({ path })).status, 404);
    await revoke('updater');
  });

  it('attack 45: a kubelet deletes neither its node nor reads what its pods do not use', async () => {
    const node = { user: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
    const strict = await startTestServer({ authorizationMode: ['Node', 'RBAC'] });
    try {
      const ask = async (resourceAttributes: Record<string, string>) => {
        const body = { spec: { ...node, resourceAttributes } };
        const answer = await strict.request({ method: 'POST', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews', body });
        return answer.body.status.allowed as boolean;
      };
      assert.equal(await ask({ verb: 'get', resource: 'nodes', name: 'n1' }), true);
      assert.equal(await ask({ verb: 'delete', resource: 'nodes', name: 'n1' }), false);
      assert.equal(await ask({ verb: 'get', resource: 'nodes', name: 'n2' }), false);
      assert.equal(await ask({ verb: 'get', resource: 'secrets', name: 's', namespace: 'default' }), false);
      assert.equal(await ask({ verb: 'update', group: 'coordination.k8s.io', resource: 'leases', name: 'n2', namespace: 'kube-node-lease' }), false);
      const addPod = async (name: string, nodeName: string, volume: object) => {
        const spec = { nodeName, containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', ...volume }] };
        const path = '/api/v1/namespaces/default/pods';
        assert.equal((await strict.request({ method: 'POST', path, body: { metadata: { name, annotations: { s: 'stage' } }, spec } })).status, 201);
      };
      await addPod('mine', 'n1', { secret: { secretName: 's' } });
      await addPod('theirs', 'n2', { secret: { secretName: 'other' } });
      await addPod('claims', 'n1', { persistentVolumeClaim: { claimName: 'c' } });
      const stage = (name: string, claim: string) => ({
        metadata: { name }, spec: {
          capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], claimRef: { name: claim, namespace: 'default' },
          csi: { driver: 'd.example.com', volumeHandle: name, nodeStageSecretRef: { name: `stage-${name}`, namespace: 'vault' } },
        },
      });
      for (const body of [stage('v', 'c'), stage('w', 'd')]) {
        assert.equal((await strict.request({ method: 'POST', path: '/api/v1/persistentvolumes', body })).status, 201);
      }
      const mayRead = (resource: string, namespace: string, ...names: readonly string[]) =>
        Promise.all(names.map((name) => ask({ verb: 'get', resource, name, namespace })));
      assert.deepEqual(await mayRead('secrets', 'default', 's', 'other', 'stage', 'stage-v'), [true, false, false, false]);
      assert.deepEqual(await mayRead('secrets', 'vault', 'stage-v', 'stage-w', 's'), [true, false, false]);
      assert.deepEqual(await mayRead('pods', 'default', 'mine', 'theirs', 'none'), [true, false, false]);
      assert.deepEqual(await mayRead('persistentvolumes', '', 'v', 'w'), [true, false]);
    } finally {
      await strict.close();
    }
  });
});

interface NodeTokens {
  readonly admin: (method: string, path: string, body?: unknown) => Promise<any>;
  readonly token: (bound: object | undefined, ...audiences: readonly string[]) => Promise<any>;
}

/** A kubelet gets tokens for the audiences that volumes of its pod ask for, and for those that it has a right to. */
async function checkAudiences({ token, admin }: NodeTokens): Promise<void> {
  const volumes = [
    { name: 'p', projected: { sources: [{ serviceAccountToken: { audience: 'vault', path: 't' } }] } },
    { name: 'c', csi: { driver: 'csi.example.com' } }, { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
  ];
  const pod = await admin('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'speaker' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], volumes },
  });
  const bound = { apiVersion: 'v1', kind: 'Pod', name: 'speaker', uid: pod.metadata.uid };
  assert.equal(typeof (await token(bound, 'vault')).status.token, 'string');
  assert.equal(await token(bound, 'vault', 'other'), 'node may only request 0 or 1 audiences');
  assert.equal(await token(bound, 'other'), 'error validating audience "other": [csidriver.storage.k8s.io "csi.example.com" not found, '
    + 'persistentvolumeclaim "data" not found]');
  await admin('POST', '/apis/storage.k8s.io/v1/csidrivers', { metadata: { name: 'csi.example.com' }, spec: { tokenRequests: [{ audience: 'cloud' }] } });
  assert.equal(typeof (await token(bound, 'cloud')).status.token, 'string');
  await admin('POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
    metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName: 'disk' },
  });
  await admin('POST', '/api/v1/persistentvolumes', { metadata: { name: 'disk' }, spec: {
    accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, csi: { driver: 'csi.example.com', volumeHandle: 'x' },
  } });
  assert.equal(await token(bound, 'other'),
    'audience "other" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience');
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['other'], verbs: ['request-serviceaccounts-token-audience'] }];
  await admin('POST', `${rbac}/clusterroles`, { metadata: { name: 'speak' }, rules });
  await admin('POST', `${rbac}/clusterrolebindings`, { metadata: { name: 'speak' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'speak' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'system:node:n1' }] });
  assert.equal(typeof (await token(bound, 'other')).status.token, 'string');
}

describe('a server that restricts nodes', () => {
  it('attack 45: a kubelet writes nothing that would steer others', async () => {
    const groups = ['system:nodes'];
    const tokens = [{ token: 'kubelet', user: { name: 'system:node:n1', groups } }, { token: 'lost', user: { name: 'system:node:', groups } }];
    const server = await startTestServer({ authorizationMode: ['Node', 'RBAC'], enableAdmissionPlugins: ['NodeRestriction'], tokens });
    const send = async (method: string, path: string, body?: unknown, token = 'kubelet') => {
      const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
      const answer = await server.request({ method, path, token, headers, ...(body !== undefined && { body }) });
      return answer.status < 300 ? answer.body : answer.status === 403 ? (answer.body.message as string).replace(/^.* is forbidden: /, '') : answer.status;
    };
    const admin = (method: string, path: string, body?: unknown) => send(method, path, body, 'admin-token');
    const node = await send('POST', '/api/v1/nodes', { metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'n1', plain: 'x' } } });
    assert.equal(node.metadata.name, 'n1');
    const patches: readonly (readonly [object, string])[] = [
      [{ metadata: { labels: { 'node-restriction.kubernetes.io/zone': 'secure' } } }, 'is not allowed to modify labels: node-restriction.kubernetes.io/zone'],
      [{ metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } } }, 'is not allowed to modify labels: node-role.kubernetes.io/control-plane'],
      [{ spec: { taints: [] } }, 'node "n1" is not allowed to modify taints'],
      [{ metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'gone', uid: 'gone' }] } },
        'node "n1" is not allowed to modify ownerReferences'],
    ];
    await admin('PATCH', '/api/v1/nodes/n1', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
    for (const [patch, message] of patches) {
      for (const path of ['/api/v1/nodes/n1', '/api/v1/nodes/n1/status']) {
        const answer = await send('PATCH', path, patch);
        // What a status write leaves alone anyway may pass.
        if (path.endsWith('/status') && typeof answer === 'object') assert.deepEqual((await admin('GET', '/api/v1/nodes/n1')).spec.taints?.length, 1);
        else assert.equal(answer, message);
      }
    }
    assert.equal((await send('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { plain: 'y', 'node.kubernetes.io/x': 'y' } } })).metadata.labels.plain, 'y');
    assert.equal(await send('POST', '/api/v1/nodes', { metadata: { name: 'n2' } }), 'node "n1" is not allowed to modify node "n2"');
    assert.match(await send('POST', '/api/v1/nodes', { metadata: { name: 'n1' } }, 'lost') as string, /cannot create resource "nodes"/);

    const pods = '/api/v1/namespaces/default/pods';
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid, controller: true };
    const mirror = (metadata: object, spec: object = {}) => send('POST', pods, {
      metadata: { name: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], ...spec },
    });
    const refused: readonly (readonly [object, object, RegExp])[] = [
      [{ annotations: {} }, {}, /can only create mirror pods$/], [{}, { nodeName: 'n2' }, /spec\.nodeName set to itself$/], [{ ownerReferences: [] }, {},
        /an owner ref/],
      [{ ownerReferences: [{ ...owner, uid: 'other' }] }, {}, /UID mismatch/], [{ ownerReferences: [{ ...owner, controller: false }] }, {},
        /a controller owner/],
      [{ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }, {}, /must not set blockOwnerDeletion/], [{}, { serviceAccountName: 'default' },
        /reference (?:a )?service account/],
      [{}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] }, /reference secrets$/],
      [{}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }, /reference persistentvolumeclaims$/],
      [{}, { resourceClaims: [{ name: 'r', resourceClaimName: 'theirs' }] }, /reference resourceclaims$/],
    ];
    for (const [metadata, spec, message] of refused) assert.match(await mirror(metadata, spec) as string, message);
    assert.equal((await mirror({})).metadata.name, 'm');
    await admin('POST', pods, { metadata: { name: 'theirs' }, spec: { nodeName: 'n2', containers: [{ name: 'c', image: 'i' }] } });
    const own = await admin('POST', pods, { metadata: { name: 'ours' }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] } });
    assert.equal(await send('DELETE', `${pods}/theirs`), 'node "n1" can only delete pods with spec.nodeName set to itself');
    assert.match(await send('PATCH', `${pods}/theirs/status`, { status: { phase: 'Failed' } }) as string, /can only update pod status for pods/);
    assert.equal((await send('PATCH', `${pods}/ours/status`, { status: { phase: 'Running' } })).status.phase, 'Running');
    const claims = { status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'theirs' }] } };
    assert.match(String(await send('PATCH', `${pods}/ours/status`, claims)), /cannot update resource claim statuses|422/);

    const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
    const token = (boundObjectRef: object | undefined, ...audiences: readonly string[]) => send('POST', path, {
      apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences, ...(boundObjectRef !== undefined && { boundObjectRef }) },
    });
    const bound = { apiVersion: 'v1', kind: 'Pod', name: 'ours', uid: own.metadata.uid };
    assert.equal(await token(undefined), 'node requested token not bound to a pod');
    assert.equal(await token({ ...bound, uid: undefined }), 'node requested token with a pod binding without a uid');
    assert.match(await token({ ...bound, uid: 'x' }) as string, /does not match the UID in record/);
    assert.equal(typeof (await token(bound)).status.token, 'string');
    await checkAudiences({ token, admin });
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    await requestUntil(server, { path: '/api/v1/namespaces/kube-node-lease' }, { until: ({ status }) => status === 200 });
    const lease = (name: string) => send('POST', leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } });
    assert.equal(await lease('n2'), 'can only access node lease with the same name as the requesting node');
    assert.equal((await lease('n1')).metadata.name, 'n1');
    await server.close();
  });
});

describe('what is stored', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());
  const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
  const post = (path: string, body: unknown, token = 'admin-token') => server.request({ method: 'POST', path, body, token });
  async function grant(name: string, rules: readonly object[]): Promise<void> {
    assert.equal((await post(`${rbac}/clusterroles`, { metadata: { name }, rules })).status, 201);
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    assert.equal((await post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [alice] })).status, 201);
  }

  it('is a role whose rules the writer holds, also when a policy has added them', async () => {
    await grant('writer', [{ apiGroups: [apiGroup], resources: ['roles'], verbs: ['create'] }, rule('get', 'configmaps')]);
    const admissionregistration = '/apis/admissionregistration.k8s.io/v1';
    const mutation = { patchType: 'JSONPatch', jsonPatch: {
      expression: '[JSONPatch{op: "add", path: "/rules/-", value: {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}}]',
    } };
    const resourceRules = [{ apiGroups: [apiGroup], apiVersions: ['v1'], operations: ['CREATE'], resources: ['roles'] }];
    const policy = { metadata: { name: 'widen' }, spec: { matchConstraints: { resourceRules }, mutations: [mutation], reinvocationPolicy: 'Never',
      matchConditions: [{ name: 'named', expression: 'object.metadata.name.startsWith("wide")' }] } };
    assert.equal((await post(`${admissionregistration}/mutatingadmissionpolicies`, policy)).status, 201);
    const binding = { metadata: { name: 'widen' }, spec: { policyName: 'widen' } };
    assert.equal((await post(`${admissionregistration}/mutatingadmissionpolicybindings`, binding)).status, 201);
    const role = (name: string): object => ({ metadata: { name }, rules: [rule('get', 'configmaps')] });
    await requestUntil(server, { method: 'POST', path: `${roles}?dryRun=All`, body: role('wide') }, { until: ({ body }) => body.rules.length === 2 });
    assert.equal((await post(roles, role('plain'), 'alice-token')).status, 201);
    const refused = await post(roles, role('wide'), 'alice-token');
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.body.message, /attempting to grant RBAC permissions not currently held/);
  });

  it('is a device claim whose label, allocation and device statuses the writer may set', async () => {
    const resource = (name: string, verbs: readonly string[]): object => ({ apiGroups: ['resource.k8s.io'], resources: [name], verbs });
    await grant('claims', [resource('resourceclaims', ['create', 'get']), resource('resourceclaims/status', ['update', 'patch'])]);
    const claim = { apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim', metadata: { name: 'c' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'k', allocationMode: 'ExactCount', count: 1 } }] } } };
    const admin = structuredClone(claim);
    Object.assign(admin.spec.devices.requests[0]!.exactly, { adminAccess: true });
    const unlabelled = await post(claims, admin);
    assert.equal(unlabelled.status, 422, unlabelled.text);
    assert.match(unlabelled.body.message, /^ResourceClaim\.resource\.k8s\.io "c" is invalid: spec\.devices\.requests\[0\]\.adminAccess: Forbidden: admin/);
    assert.equal((await post(claims, claim, 'alice-token')).status, 201);
    const device = { driver: 'd.example.com', pool: 'p', device: 'a' };
    const status = { allocation: { devices: { results: [{ request: 'r', ...device }] } } };
    const merge = (body: object, token = 'admin-token') => server.request({ method: 'PATCH', path: `${claims}/c/status`, body: { status: body }, token });
    const unbound = await merge(status, 'alice-token');
    assert.equal(unbound.status, 422, unbound.text);
    assert.equal(unbound.body.message, 'ResourceClaim.resource.k8s.io "c" is invalid: status.allocation: Forbidden: changing status.allocation or '
      + 'status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: '
      + 'User "alice" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope');
    assert.equal((await merge(status)).status, 200);
    const devices = { devices: [{ ...device, data: { x: 1 } }] };
    assert.match((await merge(devices, 'alice-token')).body.message, /status\.devices: Forbidden: .*verb="\[arbitrary-node:patch\]" permission/);
    await grant('driver', [{ ...resource('resourceclaims/driver', ['arbitrary-node:patch']), resourceNames: ['d.example.com'] }]);
    assert.equal((await merge(devices, 'alice-token')).status, 200);
  });
});

describe('the bootstrap roles', () => {
  it('are restored at a start, except where they opted out', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'pintle-roles-'));
    try {
      let server = await startTestServer({ dataDir });
      const merge = (path: string, body: unknown) => server.request({ method: 'PATCH', path: `${rbac}/${path}`, body });
      await merge('clusterroles/system:discovery', { rules: [], metadata: { labels: { own: 'kept' } } });
      await merge('clusterroles/system:kube-dns', { rules: [], metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } } });
      await merge('clusterrolebindings/system:discovery', { subjects: [] });
      await server.request({ method: 'DELETE', path: `${rbac}/clusterroles/system:basic-user` });
      assert.equal((await server.request({ path: '/api', token: 'alice-token' })).status, 403);
      await server.close();
      server = await startTestServer({ dataDir });
      assert.equal((await server.request({ path: '/api', token: 'alice-token' })).status, 200);
      assert.equal((await server.request({ path: `${rbac}/clusterroles/system:discovery` })).body.metadata.labels.own, 'kept');
      assert.equal((await server.request({ path: `${rbac}/clusterroles/system:kube-dns` })).body.rules, null);
      assert.equal((await server.request({ path: `${rbac}/clusterroles/system:basic-user` })).status, 200);
      await server.close();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
