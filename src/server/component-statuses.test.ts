// componentstatuses: how the components and the store are, in the reference's words.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '../base/index.ts';
import { startTestServer } from '../test-support/index.ts';
import { createComponentStatuses } from './component-statuses.ts';
import { createCertificate } from './tls/certificates.ts';

const conditionOf = (status: string, message: string) => [{ type: 'Healthy', status, ...(message !== '' && { message }) }];

describe('createComponentStatuses', () => {
  it('asks components once for all that ask at the same time', async (context) => {
    let asked = 0;
    const answer = (path: string | undefined, response: ServerResponse): void => {
      asked++;
      response.writeHead(path === '/healthz' ? 200 : 503).end('ok');
    };
    const parts = { clock: systemClock, random: systemRandom };
    const { certificate, key } = createCertificate({ commonName: 'component', hosts: ['127.0.0.1'], lifetimeMs: 3_600_000 }, parts);
    const server = createServer({ cert: certificate, key }, ({ url }, response) => answer(url, response)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    context.after(() => server.close());
    const at = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const urls = new Map([['scheduler', `${at}/healthz`], ['broken', `${at}/no`]]);
    const statuses = createComponentStatuses([() => Promise.reject(new Error('it is gone'))], urls);
    const [first, second] = await Promise.all([statuses.list(), statuses.list()]);
    assert.deepEqual(first, second);
    assert.equal(asked, 2);
    assert.deepEqual(first.map(({ metadata, conditions }) => [metadata.name, conditions]), [
      ['broken', conditionOf('False', 'HTTP probe failed with statuscode: 503')],
      ['etcd-0', [{ type: 'Healthy', status: 'False', error: 'it is gone' }]],
      ['scheduler', conditionOf('True', 'ok')],
    ]);
    assert.equal(await statuses.get('nothing'), undefined);
  });
});

describe('startTestServer', () => {
  const base = '/api/v1/componentstatuses';

  it('lists scheduler, controller manager and store, as objects, tables and metadata, with the warning', async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const list = await server.request({ path: base });
    assert.equal(list.headers['warning'], '299 - "v1 ComponentStatus is deprecated in v1.19+"');
    assert.deepEqual([list.status, list.body.kind, list.body.metadata], [200, 'ComponentStatusList', {}]);
    assert.deepEqual((list.body.items as { metadata: unknown }[]).map(({ metadata }) => metadata),
      [{ name: 'controller-manager' }, { name: 'etcd-0' }, { name: 'scheduler' }]);
    const { body } = await server.request({ path: `${base}/etcd-0` });
    assert.deepEqual(body, { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name: 'etcd-0' }, conditions: conditionOf('True', 'ok') });
    const table = await server.request({ path: `${base}/etcd-0`, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    assert.deepEqual((table.body.rows as { cells: unknown }[]).map(({ cells }) => cells), [['etcd-0', 'Healthy', 'ok', '']]);
    for (const accept of ['application/vnd.kubernetes.protobuf', 'application/yaml']) {
      for (const path of [base, `${base}/etcd-0`]) assert.equal((await server.request({ path, headers: { accept } })).status, 200, `${accept} ${path}`);
    }
  });

  it('restricts the list by selectors, and knows no other names', async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const namesOf = async (query: string): Promise<string[]> =>
      ((await server.request({ path: `${base}?${query}` })).body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    assert.deepEqual([await namesOf('fieldSelector=metadata.name%3Detcd-0'), await namesOf('labelSelector=a%3Db')], [['etcd-0'], []]);
    assert.equal((await namesOf('limit=1&resourceVersion=abc')).length, 3);
    const { status, body } = await server.request({ path: `${base}/nothing` });
    assert.deepEqual([status, body.message], [404, 'componentstatus "nothing" not found']);
  });
});
