// StrictIPCIDRValidation: addresses with leading zeros, IPv4 inside IPv6 and ranges with bits beyond the prefix, refused or accepted by the gate.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, startTestServer } from '../test-support/index.ts';

const namespace = '/namespaces/default';
const metadata = { name: 'a' };
const blockOf = (cidr: string, except: readonly string[]) => ({ podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr, except } }] }] });
const serviceOf = (spec: object) => ({ metadata, spec: { ports: [{ port: 80 }], ...spec } });

/** Bodies that hold addresses in forms of older releases, and what the first problem of each is while the gate is on. */
const writes: readonly (readonly [path: string, body: object, problem: string])[] = [
  [`/api/v1${namespace}/endpoints`, { metadata, subsets: [{ addresses: [{ ip: '192.168.3.011' }], ports: [{ port: 80 }] }] }, 'must not have leading 0s'],
  [`/apis/discovery.k8s.io/v1${namespace}/endpointslices`, { metadata, addressType: 'IPv4', endpoints: [{ addresses: ['::ffff:10.244.0.11'] }], ports: [] },
    'must not be an IPv4-mapped IPv6 address'],
  [`/apis/networking.k8s.io/v1${namespace}/networkpolicies`, { metadata, spec: blockOf('172.017.0.0/16', ['172.17.001.3/024']) },
    'must not have leading 0s in IP or prefix length'],
  [`/api/v1${namespace}/services`, serviceOf({ clusterIP: '10.0.0.011', externalIPs: ['192.168.000.1'] }), 'must not have leading 0s'],
  ['/api/v1/nodes', { metadata, spec: { podCIDR: '10.0.0.1/24', podCIDRs: ['10.0.0.1/24'] } }, 'must not have bits set beyond the prefix length'],
];

/** Bodies that are refused whether the gate is on or off, with what is said while it is off. */
const refused: readonly (readonly [path: string, body: object, problem: RegExp])[] = [
  [`/api/v1${namespace}/endpoints`, { metadata: { name: 'b' }, subsets: [{ addresses: [{ ip: '127.0.0.01' }] }] }, /may not be in the loopback range/],
  [`/apis/discovery.k8s.io/v1${namespace}/endpointslices`, { metadata: { name: 'b' }, addressType: 'IPv4', endpoints: [{ addresses: ['fd00::00001'] }] },
    /must be an IPv4 address/],
  [`/apis/networking.k8s.io/v1${namespace}/networkpolicies`, { metadata: { name: 'b' }, spec: blockOf('172.017.0.0/16', ['172.018.0.0/24']) },
    /must be a strict subset of `cidr`/],
  [`/api/v1${namespace}/services`, { ...serviceOf({ externalIPs: ['127.0.0.01'] }), metadata: { name: 'b' } }, /may not be in the loopback range/],
  [`/api/v1${namespace}/services`, { ...serviceOf({ clusterIPs: ['10.0.0.011', '10.0.0.012'], clusterIP: '10.0.0.011' }), metadata: { name: 'b' } },
    /may specify no more than one IP for each IP family/],
  ['/apis/networking.k8s.io/v1/ipaddresses',
    { metadata: { name: '10.0.0.011' }, spec: { parentRef: { resource: 'services', name: 'a', namespace: 'default' } } }, /must not have leading 0s/],
  ['/apis/networking.k8s.io/v1/servicecidrs', { metadata: { name: 'b' }, spec: { cidrs: ['10.1.0.0/016'] } }, /must not have leading 0s/],
];

describe('addresses in forms of older releases', () => {
  let server: TestServer;
  before(async () => { server = await startTestServer({ featureGates: ['StrictIPCIDRValidation=false'] }); });
  after(() => server.close());

  const post = (to: TestServer, path: string, body: object) => to.request({ method: 'POST', path, body });

  it('are refused while StrictIPCIDRValidation is on', async () => {
    const strict = await startTestServer();
    try {
      for (const [path, body, problem] of writes) {
        const { status, body: answer } = await post(strict, path, body);
        assert.deepEqual([status, answer.details?.causes?.[0]?.message.endsWith(problem)], [422, true], `${path}: ${answer.message}`);
      }
      for (const [path, body] of refused) assert.equal((await post(strict, path, body)).status, 422, path);
    } finally {
      await strict.close();
    }
  });

  it('are kept as they are while it is off', async () => {
    for (const [path, body] of writes) {
      const { status, body: answer } = await post(server, path, body);
      assert.equal(status, 201, `${path}: ${answer.message}`);
    }
    const { body: service } = await server.request({ path: `/api/v1${namespace}/services/a` });
    assert.deepEqual([service.spec.clusterIPs, service.spec.ipFamilies], [['10.0.0.011'], ['IPv4']]);
    const { status } = await server.request({ path: '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.11' });
    assert.equal(status, 200);
  });

  it('are held to the other rules, and fields that never knew them still refuse them', async () => {
    for (const [path, body, problem] of refused) {
      const { status, body: answer } = await post(server, path, body);
      assert.equal(status, 422, path);
      assert.match(answer.message, problem);
    }
  });
});
