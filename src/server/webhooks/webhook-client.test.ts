// Calls of many webhooks by one caller: what the bound of kept connections does to a call in progress.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { eventually } from '../../test-support/index.ts';
import { createCertificate } from '../tls/certificates.ts';
import { directEgress } from './egress.ts';
import { createWebhookCaller } from './webhook-client.ts';

/** More authorities than have their connections kept. */
const MANY = 210;

describe('the caller of webhooks', () => {
  it('does not cut a call in progress when many others are made', async () => {
    const context = { clock: systemClock, random: systemRandom };
    const { certificate, key } = createCertificate({ commonName: 'webhook', hosts: ['127.0.0.1'], lifetimeMs: 3_600_000 }, context);
    let held: ServerResponse | undefined;
    const service = createServer({ cert: certificate, key }, (request, response) => {
      request.resume();
      if (request.url?.startsWith('/slow') === true && held === undefined) held = response;
      else response.end('{"quick":true}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const unused = (): never => assert.fail();
    const caller = createWebhookCaller({
      clock: systemClock, random: systemRandom, registry: unused, catalog: { find: unused }, requiresEndpoints: false, egress: directEgress,
    });
    const clientOf = (path: string, index: number) => ({
      url: `https://127.0.0.1:${(service.address() as AddressInfo).port}/${path}`,
      caBundle: Buffer.from(`${certificate}${'\n'.repeat(index)}`).toString('base64'),
    });
    try {
      const client = clientOf('slow', 0);
      const slow = caller.call(client, {});
      await eventually(async () => assert.ok(held !== undefined));
      for (let index = 1; index <= MANY; index++) assert.deepEqual(await caller.call(clientOf('quick', index), {}), { quick: true });
      held?.end('{"slow":true}');
      assert.deepEqual(await slow, { slow: true });
      assert.deepEqual(await caller.call(client, {}), { quick: true });
    } finally {
      caller.close();
      service.closeAllConnections();
      service.close();
    }
  });

  it('trusts each certificate of a bundle by itself, that of the webhook too', async () => {
    const context = { clock: systemClock, random: systemRandom };
    const request = { lifetimeMs: 3_600_000 };
    const issuer = createCertificate({ ...request, commonName: 'authority' }, context);
    const { certificate, key } = createCertificate({ ...request, commonName: 'webhook', hosts: ['127.0.0.1'], issuer }, context);
    const service = createServer({ cert: certificate, key }, (request, response) => {
      request.resume();
      response.end('{}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const unused = (): never => assert.fail();
    const caller = createWebhookCaller({
      clock: systemClock, random: systemRandom, registry: unused, catalog: { find: unused }, requiresEndpoints: false, egress: directEgress,
    });
    const callWith = (bundle: string) => caller.call({
      url: `https://127.0.0.1:${(service.address() as AddressInfo).port}/`, caBundle: Buffer.from(bundle).toString('base64'),
    }, {});
    try {
      assert.deepEqual(await callWith(certificate), {});
      assert.deepEqual(await callWith(issuer.certificate), {});
      const other = createCertificate({ ...request, commonName: 'authority' }, context);
      await assert.rejects(callWith(other.certificate), /tls: failed to verify certificate/);
    } finally {
      caller.close();
      service.closeAllConnections();
      service.close();
    }
  });

  // A key, its certificate without the identifier of the issuer's key, its issuer, and another authority: all four have one name.
  it('trusts a certificate that has the name of its issuer, by the signature', async () => {
    const file = new URL('../../../../test/data/same-name.pem', import.meta.url);
    const [key = '', certificate = '', issuer = '', other = ''] = readFileSync(file, 'utf8').match(/-----BEGIN [\s\S]+?-----END .+-----/g) ?? [];
    let answered = 0;
    const service = createServer({ cert: certificate, key }, (request, response) => {
      request.resume();
      answered++;
      response.setHeader('connection', 'close').end('{}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const unused = (): never => assert.fail();
    const caller = createWebhookCaller({
      clock: systemClock, random: systemRandom, registry: unused, catalog: { find: unused }, requiresEndpoints: false, egress: directEgress,
    });
    const callAt = (host: string, bundle: string) => caller.call({
      url: `https://${host}:${(service.address() as AddressInfo).port}/`, caBundle: Buffer.from(bundle).toString('base64'),
    }, {});
    try {
      for (const bundle of [issuer, issuer, `${other}\n${issuer}`]) assert.deepEqual(await callAt('127.0.0.1', bundle), {});
      await assert.rejects(callAt('127.0.0.1', other), /x509: certificate signed by unknown authority/);
      await assert.rejects(callAt('localhost', issuer), /x509: certificate is not valid for any names, but wanted to match localhost/);
      assert.equal(answered, 3);
    } finally {
      caller.close();
      service.closeAllConnections();
      service.close();
    }
  });

  it('follows redirects until it has sent ten requests, and only to HTTPS', async () => {
    const context = { clock: systemClock, random: systemRandom };
    const { certificate, key } = createCertificate({ commonName: 'webhook', hosts: ['127.0.0.1'], lifetimeMs: 3_600_000 }, context);
    const paths: string[] = [];
    const service = createServer({ cert: certificate, key }, (request, response) => {
      const { pathname: path } = new URL(request.url ?? '', 'https://webhook');
      paths.push(`${request.method} ${path}`);
      request.resume();
      const left = Number(path.slice(1));
      if (path === '/plain') response.writeHead(307, { location: `http://${request.headers.host}/0` }).end();
      else if (left === 0) response.end('{"arrived":true}');
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const unused = (): never => assert.fail();
    const caller = createWebhookCaller({
      clock: systemClock, random: systemRandom, registry: unused, catalog: { find: unused }, requiresEndpoints: false, egress: directEgress,
    });
    const host = `127.0.0.1:${(service.address() as AddressInfo).port}`;
    const callTo = (path: string) => caller.call({ url: `https://${host}/${path}`, caBundle: Buffer.from(certificate).toString('base64') }, {});
    try {
      assert.deepEqual(await callTo('9'), { arrived: true });
      assert.deepEqual([paths.length, paths.at(-1)], [10, 'POST /0']);
      await assert.rejects(callTo('10'), { message: 'Post "/0": stopped after 10 redirects' });
      assert.equal(paths.length, 20);
      await assert.rejects(callTo('plain'), /unsupported protocol scheme/);
      assert.equal(paths.at(-1), 'POST /plain');
    } finally {
      caller.close();
      service.closeAllConnections();
      service.close();
    }
  });
});
