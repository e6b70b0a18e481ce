// What a setup has beside its server: a directory with files and certificates, and a server of webhooks, which is an issuer of tokens as well.
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { createCertificate } from '../../src/server/tls/certificates.ts';
import type { Json } from '../differential/case.ts';
import { makeDirectory } from '../differential/servers.ts';
import type { Certificate, Setup } from './row.ts';

/** A call of a webhook. */
interface Call {
  readonly name: string;
  readonly body: Json;
}

export interface Place {
  readonly directory: string;
  /** What webhooks were sent, the oldest first. */
  readonly calls: Call[];
  /** Makes a certificate and its key, in the place of those of this name. */
  certify(name: string, request: Certificate): void;
  /** A token of the issuer, which is its `iss` unless the claims say another; it lives for an hour, or for `livesS`. */
  sign(claims: Json): string;
  fill(text: string): string;
  file(name: string): string;
  stop(): void;
}

/** The answer to a request by its path. */
type Answer = (name: string, body: Json) => Json | Promise<Json> | undefined;

const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 86_400_000;
const HOUR_S = 3600;

/** Serves `answer` by the paths of the requests. */
async function serve(pair: { readonly cert: string; readonly key: string }, answer: Answer):
Promise<{ readonly url: string; stop(): void }> {
  const server = createServer(pair, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      void Promise.resolve(answer(String(request.url).slice(1).split('?')[0]!, text === '' ? {} : JSON.parse(text) as Json)).then((said) => {
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
export async function preparePlace({ files = {}, certificates = {}, hooks = {} }: Setup): Promise<Place> {
  const directory = makeDirectory();
  const file = (name: string): string => path.join(directory, name);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const calls: Call[] = [];
  const issuer = createCertificate({ commonName: 'audit-ca', lifetimeMs }, context);
  writeFileSync(file('ca.crt'), issuer.certificate);
  function certify(name: string, { isSelfSigned, ...request }: Certificate): void {
    const { certificate, key } = createCertificate({ ...request, ...(isSelfSigned !== true && { issuer }), lifetimeMs }, context);
    writeFileSync(file(`${name}.crt`), certificate);
    writeFileSync(file(`${name}.key`), key);
  }
  for (const [name, request] of Object.entries({ hooks: { commonName: 'hooks', hosts: ['127.0.0.1'] }, ...certificates })) certify(name, request);
  const { url, stop } = await serve({ cert: readFileSync(file('hooks.crt'), 'utf8'), key: readFileSync(file('hooks.key'), 'utf8') }, (name, body) => {
    if (name === '.well-known/openid-configuration') {
      return { issuer: url, jwks_uri: `${url}/keys`, response_types_supported: ['id_token'], subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'] };
    }
    if (name === 'keys') return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] };
    calls.push({ name, body });
    return hooks[name]?.(body);
  });
  const fill = (text: string): string => text.replaceAll('{dir}', directory).replaceAll('{hooks}', url)
    .replaceAll('{ca}', JSON.stringify(issuer.certificate).slice(1, -1)).replaceAll('{caBundle}', Buffer.from(issuer.certificate).toString('base64'));
  for (const [name, text] of Object.entries(files)) writeFileSync(file(name), fill(text), { mode: 0o600 });
  return {
    directory, calls, fill, file, certify,
    sign({ livesS = HOUR_S, ...claims }) {
      const nowS = Math.floor(Date.now() / 1000);
      const parts = [{ alg: 'RS256', kid: 'one' }, { iss: url, iat: nowS, exp: nowS + livesS, ...claims }]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      return `${parts}.${sign('sha256', Buffer.from(parts), privateKey).toString('base64url')}`;
    },
    stop() {
      stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
