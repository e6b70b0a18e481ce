// The two documents with which others verify service account tokens: OpenID discovery, and the public keys. Mirrors kube-apiserver's, which says
// RSA or ECDSA by the keys that there are.
import { failure } from '../apimachinery/index.ts';
import type { Exchange, Response } from '../endpoints/index.ts';
import type { ServiceAccountKeys } from './tls/service-account-keys.ts';

/** Where the issuer is described. */
export const DISCOVERY_PATH = '/.well-known/openid-configuration';
/** Where its keys are. */
export const KEYS_PATH = '/openid/v1/jwks';

interface OpenIdOptions {
  readonly issuer: string;
  /** Where the keys are, as others reach them. */
  readonly keysUrl: () => string;
  readonly keys: ServiceAccountKeys;
}

/** Answers both paths, with a slash behind them or without; undefined for all others. */
export function createOpenIdHandler({ issuer, keysUrl, keys }: OpenIdOptions): (exchange: Exchange) => Promise<Response> | undefined {
  const answerDiscovery = async (exchange: Exchange): Promise<Response> => {
    const published = await keys.publish();
    const document = {
      issuer, jwks_uri: keysUrl(), response_types_supported: ['id_token'], subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(published.keys.map(({ alg }) => alg))].sort(),
    };
    return answerDocument(exchange, document, { type: 'application/json', maxAgeSeconds: keys.maxAgeSeconds() });
  };
  return (exchange) => {
    const path = exchange.path.replace(/\/$/, '');
    if (path !== DISCOVERY_PATH && path !== KEYS_PATH) return undefined;
    if (exchange.method !== 'GET') throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
    if (path === DISCOVERY_PATH) return answerDiscovery(exchange);
    return keys.publish().then((set) => answerDocument(exchange, set,
      { type: 'application/jwk-set+json', maxAgeSeconds: keys.maxAgeSeconds() }));
  };
}

interface DocumentForm {
  readonly type: string;
  readonly maxAgeSeconds: number;
}

function answerDocument(exchange: Exchange, document: unknown, { type, maxAgeSeconds }: DocumentForm): Response {
  const accepted = (exchange.headers['accept'] ?? '*/*').split(',').map((range) => range.split(';', 1)[0]?.trim() ?? '');
  if (!accepted.some((range) => range === '*/*' || range === '' || range === type || range === 'application/*')) {
    throw failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${type}`, {});
  }
  const headers = { 'content-type': type, 'cache-control': `public, max-age=${maxAgeSeconds}` };
  return { status: 200, headers, body: new TextEncoder().encode(JSON.stringify(document)) };
}
