// The metrics of OpenID Connect providers, under upstream's names: how long the check of a token takes, when a provider's keys were fetched or could not be,
// and a hash of the keys in use. Providers that are trusted no more are shown no more.
import type { OidcObserver } from '../../auth/index.ts';
import type { Clock } from '../../base/index.ts';
import { nameServer } from '../server-identity.ts';
import { type MetricRegistry, formatLabels, hashText } from './metric.ts';

const PREFIX = 'apiserver_authentication_jwt_authenticator';
const latencyBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The fetches of a provider's keys. */
interface Fetches {
  /** When keys were fetched last, and when that failed last: seconds since 1970. */
  readonly times: Map<'success' | 'failure', number>;
  hash: string | undefined;
}

/** Adds the metrics to a registry. */
export function countIssuers(registry: MetricRegistry, clock: Clock): OidcObserver {
  const server = { apiserver_id_hash: hashText(nameServer()) };
  const fetches = new Map<string, Fetches>();
  const latencies = registry.histogram({
    name: `${PREFIX}_latency_seconds`, stability: 'ALPHA', bounds: latencyBounds,
    help: 'Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for cache miss only '
      + '(i.e. when the token is not found in the cache).',
  });
  registry.gauge({
    name: `${PREFIX}_jwks_fetch_last_timestamp_seconds`, stability: 'ALPHA',
    help: 'Timestamp of the last successful or failed JWKS fetch split by result, api server identity and jwt issuer for the JWT authenticator.',
  }, () => [...fetches].flatMap(([issuer, { times }]) => [...times].map(([result, seconds]) =>
    [formatLabels({ ...server, jwt_issuer_hash: hashText(issuer), result }), seconds] as const)));
  registry.gauge({
    name: `${PREFIX}_jwks_fetch_last_key_set_info`, stability: 'ALPHA',
    help: 'Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api server identity and jwt issuer.',
  }, () => [...fetches].flatMap(([issuer, { hash }]) =>
    (hash === undefined ? [] : [[formatLabels({ ...server, hash, jwt_issuer_hash: hashText(issuer) }), 1] as const])));
  return {
    trusts(issuers) {
      for (const issuer of fetches.keys()) if (!issuers.includes(issuer)) fetches.delete(issuer);
      for (const issuer of issuers) if (!fetches.has(issuer)) fetches.set(issuer, { times: new Map(), hash: undefined });
    },
    fetchedKeys(issuer, keys) {
      const known = fetches.get(issuer);
      // A fetch may end after its provider is trusted no more.
      if (known === undefined) return;
      known.times.set(keys === undefined ? 'failure' : 'success', clock.now() / 1000);
      if (keys !== undefined) known.hash = hashText(keys);
    },
    checkedToken: (issuer, result, seconds) => latencies.observe(formatLabels({ jwt_issuer_hash: hashText(issuer), result }), seconds),
  };
}
