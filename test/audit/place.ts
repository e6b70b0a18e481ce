// What a setup has beside its server: a directory with files and certificates, and a server of webhooks, which is an issuer of tokens as well.
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { createCertificate } from '../../src/server/tls/certificates.ts';
import type { Json } from '../differential/case.ts';
import { makeDirectory } from '../differential/servers.ts';
import { type TestSigner, startTestSigner } from '../../src/server/tokens/testing.ts';
import type { Certificate, Hold, Setup } from './row.ts';

/** A call of a webhook. */
interface Call {
  readonly name: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

/** Answers of webhooks that wait for a row. */
export interface Gate {
  readonly hold: Hold;
  /** How many wait. */
  count(): number;
  release(): void;
}

function makeGate(): Gate {
  const waiting: (() => void)[] = [];
  return {
    hold: (answer) => new Promise((resolve) => void waiting.push(() => resolve(answer))),
    count: () => waiting.length,
    release: () => waiting.splice(0).forEach((letGo) => letGo()),
  };
}

export interface Place {
  readonly directory: string;
  /** What webhooks were sent, the oldest first. */
  readonly calls: Call[];
  readonly gate: Gate;
  readonly signer: TestSigner | undefined;
  /** Makes a certificate and its key, in the place of those of this name. */
  certify(name: string, request: Certificate): void;
  /** A token of the issuer, which is its `iss` unless the claims say another; it lives for an hour, or for `livesS`. The claims may hold another header. */
  sign(claims: Json): string;
  fill(text: string): string;
  file(name: string): string;
  stop(): void;
}

/** The answer to a request by its path. */
type Answer = (name: string, call: Omit<Call, 'name'>) => Json | undefined | Promise<Json | undefined>;

const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 86_400_000;
const HOUR_S = 3600;
const MINUTE_MS = 60_000;

/** Serves `answer` by the paths of the requests. */
async function serve(pair: { readonly cert: string; readonly key: string }, answer: Answer):
Promise<{ readonly url: string; stop(): void }> {
  const server = createServer(pair, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      void Promise.resolve(answer(String(request.url).slice(1).split('?')[0]!,
        { headers: request.headers, body: text === '' ? {} : JSON.parse(text) as Json })).then((said) => {
        response.writeHead(said === undefined ? 500 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(said ?? {}));
      });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Writes the files of a setup, and serves its webhooks. */
export async function preparePlace({ files = {}, certificates = {}, hooks = {}, hasSigner }: Setup): Promise<Place> {
  const directory = makeDirectory();
  const file = (name: string): string => path.join(directory, name);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const calls: Call[] = [];
  const gate = makeGate();
  const signer = hasSigner === true ? await startTestSigner(file('signer.sock')) : undefined;
  const issuer = createCertificate({ commonName: 'audit-ca', lifetimeMs }, context);
  writeFileSync(file('ca.crt'), issuer.certificate);
  writeFileSync(file('issuer.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  function certify(name: string, { isSelfSigned, ...request }: Certificate): void {
    const { certificate, key } = createCertificate({ ...request, ...(isSelfSigned !== true && { issuer }), lifetimeMs }, context);
    writeFileSync(file(`${name}.crt`), certificate);
    writeFileSync(file(`${name}.key`), key);
  }
  const own = { hooks: { commonName: 'hooks', hosts: ['127.0.0.1', 'hooks.default.svc'] } };
  for (const [name, request] of Object.entries({ ...own, ...certificates })) certify(name, request);
  const pair = { cert: readFileSync(file('hooks.crt'), 'utf8'), key: readFileSync(file('hooks.key'), 'utf8') };
  const { url, stop } = await serve(pair, (name, { headers, body }) => {
    if (name === '.well-known/openid-configuration') {
      return { issuer: url, jwks_uri: `${url}/keys`, response_types_supported: ['id_token'], subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'] };
    }
    if (name === 'keys') return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] };
    calls.push({ name, headers, body });
    return hooks[name]?.(body, gate.hold);
  });
  const formatTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`;
  const fill = (text: string): string => text.replaceAll('{now}', formatTime(Date.now())).replaceAll('{earlier}', formatTime(Date.now() - MINUTE_MS))
    .replaceAll('{dir}', directory).replaceAll('{hooks}', url).replaceAll('"{hooksPort}"', new URL(url).port)
    .replaceAll('{ca}', JSON.stringify(issuer.certificate).slice(1, -1)).replaceAll('{caBundle}', Buffer.from(issuer.certificate).toString('base64'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(file(name)), { recursive: true });
    writeFileSync(file(name), fill(text), { mode: 0o600 });
  }
  return {
    directory, calls, gate, signer, fill, file, certify,
    sign({ header = { alg: 'RS256', kid: 'one' }, livesS = HOUR_S, ...claims }) {
      const nowS = Math.floor(Date.now() / 1000);
      const parts = [header as Json, { iss: url, iat: nowS, exp: nowS + livesS, ...claims }]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      return `${parts}.${sign('sha256', Buffer.from(parts), privateKey).toString('base64url')}`;
    },
    stop() {
      gate.release();
      void signer?.close();
      stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
