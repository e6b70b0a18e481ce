// Service account tokens that another program signs: what a server asks it, and what it does when the answers are wrong or do not come.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createManualClock } from '../../base/index.ts';
import { type TestServer, eventually, startTestServer } from '../../test-support/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { openExternalKeys } from './external-keys.ts';
import type { SignerMetrics } from './signer-metrics.ts';
import { type TestSigner, makeTestKey, startTestSigner } from './testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-signer-'));
const path = join(directory, 'signer.sock');
let signer: TestSigner;
before(async () => (signer = await startTestSigner(path)));
after(async () => {
  await signer.close();
  rmSync(directory, { recursive: true });
});

const metrics: SignerMetrics = { observe: () => undefined, signed: () => undefined, fetched: () => undefined };
const open = (limitMs = 0, clock = createManualClock()) =>
  openExternalKeys({ serviceAccountSigningEndpoint: path, serviceAccountMaxTokenExpirationMs: limitMs, clock, logger: silentLogger }, metrics);
const account = '/api/v1/namespaces/default/serviceaccounts/default';

describe('openExternalKeys', () => {
  test('refuses what no signer may answer at the start', async () => {
    const right = { keys: signer.keys, refreshSeconds: 300, longestSeconds: 7200 };
    const filling = 'while setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill: '
      + 'while fetching token verification keys: ';
    const wrong: readonly (readonly [Partial<TestSigner>, string, limitMs?: number])[] = [
      [{ keys: [] }, `${filling}found no keys`], [{ refreshSeconds: 0 }, `${filling}found invalid refresh hint (0s)`],
      [{ keys: [makeTestKey('')] }, `${filling}found invalid public key id ""`],
      [{ longestSeconds: 599 }, 'max token life supported by external-jwt-signer (599s) is less than acceptable (min 600s)'],
      [{}, 'service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: '
        + '2h0m1s > 2h0m0s', 7_201_000],
    ];
    for (const [change, message, limitMs] of wrong) {
      Object.assign(signer, right, change);
      await assert.rejects(open(limitMs), { name: 'StartError', message });
    }
    Object.assign(signer, right);
    signer.failures.set('FetchKeys', [14, 'not now']);
    await assert.rejects(open(), { message: `${filling}while getting externally supported jwt signing keys: rpc error: code = Unavailable desc = not now` });
    signer.failures.clear();
  });

  test('asks for keys again when the signer wants it, and ten seconds after a failure; those of before stay', async () => {
    const clock = createManualClock();
    const keys = await open(0, clock);
    const [first] = await keys.verifying();
    assert.equal(keys.maxAgeSeconds(), 300);
    const before = signer.calls['FetchKeys']!;
    signer.failures.set('FetchKeys', [14, 'not now']);
    clock.advance(300_000);
    await eventually(() => assert.equal(signer.calls['FetchKeys'], before + 1));
    assert.deepEqual(await keys.verifying(), [first]);
    assert.equal(keys.maxAgeSeconds(), 0);
    signer.failures.clear();
    signer.keys = [...signer.keys, makeTestKey('key-2'), makeTestKey('old', true)];
    await eventually(async () => {
      clock.advance(10_000);
      assert.deepEqual((await keys.verifying()).map(({ keyId }) => keyId), ['key-1', 'key-2', 'old']);
    });
    assert.deepEqual((await keys.publish()).keys.map(({ kid }) => kid), ['key-1', 'key-2']);
    keys.stop?.();
  });
});

