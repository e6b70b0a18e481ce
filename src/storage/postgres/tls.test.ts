// PostgreSQL behind TLS: certificates that are checked, and those that are shown.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { createCertificate } from '../../server/tls/certificates.ts';
import { put } from '../suite-tools.suite.ts';
import type { PostgresTls } from './endpoint.ts';
import { openPostgresStore } from './open.ts';
import { type PostgresServer, noPostgres, startPostgres } from './server.suite.ts';

describe('PostgreSQL behind TLS', { skip: noPostgres, timeout: 60_000 }, () => {
  const context = { clock: systemClock, random: systemRandom };
  const lifetimeMs = 3_600_000;
  const issuer = createCertificate({ commonName: 'database-ca', lifetimeMs }, context);
  const stranger = createCertificate({ commonName: 'another-ca', lifetimeMs }, context);
  const own = createCertificate({ commonName: 'database', hosts: ['localhost'], issuer, lifetimeMs }, context);
  const client = createCertificate({ commonName: 'pintle', issuer, lifetimeMs }, context);
  const directory = mkdtempSync(join(tmpdir(), 'pintle-postgres-tls-'));
  let server: PostgresServer;

  before(async () => {
    server = await startPostgres({
      settings: ['ssl = on', "ssl_cert_file = 'own.crt'", "ssl_key_file = 'own.key'", "ssl_ca_file = 'ca.crt'"],
      // The role with a password-free login must show a certificate of its name.
      files: { 'own.crt': own.certificate, 'own.key': own.key, 'ca.crt': issuer.certificate, 'pg_hba.conf': 'hostssl all all 127.0.0.1/32 cert\n' },
    });
    writeFileSync(join(directory, 'ca.crt'), issuer.certificate);
    writeFileSync(join(directory, 'client.crt'), client.certificate);
    writeFileSync(join(directory, 'client.key'), client.key);
  });

  after(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true });
  });

  const urlOf = (host: string, query: string): string => `postgres://pintle@${host}:${server.port}/postgres?schema=tls${query}`;

  async function write(endpoint: string, tls?: PostgresTls): Promise<void> {
    const store = await openPostgresStore({ endpoint, clock: systemClock, ...(tls !== undefined && { tls }) });
    try {
      await put(store, { key: `/${Math.random()}` });
    } finally {
      await store.close();
    }
  }

  test('serves a client that checks its certificate and shows one, by PEM texts or by files of the URL', async () => {
    const shown = { cert: client.certificate, key: client.key };
    await write(urlOf('localhost', ''), { ca: issuer.certificate, ...shown });
    await write(urlOf('127.0.0.1', '&sslmode=verify-ca'), { ca: issuer.certificate, ...shown });
    await write(urlOf('127.0.0.1', '&sslmode=require'), shown);
    await write(urlOf('localhost', `&sslrootcert=${directory}/ca.crt&sslcert=${directory}/client.crt&sslkey=${directory}/client.key`));
  });

  test('is not trusted with a certificate of another authority or another name, and does not serve a client without one', async () => {
    const shown = { cert: client.certificate, key: client.key };
    const refusals = [
      [urlOf('localhost', ''), { ca: stranger.certificate, ...shown }, /unable to verify|self.signed|certificate/],
      [urlOf('localhost', '&sslmode=require'), { ca: stranger.certificate, ...shown }, /unable to verify|self.signed|certificate/],
      [urlOf('127.0.0.1', ''), { ca: issuer.certificate, ...shown }, /altnames/],
      [urlOf('localhost', '&sslmode=require'), {}, /requires a valid client certificate/],
      [urlOf('localhost', '&sslmode=disable'), {}, /no encryption|SSL off/],
    ] as const;
    for (const [endpoint, tls, message] of refusals) await assert.rejects(write(endpoint, tls), message);
  });
});
