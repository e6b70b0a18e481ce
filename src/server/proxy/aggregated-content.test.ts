// Objects of a namespace on another server are deleted with the namespace.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';
import { FakeKubelet } from './testing.ts';

const GROUP = 'elsewhere.example.com';

/** Things by their path, each with its finalizers, and jobs that cannot be deleted as a collection. */
class Things {
  readonly backend = new FakeKubelet();
  readonly finalizers = new Map<string, string[]>();
  isBroken = false;
  isEndless = false;
  readonly asked: string[] = [];

  constructor() {
    this.backend.answer = (request, response) => this.#answer(request, response);
  }

  #answer({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, 'https://x');
    const send = (status: number, body: object): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === `/apis/${GROUP}/v1`) {
      return send(200, { kind: 'APIResourceList', groupVersion: `${GROUP}/v1`, resources: [
        { name: 'things', namespaced: true, kind: 'Thing', verbs: ['list', 'delete', 'deletecollection'] },
        { name: 'jobs', namespaced: true, kind: 'Job', verbs: ['list', 'delete'] }, { name: 'readings', namespaced: true, kind: 'Reading', verbs: ['list'] },
        { name: 'globals', namespaced: false, kind: 'Global', verbs: ['list', 'delete', 'deletecollection'] },
      ] });
    }
    if (!pathname.includes('/namespaces/')) return send(404, {});
    this.asked.push(`${method} ${pathname.split('/').slice(4).join('/')} ${String(headers['x-remote-user'])}`);
    if (this.isBroken) return send(500, { kind: 'Status', message: 'no memory' });
    const below = (key: string): boolean => key === pathname || key.startsWith(`${pathname}/`);
    const names = [...this.finalizers.keys()].filter(below);
    if (method === 'GET' && this.isEndless) return send(200, { kind: 'List', metadata: { continue: 'more' }, items: [] });
    if (method === 'GET') {
      const at = Number(searchParams.get('continue') ?? 0);
      const item = (key: string) => ({ metadata: { name: key.split('/').at(-1), finalizers: this.finalizers.get(key) } });
      const more = at + 1 < names.length ? { continue: String(at + 1) } : {};
      return send(200, { kind: 'List', metadata: more, items: names.slice(at, at + 1).map(item) });
    }
    if (pathname.endsWith('/jobs')) return send(405, { kind: 'Status', message: 'not allowed' });
    for (const name of names) if (this.finalizers.get(name)?.length === 0) this.finalizers.delete(name);
    return send(200, { kind: 'Status' });
  }
}

describe('a namespace with objects on an aggregated server', () => {
  const things = new Things();
  let server: TestServer;
  before(async () => {
    const port = await things.backend.listen();
    server = await startTestServer();
    const spec = { type: 'ExternalName', externalName: '127.0.0.1' };
    await server.request({ method: 'POST', path: '/api/v1/namespaces/default/services', body: { metadata: { name: 'elsewhere' }, spec } });
    await server.request({ method: 'POST', path: '/apis/apiregistration.k8s.io/v1/apiservices', body: {
      metadata: { name: `v1.${GROUP}` },
      spec: { group: GROUP, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 'elsewhere', port } },
    } });
    await requestUntil(server, { path: `/apis/${GROUP}/v1/namespaces/default/things` }, { until: ({ status }) => status === 200 });
  });
  after(async () => {
    await server.close();
    things.backend.close();
  });
  const end = async (name: string): Promise<void> => {
    await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
    things.asked.splice(0);
    await server.request({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
  };
  const waitFor = (name: string, type: string, message: RegExp) => requestUntil(server, { path: `/api/v1/namespaces/${name}` }, {
    until: ({ body }) => message.test(body.status?.conditions?.find((condition: { type: string }) => condition.type === type)?.message ?? ''),
  });
  const isGone = (name: string) => requestUntil(server, { path: `/api/v1/namespaces/${name}` }, { until: ({ status }) => status === 404 });

  it('ends when they are gone, and says meanwhile what is left', async () => {
    const path = `/apis/${GROUP}/v1/namespaces/full`;
    things.finalizers.set(`${path}/things/a`, []).set(`${path}/things/b`, ['example.com/wait']).set(`${path}/jobs/c`, []).set(`${path}/things/d`, []);
    await end('full');
    await waitFor('full', 'NamespaceContentRemaining', /^Some resources are remaining: things\.elsewhere\.example\.com has 1 resource instances$/);
    await waitFor('full', 'NamespaceFinalizersRemaining', /: example\.com\/wait in 1 resource instances$/);
    assert.deepEqual([...things.finalizers.keys()], [`${path}/things/b`]);
    const user = 'system:serviceaccount:kube-system:namespace-controller';
    for (const request of ['DELETE namespaces/full/things', 'DELETE namespaces/full/jobs', 'DELETE namespaces/full/jobs/c']) {
      assert.ok(things.asked.includes(`${request} ${user}`), request);
    }
    things.finalizers.set(`${path}/things/b`, []);
    await isGone('full');
    assert.equal(things.finalizers.size, 0);
    assert.ok(things.asked.every((request) => !/readings|globals/.test(request)));
  });

  it('is held up while they cannot be deleted', async () => {
    things.isBroken = true;
    await end('held');
    await waitFor('held', 'NamespaceDeletionContentFailure', /things\.elsewhere\.example\.com: no memory/);
    things.isBroken = false;
    await isGone('held');
  });

  it('is held up by lists that do not end', async () => {
    things.isEndless = true;
    await end('endless');
    await waitFor('endless', 'NamespaceDeletionContentFailure', /things\.elsewhere\.example\.com: 100 pages are empty and more are to come/);
    things.isEndless = false;
    await isGone('endless');
  });
});