describe('a server whose tokens another program signs', () => {
  let server: TestServer;
  before(async () => (server = await startTestServer({ serviceAccountSigningEndpoint: path })));
  after(() => server.close());
  const ask = async (seconds = 3600): Promise<{ readonly status: number; readonly text: string; readonly token: string }> => {
    const { status, text, body } = await server.request({ method: 'POST', path: `${account}/token`, body: { spec: { expirationSeconds: seconds } } });
    return { status, text, token: (body as { status?: { token?: string } }).status?.token ?? '' };
  };
  const isKnown = async (token: string): Promise<boolean> => (await server.request({ path: '/api', token })).status !== 401;

  test('gives tokens of the signer that are good here, and no longer than it allows', async () => {
    const { token } = await ask();
    assert.deepEqual(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()), { alg: 'ES256', kid: 'key-1', typ: 'JWT' });
    assert.equal(await isKnown(token), true);
    assert.equal(await isKnown(`${token.slice(0, -4)}AAAA`), false);
    const long = await ask(7201);
    assert.match(long.text, /"expirationSeconds":7200/);
  });

  test('asks for the keys once more when a token names one that it does not know; a key that is taken away verifies no more', async () => {
    const [old, next] = [signer.signing, makeTestKey('key-3')];
    const { token: before } = await ask();
    Object.assign(signer, { keys: [next], signing: next });
    const { token } = await ask();
    assert.equal(await isKnown(token), true);
    assert.equal(await isKnown(before), false);
    Object.assign(signer, { keys: [old], signing: old });
    assert.equal(await isKnown(before), true);
    assert.equal(await isKnown(token), false);
  });

  test('refuses what no signer may answer, in the words of the reference', async () => {
    const wrong: readonly (readonly [Partial<TestSigner>, string])[] = [
      [{ header: { typ: 'at+jwt' } }, 'while validating header: bad type'], [{ header: { kid: '' } }, 'while validating header: key id missing'],
      [{ header: { kid: 'k'.repeat(1025) } }, 'while validating header: key id longer than 1 kb'],
      [{ header: { alg: 'none' } }, 'while validating header: bad signing algorithm "none"'],
      [{ header: { jku: 'https://x' } }, 'while validating header: while parsing header JSON: json: unknown field "jku"'],
      [{ signature: '' }, 'empty signature returned'],
    ];
    const refusal = async (): Promise<unknown> => JSON.parse((await ask()).text).message;
    for (const [change, message] of wrong) {
      Object.assign(signer, { header: {}, signature: undefined }, change);
      assert.equal(await refusal(), `Internal error occurred: failed to generate token: ${message}`);
    }
    Object.assign(signer, { header: {}, signature: undefined, keys: [...signer.keys, makeTestKey('old', true)] });
    const { signing } = signer;
    signer.signing = { ...signing, keyId: 'old' };
    assert.equal(await refusal(),
      'Internal error occurred: failed to generate token: while validating header: key used for signing JWT (kid: old) is excluded from OIDC discovery docs');
    signer.signing = signing;
    signer.failures.set('Sign', [7, 'no']);
    assert.equal(await refusal(), 'Internal error occurred: failed to generate token: while signing jwt: rpc error: code = PermissionDenied desc = no');
    signer.failures.clear();
  });

  test('makes no tokens for Secrets', async () => {
    await server.request({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: { metadata: { name: 's', annotations: {
      'kubernetes.io/service-account.name': 'default' } }, type: 'kubernetes.io/service-account-token' } });
    await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'later' } } });
    await eventually(async () => assert.equal((await server.request({ path: '/api/v1/namespaces/later/serviceaccounts/default' })).status, 200));
    const { body } = await server.request({ path: '/api/v1/namespaces/default/secrets/s' });
    assert.equal((body as { data?: { token?: string } }).data?.token, undefined);
  });

  test('counts calls and their outcomes', async () => {
    const { text } = await server.request({ path: '/metrics' });
    for (const sample of ['apiserver_externaljwt_sign_request_total{code="OK"} ', 'apiserver_externaljwt_sign_request_total{code="PermissionDenied"} 1',
      'apiserver_externaljwt_sign_request_total{code="unknown-non-grpc"} 7', 'apiserver_externaljwt_fetch_keys_request_total{code="OK"} ',
      'apiserver_externaljwt_fetch_keys_data_timestamp 1700000000', 'apiserver_externaljwt_fetch_keys_success_timestamp ',
      'apiserver_externaljwt_request_duration_seconds_count{code="OK",method="/v1.ExternalJWTSigner/Metadata"} 1']) assert.ok(text.includes(sample), sample);
  });
});
