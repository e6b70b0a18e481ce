// Controllers over a server of the process, over the same server by HTTPS, and over a kube-apiserver, which PINTLE_KUBE_APISERVER names (and
// PINTLE_ETCD an etcd for it): the same code reaches the same end. Queue, retries, resets and elections of their own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { readKubeconfig } from '../../kubeconfig/index.ts';
import { eventually, findPorts } from '../../test-support/index.ts';
import { createTestServer } from '../../testing/index.ts';
import { preparePki } from '../../server/index.ts';
import {
  type AskApi, type ControllerDefinition, type KubernetesObject, controlledBy, createRemoteClient, defineController, runControllers,
} from '../index.ts';

interface Site extends KubernetesObject {
  spec: { title: string };
  status?: { page?: string };
}

const definition: KubernetesObject = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'sites.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'sites', kind: 'Site' },
    versions: [{
      name: 'v1', served: true, storage: true, subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    }],
  },
};
const siteKind = { apiVersion: 'example.com/v1', kind: 'Site' };
const site = (name: string, title: string): Site => ({ ...siteKind, metadata: { name, namespace: 'default' }, spec: { title } });

const siteController = defineController<Site>({
  name: 'sites', for: siteKind, owns: [{ apiVersion: 'v1', kind: 'ConfigMap' }], concurrency: 2, retry: { lastMs: 200 },
  async reconcile({ object, client }) {
    if (object === undefined) return;
    const name = `${object.metadata?.name}-page`;
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ownerReferences: [controlledBy(object)] },
      data: { title: object.spec.title } });
    if (object.status?.page !== name) await client.applyStatus(object, { page: name });
  },
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  await eventually(async () => assert.ok(await holds(), what), 30_000);
}

const sitePath = '/apis/example.com/v1/namespaces/default/sites';
const pagePath = '/api/v1/namespaces/default/configmaps';
const apply = async (ask: AskApi, path: string, body: KubernetesObject): Promise<void> => {
  const { status, text } = await ask({ method: 'PATCH', path: `${path}/${body.metadata?.name}?fieldManager=test&force=true`, body });
  assert.ok(status < 300, text);
};

