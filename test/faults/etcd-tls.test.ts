// etcd behind TLS that asks its clients for certificates: a client with one of its authority is served, others get the reason of the refusal.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { type EtcdCluster, noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { startTestServer } from '../../src/test-support/index.ts';
import { createCertificate } from '../../src/server/tls/certificates.ts';
import { StartError } from '../../src/server/options/options.ts';
import { runCopy } from '../../src/server/cli/storage/copy-command.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('etcd behind TLS', { skip: noEtcd, timeout: 60_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-etcd-tls-'));
  const file = (name: string): string => join(directory, name);
  let cluster: EtcdCluster;

  before(async () => {
    const context = { clock: systemClock, random: systemRandom };
    const lifetimeMs = 3_600_000;
    const issuer = createCertificate({ commonName: 'etcd-ca', lifetimeMs }, context);
    const pairs = {
      ca: issuer,
      stranger: createCertificate({ commonName: 'another-ca', lifetimeMs }, context),
      member: createCertificate({ commonName: 'etcd', hosts: ['127.0.0.1', 'localhost'], issuer, lifetimeMs }, context),
      client: createCertificate({ commonName: 'apiserver', issuer, lifetimeMs }, context),
    };
    for (const [name, { certificate, key }] of Object.entries(pairs)) {
      writeFileSync(file(`${name}.crt`), certificate);
      writeFileSync(file(`${name}.key`), key, { mode: 0o600 });
    }
    cluster = await startCluster({ tls: { caFile: file('ca.crt'), certFile: file('member.crt'), keyFile: file('member.key') } });
  });
  after(async () => {
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  test('startServer stores in it with --etcd-cafile, --etcd-certfile and --etcd-keyfile, and finds everything again', async () => {
    const flags = { etcdServers: cluster.endpoints, etcdCaFile: file('ca.crt'), etcdCertFile: file('client.crt'), etcdKeyFile: file('client.key'),
      datastoreCaFile: '', datastoreCertFile: '', datastoreKeyFile: '',
    };
    const first = await startTestServer(flags);
    const made = await first.request({ method: 'POST', path: configMaps, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' } } });
    assert.equal(made.status, 201, made.text);
    await first.close();
    const second = await startTestServer(flags);
    const found = await second.request({ path: `${configMaps}/kept` });
    assert.deepEqual([found.status, found.body.metadata.uid], [200, made.body.metadata.uid]);
    await second.close();
  });

  test('startServer is refused without a certificate, and refuses an etcd of an unknown authority', async () => {
    const { endpoints: etcdServers } = cluster;
    const own = { etcdCertFile: file('client.crt'), etcdKeyFile: file('client.key'),
      datastoreCaFile: '', datastoreCertFile: '', datastoreKeyFile: '',
    };
    for (const flags of [{ etcdCaFile: file('ca.crt') }, { ...own, etcdCaFile: file('stranger.crt') }, own]) {
      const isTold = (error: Error): boolean => error instanceof StartError && /cannot open the store: etcd/.test(error.message);
      await assert.rejects(startTestServer({ etcdServers, ...flags }), isTold);
    }
  });

  test('runCopy reads it with the same three files', async () => {
    const request = {
      from: cluster.endpoints.join(','), to: file('copy'), etcdCaFile: file('ca.crt'), etcdCertFile: file('client.crt'), etcdKeyFile: file('client.key'),
      etcdPrefix: '/registry', newRevisions: false,
      datastoreCaFile: '', datastoreCertFile: '', datastoreKeyFile: '',
    };
    assert.match(await runCopy(request), /^copied \d+ keys/);
    await assert.rejects(runCopy({ ...request, to: file('other'), etcdCertFile: '', etcdKeyFile: '' }), StartError);
  });
});
