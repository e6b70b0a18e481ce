// Bodies that are posted to be acted upon and not stored: which object they must name, what they may require of it, and what their answers say.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, startTestServer } from '../test-support/index.ts';

const core = '/api/v1/namespaces/default';
const authorization = '/apis/authorization.k8s.io/v1';

describe('posted bodies', () => {
  let server: TestServer;
  const post = async (path: string, body: object) => {
    const { status, body: answer } = await server.request({ method: 'POST', path, body });
    return { status, answer, line: `${status} ${answer.message ?? ''}` };
  };
  const makePod = (name: string) => post(`${core}/pods`, {
    metadata: { name }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu: '1' } } }] },
  });
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('bind the pod that the path names, in its namespace, as it was when the binding was made', async () => {
    await makePod('bound');
    const bind = (metadata: object, path = `${core}/pods/bound/binding`) => post(path, { metadata, target: { kind: 'Node', name: 'n1' } });
    assert.equal((await bind({})).line, '400 name in URL does not match name in Binding object');
    assert.equal((await bind({ name: 'other' })).line, '400 name in URL does not match name in Binding object');
    assert.equal((await bind({}, `${core}/bindings`)).line, '400 Name parameter required.');
    const elsewhere = await bind({ name: 'bound', namespace: 'kube-system' });
    assert.equal(elsewhere.line, '400 the namespace of the provided object does not match the namespace sent on the request');
    const stale = await bind({ name: 'bound', resourceVersion: '1' });
    assert.deepEqual([stale.status, stale.answer.reason], [409, 'Conflict']);
    assert.match(stale.answer.message, /Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: \d+/);
    assert.equal((await server.request({ path: `${core}/pods/bound` })).body.spec.nodeName, undefined);
    const { resourceVersion, uid } = (await server.request({ path: `${core}/pods/bound` })).body.metadata;
    const other = await bind({ name: 'bound', uid: 'other' });
    assert.deepEqual([other.status, other.answer.reason], [409, 'Conflict']);
    assert.match(other.answer.message, /Precondition failed: UID in precondition: other, UID in object meta: /);
    assert.equal((await bind({ name: 'bound', resourceVersion, uid })).status, 201);
    await makePod('bound-by-name');
    assert.equal((await bind({ name: 'bound-by-name', uid: 'other' }, `${core}/bindings`)).status, 201);
  });

  it('give a pod its node and PodScheduled=True in its place, and take the node away that it was nominated for', async () => {
    const condition = (type: string, status: string) => ({ type, status, lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'Because', message: 'of it' });
    const bindNominated = async (name: string, scheduled: string) => {
      await makePod(name);
      await server.request({ method: 'PATCH', path: `${core}/pods/${name}/status`, headers: { 'content-type': 'application/merge-patch+json' },
        body: { status: { nominatedNodeName: 'n0', conditions: [condition('PodScheduled', scheduled), condition('Ready', 'False')] } } });
      assert.equal((await post(`${core}/pods/${name}/binding`, { metadata: { name }, target: { name: 'n1' } })).status, 201);
      return (await server.request({ path: `${core}/pods/${name}` })).body.status;
    };
    const { nominatedNodeName, conditions } = await bindNominated('waits', 'False');
    assert.equal(nominatedNodeName, undefined);
    assert.deepEqual(conditions.map(({ type, status, reason }: Record<string, string>) => [type, status, reason]),
      [['PodScheduled', 'True', undefined], ['Ready', 'False', 'Because']]);
    assert.notEqual(conditions[0].lastTransitionTime, '2020-01-01T00:00:00Z');
    assert.equal((await bindNominated('scheduled', 'True')).conditions[0].lastTransitionTime, '2020-01-01T00:00:00Z');
  });

  it('leave the node that a pod was nominated for without ClearingNominatedNodeNameAfterBinding', async () => {
    const other = await startTestServer({ featureGates: ['ClearingNominatedNodeNameAfterBinding=false'] });
    try {
      const pod = `${core}/pods/nominated`;
      await other.request({ method: 'POST', path: `${core}/pods`,
        body: { metadata: { name: 'nominated' }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'nginx' }] } } });
      await other.request({ method: 'PATCH', path: `${pod}/status`, headers: { 'content-type': 'application/merge-patch+json' },
        body: { status: { nominatedNodeName: 'n0' } } });
      await other.request({ method: 'POST', path: `${pod}/binding`, body: { metadata: { name: 'nominated' }, target: { name: 'n1' } } });
      const { spec, status } = (await other.request({ path: pod })).body;
      assert.deepEqual([spec.nodeName, status.nominatedNodeName], ['n1', 'n0']);
    } finally {
      await other.close();
    }
  });

  it('give pods labels of their node and of the binding, unless PodTopologyLabelsAdmission is off', async () => {
    const zone = { 'topology.kubernetes.io/zone': 'a' };
    const read = async (featureGates: readonly string[]): Promise<unknown[]> => {
      const other = await startTestServer({ featureGates });
      const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'nginx' }] };
      const send = (path: string, body: object) => other.request({ method: 'POST', path, body });
      try {
        await send('/api/v1/nodes', { metadata: { name: 'n1', labels: zone } });
        for (const [name, more] of [['placed', { nodeName: 'n1' }], ['bound', {}]] as const) {
          await send(`${core}/pods`, { metadata: { name }, spec: { ...spec, ...more } });
        }
        const binding = { metadata: { name: 'bound', labels: { own: 'x' }, annotations: { note: 'y' } }, target: { kind: 'Node', name: 'n1' } };
        assert.equal((await send(`${core}/pods/bound/binding`, binding)).status, 201);
        const bound = (await other.request({ path: `${core}/pods/bound` })).body.metadata;
        return [(await other.request({ path: `${core}/pods/placed` })).body.metadata.labels, bound.labels, bound.annotations];
      } finally {
        await other.close();
      }
    };
    assert.deepEqual(await read([]), [zone, { ...zone, own: 'x' }, { note: 'y' }]);
    assert.deepEqual(await read(['PodTopologyLabelsAdmission=false']), [undefined, undefined, { note: 'y' }]);
  });

  it('evict the pod that the path names, in its namespace, with options that exist', async () => {
    await makePod('evicted');
    const evict = (metadata: object, deleteOptions?: object) => post(`${core}/pods/evicted/eviction`,
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata, ...(deleteOptions && { deleteOptions }) });
    assert.equal((await evict({})).line, '400 name in URL does not match name in Eviction object');
    const elsewhere = await evict({ name: 'evicted', namespace: 'kube-system' });
    assert.equal(elsewhere.line, '400 the namespace of the provided object does not match the namespace sent on the request');
    const unknown = await evict({ name: 'evicted' }, { dryRun: ['X'] });
    assert.deepEqual([unknown.status, unknown.answer.details.causes[0].field], [422, 'dryRun']);
    assert.equal((await evict({ name: 'evicted' }, { dryRun: ['All'] })).status, 201);
    assert.equal((await server.request({ path: `${core}/pods/evicted` })).status, 200);
  });

  it('resize a bound pod only while its node exists', async () => {
    await makePod('resized');
    await post(`${core}/pods/resized/binding`, { metadata: { name: 'resized' }, target: { kind: 'Node', name: 'n9' } });
    const resize = () => server.request({ method: 'PATCH', path: `${core}/pods/resized/resize`,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } } });
    const refused = await resize();
    assert.deepEqual([refused.status, refused.body.message], [403, 'pods "resized" is forbidden: node "n9" not found']);
    assert.equal((await post('/api/v1/nodes', { metadata: { name: 'n9' }, status: { allocatable: { cpu: '8' } } })).status, 201);
    assert.equal((await resize()).status, 200);
  });

  const review = (plural: string, spec: object, metadata: object = {}) => post(`${authorization}/${plural}`, { metadata, spec });

  it('ask about the namespace of the path only', async () => {
    const spec = { user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } };
    const local = 'namespaces/default/localsubjectaccessreviews';
    assert.equal((await review(local, spec, { namespace: 'kube-system' })).status, 400);
    const { status, answer } = await review(local, spec);
    assert.deepEqual([status, answer.metadata.namespace, answer.status], [201, 'default', { allowed: false }]);
  });

  it('name the owners of their fields, in refusals too', async () => {
    const spec = { user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods' } };
    const access = await review('subjectaccessreviews', spec);
    assert.equal(access.answer.metadata.managedFields[0].apiVersion, 'authorization.k8s.io/v1');
    const refused = await review('subjectaccessreviews', spec, { labels: { a: 'b' } });
    assert.match(refused.answer.message, /metadata: Invalid value: \{"labels":\{"a":"b"\},"managedFields":\[\{"manager":.*: must be empty$/);
    const token = await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'alice-token' } });
    assert.equal(token.answer.status.user.username, 'alice');
    assert.equal(token.answer.metadata.managedFields[0].operation, 'Update');
    const given = { authenticated: true, user: { username: 'eve' }, audiences: ['a'] };
    const wrong = await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'wrong' }, status: given });
    assert.deepEqual(wrong.answer.status, { user: { username: 'eve' }, audiences: ['a'], error: 'invalid bearer token' });
  });

  it('ignore selectors that cannot be read, and say so', async () => {
    const ask = async (attributes: object) =>
      (await review('subjectaccessreviews', { user: 'alice', resourceAttributes: { verb: 'list', resource: 'pods', ...attributes } })).answer;
    const at = 'spec.resourceAttributes';
    const problem = async (attributes: object): Promise<unknown> => (await ask(attributes)).status.evaluationError;
    assert.equal(await problem({ labelSelector: { rawSelector: 'a in (' } }), `${at}.labelSelector ignored due to parse error`);
    assert.equal(await problem({ fieldSelector: { rawSelector: 'nonsense' } }), `${at}.fieldSelector ignored due to parse error`);
    const [known, unknown] = [{ key: 'a', operator: 'Exists' }, { key: 'a', operator: 'Near', values: ['b'] }];
    assert.equal(await problem({ labelSelector: { requirements: [known, unknown] } }), `${at}.labelSelector partially ignored due to parse error`);
    assert.equal(await problem({ labelSelector: { requirements: [known] } }), undefined);
    const both = await problem({ labelSelector: { requirements: [unknown] }, fieldSelector: { requirements: [{ key: 'a', operator: 'Exists' }] } });
    assert.equal(both, `${at}.fieldSelector ignored due to parse error; ${at}.labelSelector ignored due to parse error`);
    const invalid = await ask({ labelSelector: { requirements: [{ key: 'a b', operator: 'In', values: ['-'] }] } });
    assert.deepEqual(invalid.details.causes.map(({ field }: { field: string }) => field),
      [`${at}.labelSelector.requirements[0].key`, `${at}.labelSelector.requirements[0].values[0]`]);
  });

  it('list the rules of a caller completely although a role is missing', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'missing' };
    const binding = await post(`${rbac}/clusterrolebindings`, { metadata: { name: 'dangling' }, roleRef,
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }] });
    assert.equal(binding.status, 201);
    const rules = await server.request({
      method: 'POST', path: `${authorization}/selfsubjectrulesreviews`, token: 'alice-token', body: { spec: { namespace: 'default' } },
    });
    assert.deepEqual([rules.body.status.incomplete, rules.body.status.evaluationError],
      [false, 'clusterrole.rbac.authorization.k8s.io "missing" not found']);
  });
});