/** What a controller of Sites must bring about, whatever it runs over. `start` is called once the definition is served. */
async function checkSites(ask: AskApi, start: () => Promise<unknown>): Promise<void> {
  await apply(ask, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await until('the kind is served', async () => (await ask({ path: sitePath })).status === 200);
  await apply(ask, sitePath, site('before', 'old'));
  await start();
  const titleOf = async (name: string): Promise<string | undefined> => (await ask({ path: `${pagePath}/${name}-page` })).body?.data?.title;
  await until('an object from before the start is reconciled', async () => await titleOf('before') === 'old');
  await apply(ask, sitePath, site('after', 'one'));
  await until('a new object is reconciled', async () => await titleOf('after') === 'one');
  await apply(ask, sitePath, site('after', 'two'));
  await until('a change is reconciled', async () => await titleOf('after') === 'two');
  await until('the status is written', async () => (await ask({ path: `${sitePath}/after` })).body?.status?.page === 'after-page');
  await ask({ method: 'DELETE', path: `${pagePath}/after-page` });
  await until('an object that it owns is made again', async () => await titleOf('after') === 'two');
}

describe('runControllers', () => {
  it('reconciles over a server of the process, and begins again after a reset', async () => {
    await using server = await createTestServer({ tls: false, crds: [definition], manifests: [site('first', 'a')] });
    const running = await runControllers([siteController], { server });
    await running.ready;
    await server.waitFor('cm/first-page', ({ data }) => data.title === 'a');
    await checkSites((request) => server.request(request), async () => undefined);
    const reads = server.requests.filter(({ verb, user }) => (verb === 'list' || verb === 'watch') && user === 'kubernetes-admin');
    assert.deepEqual(reads, [], 'informers ask nothing');
    server.expectRequests({ verb: 'patch', resource: 'configmaps' });
    await server.reset();
    await server.waitFor('cm/first-page', ({ data }) => data.title === 'a');
    assert.equal(await server.get('cm/after-page'), undefined);
    await running.stop();
    await server.delete('cm/first-page');
    await server.settle();
    assert.equal(await server.get('cm/first-page'), undefined, 'a stopped controller does nothing');
  });

  it('reconciles over HTTPS by a kubeconfig, and continues after its watches have expired', async (context) => {
    await using server = await createTestServer();
    const errors: unknown[] = [];
    const client = createRemoteClient(await readKubeconfig({ kubeconfig: server.kubeconfig }, systemClock), 'test');
    context.after(() => client.close());
    await checkSites(client.request, async () => {
      const running = await runControllers([siteController], { kubeconfig: server.kubeconfigFor({ name: 'sites', groups: ['system:masters'] }),
        onError: (error) => errors.push(error) });
      context.after(() => running.stop());
      await running.ready;
    });
    server.faults.add({ user: 'sites', verb: 'watch', watch: 'expire' });
    server.faults.add({ user: 'sites', verb: 'patch', nth: 1, status: 500 });
    await apply(client.request, sitePath, site('late', 'x'));
    await server.waitFor('cm/late-page', 'exists');
    assert.ok(errors.length >= 1, 'the refused write was reported');
    server.expectRequests({ user: 'sites', verb: 'watch' });
  });

  it('reconciles over a kube-apiserver', { timeout: 120_000 }, async (context) => {
    const { PINTLE_KUBE_APISERVER: program, PINTLE_ETCD: etcd = 'etcd' } = process.env;
    if (program === undefined) return context.skip('PINTLE_KUBE_APISERVER names no kube-apiserver');
    const kubeconfig = await startReference(context, { program, etcd });
    const client = createRemoteClient(await readKubeconfig({ kubeconfig }, systemClock), 'test');
    context.after(() => client.close());
    await until('it is ready', async () => await client.request({ path: '/readyz' }).then(({ status }) => status === 200, () => false));
    await checkSites(client.request, async () => {
      const running = await runControllers([siteController], { kubeconfig });
      context.after(() => running.stop());
    });
  });

  it('reconciles one object at most once at a time, several objects side by side, and tries again with growing delays', async () => {
    await using server = await createTestServer({ tls: false, clock: 'manual' });
    const [log, open]: [string[], Set<string>] = [[], new Set()];
    let most = 0;
    const failing: ControllerDefinition = {
      name: 'busy', for: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', labelSelector: 'busy' }, concurrency: 3,
      retry: { firstMs: 1000, lastMs: 4000 },
      async reconcile({ name, object }) {
        assert.ok(!open.has(name), 'one object is not reconciled twice at a time');
        open.add(name);
        most = Math.max(most, open.size);
        log.push(name);
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        open.delete(name);
        if (object?.['data']?.fails === 'yes') throw new Error('not yet');
      },
    };
    const running = await runControllers([failing], { server, onError: () => undefined });
    await running.ready;
    const configMap = (name: string, fails: string): KubernetesObject =>
      ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { busy: 'a' } }, data: { fails } });
    await server.apply([configMap('a', 'no'), configMap('b', 'no'), configMap('c', 'no'), configMap('d', 'no')]);
    await server.eventually(() => assert.equal(new Set(log).size, 4));
    assert.ok(most > 1 && most <= 3, `${most} side by side`);
    log.length = 0;
    await server.apply(configMap('e', 'yes'));
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const counts: number[] = [];
    await server.eventually(() => assert.equal(log.length, 1));
    await settle();
    for (const byMs of [900, 200, 1900, 200, 3900, 200, 3900, 200]) {
      await server.advance(byMs);
      await settle();
      counts.push(log.length);
    }
    assert.deepEqual(counts, [1, 2, 2, 3, 3, 4, 4, 5]);
    await running.stop();
  });

  it('lets one of two programs reconcile, and the other one when the first one ends', async () => {
    await using server = await createTestServer({ tls: false });
    const seen: string[] = [];
    const make = (name: string): ControllerDefinition => ({
      name, for: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', labelSelector: 'elect' },
      reconcile: async ({ name: object }) => void seen.push(`${name} ${object}`),
    });
    const leaderElection = { namespace: 'default', name: 'lock', leaseMs: 300 };
    const first = await runControllers([make('first')], { server, leaderElection: { ...leaderElection, identity: 'one' } });
    await first.ready;
    const second = await runControllers([make('second')], { server, leaderElection: { ...leaderElection, identity: 'two' } });
    const labelled = (name: string): KubernetesObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { elect: 'a' } } });
    await server.apply(labelled('a'));
    await server.eventually(() => assert.deepEqual(seen, ['first a']));
    assert.equal((await server.get('leases/lock'))?.['spec'].holderIdentity, 'one');
    await first.stop();
    await second.ready;
    await server.eventually(() => assert.deepEqual(seen, ['first a', 'second a']));
    await second.stop();
  });

  it('refuses what is no server of this process, and a kubeconfig that leads nowhere', async () => {
    await assert.rejects(runControllers([siteController], { server: {} }), TypeError);
    await assert.rejects(runControllers([siteController], { kubeconfig: join(tmpdir(), 'absent', 'kubeconfig') }), /there is no kubeconfig/);
    assert.throws(() => defineController({ ...siteController, name: '' }), TypeError);
  });
});

/** Starts etcd and kube-apiserver; answers an administrator's kubeconfig. They end with the test. */
async function startReference(context: TestContext, programs: { readonly program: string; readonly etcd: string }): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-reference-'));
  const pki = preparePki({ clock: systemClock, random: systemRandom, directory: folder, addresses: ['127.0.0.1'], serviceRange: '10.0.0.0/24' });
  const [etcd, peer, port] = (await findPorts(3)).map(String) as [string, string, string];
  const run = (program: string, args: readonly string[]): void => {
    const child = spawn(program, args, { stdio: 'ignore' });
    context.after(() => void child.kill('SIGKILL'));
  };
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  run(programs.etcd, ['--data-dir', join(folder, 'etcd'), '--listen-client-urls', `http://127.0.0.1:${etcd}`,
    '--advertise-client-urls', `http://127.0.0.1:${etcd}`,
    '--listen-peer-urls', `http://127.0.0.1:${peer}`, '--unsafe-no-fsync']);
  run(programs.program, ['--etcd-servers', `http://127.0.0.1:${etcd}`, '--secure-port', port, '--bind-address', '127.0.0.1', '--cert-dir', folder,
    '--client-ca-file', join(folder, 'ca.crt'), '--service-account-issuer', 'https://localhost',
    '--service-account-signing-key-file', join(folder, 'ca.key'),
    '--service-account-key-file', join(folder, 'ca.crt'), '--authorization-mode', 'RBAC', '--disable-admission-plugins', 'ServiceAccount',
    '--service-cluster-ip-range', '10.0.0.0/24']);
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return [
    'current-context: a', 'contexts: [{ name: a, context: { cluster: a, user: a } }]',
    `clusters: [{ name: a, cluster: { server: "https://127.0.0.1:${port}", insecure-skip-tls-verify: true } }]`,
    `users: [{ name: a, user: { client-certificate-data: ${encode(pki.admin.certificate)}, client-key-data: ${encode(pki.admin.key)} } }]`, '',
  ].join('\n');
}
