// The authentication of a server: everything that its options say about identities, made into one authenticator, one issuer of service account
// tokens and one list of authorities. What most servers do not use (OIDC, webhooks, configuration files) is loaded only where it is asked for.
import {
  type Authenticate, type AuthenticateToken, type FindBoundObject, type SecretTokenAccount,
  type StaticToken, createAuthenticator,
  createBootstrapTokenAuthenticator,
  createFrontProxy, createOidcAuthenticator, createServiceAccountAuthenticator, createTokenAuthenticator, encodeLegacyClaims, MASTERS_GROUP,
} from '../auth/index.ts';
import type { KubeObject } from '../apimachinery/index.ts';
import { invariant } from '../base/index.ts';
import type { SpecialCreate } from '../endpoints/index.ts';
import { type Catalog, type Registry, findKnownObject } from '../registry/index.ts';
import type { TrustedIssuer } from './config-files/authentication-config.ts';
import { type DataDirectory, readStaticTokens } from './data-directory.ts';
import type { MetricRegistry } from './metrics/metric.ts';
import { countTokenUses } from './metrics/token-metrics.ts';
import { countIssuers } from './metrics/issuer-metrics.ts';
import type { ReloadObserver } from './metrics/reload-metrics.ts';
import type { ServerOptions } from './options/options.ts';
import { type Authorities, followAuthorities } from './tls/authorities.ts';
import type { Pki } from './tls/pki.ts';
import { followRevocations } from './tls/user-records.ts';
import { type ServiceAccountKeys, createServiceAccountKeys } from './tls/service-account-keys.ts';
import type { Routed } from './webhooks/egress.ts';
import { createTokenRequests } from '../subresources/index.ts';

/** The authenticators of this server. */
export interface Authentication {
  readonly authenticate: Authenticate;
  readonly apiAudiences: readonly string[];
  readonly issuer: string;
  readonly keys: ServiceAccountKeys;
  /** Answers requests for service account tokens. */
  readonly requestToken: SpecialCreate;
  /** Signs the token of a token Secret. */
  readonly signSecretToken: (account: SecretTokenAccount) => Promise<string>;
  readonly authorities: Authorities;
  /** The OpenID Connect providers that are trusted at the moment. */
  readonly issuers: () => readonly TrustedIssuer[];
  /** Ends what follows files. */
  stop(): void;
}

interface AuthenticationOptions {
  readonly options: ServerOptions & Routed;
  /** Keys and users of tests. */
  readonly seams: { readonly keys?: ServiceAccountKeys; readonly tokens?: AuthenticateToken };
  readonly directory: DataDirectory;
  readonly pki: Pki | undefined;
  /** Of the administrator of a server without TLS. */
  readonly adminToken: string | undefined;
  readonly find: FindBoundObject;
  /** Receives the uses of tokens from Secrets. */
  readonly onLegacyUse: (secret: KubeObject) => void;
  readonly registry: MetricRegistry;
  /** Makes what counts the reloads of the configuration file; called where there is one. */
  readonly observeReloads: () => ReloadObserver;
}

/** Where every caller may do everything, those without credentials are not let in, as in the reference. */
const allowsEverybody = ({ authorizationMode }: Pick<ServerOptions, 'authorizationMode'>): boolean => authorizationMode.includes('AlwaysAllow');

/** Makes the authentication of a server. Throws StartError for what cannot be read or must not be. */
export async function composeAuthentication(parts: AuthenticationOptions): Promise<Authentication> {
  const { options, seams, directory, pki, find, onLegacyUse } = parts;
  const { clock, random, serviceAccountIssuers } = options;
  if (options.anonymousAuth && allowsEverybody(options)) options.logger.warn('callers without credentials are not let in with the mode AlwaysAllow');
  const keys = seams.keys ?? await openKeys(parts);
  const apiAudiences = options.apiAudiences.length > 0 ? options.apiAudiences : serviceAccountIssuers;
  const issuer = serviceAccountIssuers[0] as string;
  const authorities = followAuthorities(options, pki);
  const revocations = followRevocations(options, pki === undefined ? '' : directory.certificates);
  const configured = options.authenticationConfig === '' ? undefined : await readConfiguration(parts);
  const fromFlags = await readIssuers(options);
  const serviceAccounts = createServiceAccountAuthenticator({
    issuers: serviceAccountIssuers, apiAudiences, keys: () => keys.verifying(), renewKeys: keys.renew?.bind(keys), find, clock, random, onLegacyUse,
    countUse: countTokenUses(parts.registry), looksUpSecrets: options.serviceAccountLookup,
  });
  const tokens: AuthenticateToken[] = [
    collectStaticTokens(options), ...(seams.tokens === undefined ? [] : [seams.tokens]), serviceAccounts,
    ...(options.enableBootstrapTokenAuth ? [createBootstrapTokenAuthenticator({ find, clock })] : []),
    ...createIssuers(parts, fromFlags), ...(configured === undefined ? [] : [configured.authenticate]), ...await createWebhook(options),
  ];
  const authenticate = createAuthenticator({
    tokens, localTokens: createAdminToken(parts), apiAudiences, isRevoked: revocations.isRevoked, clock,
    // Asked for with each request: the file may say something else by then.
    get allowAnonymous() {
      return configured?.anonymous() ?? (options.anonymousAuth && !allowsEverybody(options));
    },
    ...(authorities.proxies.length > 0 && { frontProxy: proxyOf(options) }),
  });
  return {
    stop() {
      configured?.stop();
      authorities.stop();
      revocations.stop();
      keys.stop?.();
    },
    authenticate, apiAudiences, issuer, keys, authorities, issuers: () => configured?.issuers() ?? fromFlags,
    requestToken: createTokenRequests({
      find, sign: (claims) => keys.sign(claims), issuer, apiAudiences, clock, random, extendExpiration: options.serviceAccountExtendTokenExpiration,
      maxExpirationSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000) || (keys.longestSeconds ?? 0), longestSeconds: keys.longestSeconds,
    }),
    signSecretToken: (account) => keys.sign(encodeLegacyClaims(account)),
  };
}

/** The keys of service account tokens: in files, in the data directory, or those of the program that signs. */
async function openKeys({ options, directory, registry }: AuthenticationOptions): Promise<ServiceAccountKeys> {
  if (options.serviceAccountSigningEndpoint === '') return createServiceAccountKeys(options, directory.certificates);
  const [{ openExternalKeys }, { createSignerMetrics }] = await Promise.all([import('./tokens/external-keys.ts'), import('./tokens/signer-metrics.ts')]);
  return openExternalKeys(options, createSignerMetrics({ registry, clock: options.clock }));
}

function collectStaticTokens(options: ServerOptions): AuthenticateToken {
  const fromFile: readonly StaticToken[] = options.tokenAuthFile === '' ? [] : readStaticTokens(options.tokenAuthFile);
  return createTokenAuthenticator([...fromFile, ...options.tokens], options.random);
}

/** Without TLS the administrator's token travels in the open: it is good on this machine and nowhere else. */
function createAdminToken({ options, adminToken }: AuthenticationOptions): AuthenticateToken[] {
  if (adminToken === undefined) return [];
  return [createTokenAuthenticator([{ token: adminToken, user: { name: 'kubernetes-admin', groups: [MASTERS_GROUP] } }], options.random)];
}

const proxyOf = (options: ServerOptions) => createFrontProxy({
  allowedNames: options.requestheaderAllowedNames, usernameHeaders: options.requestheaderUsernameHeaders, uidHeaders: options.requestheaderUidHeaders,
  groupHeaders: options.requestheaderGroupHeaders, extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
});

/** What the configuration file says at the moment. */
async function readConfiguration({ options, registry, observeReloads }: AuthenticationOptions) {
  const { readAuthenticationConfiguration } = await import('./config-files/authentication-config.ts');
  const { follow, ...first } = await readAuthenticationConfiguration(options, observeReloads());
  const { clock, random } = options;
  const observer = countIssuers(registry, clock);
  let current = { ...first, authenticate: createOidcAuthenticator({ issuers: first.issuers, clock, random, observer }) };
  const stop = follow((next) => {
    current = { ...next, authenticate: createOidcAuthenticator({ issuers: next.issuers, clock, random, observer }) };
  });
  const authenticate: AuthenticateToken = (token, audiences) => current.authenticate(token, audiences);
  return { authenticate, anonymous: () => current.anonymous, issuers: () => current.issuers, stop };
}

async function readIssuers(options: ServerOptions & Routed): Promise<TrustedIssuer[]> {
  if (options.oidcIssuerUrl === '') return [];
  const { readOidcFlags } = await import('./config-files/authentication-config.ts');
  return [readOidcFlags(options)];
}

const createIssuers = ({ options: { clock, random }, registry }: AuthenticationOptions, issuers: readonly TrustedIssuer[]): AuthenticateToken[] =>
  (issuers.length === 0 ? [] : [createOidcAuthenticator({ issuers, clock, random, observer: countIssuers(registry, clock) })]);

async function createWebhook(options: ServerOptions & Routed): Promise<AuthenticateToken[]> {
  if (options.authenticationTokenWebhookConfigFile === '') return [];
  const { createTokenWebhook } = await import('./webhooks/token-webhook.ts');
  return [await createTokenWebhook(options)];
}

/** Reads the objects that tokens are bound to, as findKnown does. */
export function findBoundObjectWith(api: () => { readonly registry: Registry; readonly catalog: Catalog }): FindBoundObject {
  return (plural, { namespace, name }) => {
    const { registry, catalog } = api();
    const resource = catalog.find('', 'v1', plural);
    invariant(resource !== undefined, `${plural} are served`);
    return findKnownObject(registry, { resource, version: 'v1', namespace, name });
  };
}

/** What aggregated servers need to know, as the ConfigMap extension-apiserver-authentication says it. */
export function describeForAggregated(options: ServerOptions, { authorities: { clients, proxies } }: Authentication): Readonly<Record<string, string>> {
  const list = (values: readonly string[]) => JSON.stringify(values);
  return {
    ...(clients.length > 0 && { 'client-ca-file': clients.join('') }),
    ...(proxies.length > 0 && {
      'requestheader-allowed-names': list(options.requestheaderAllowedNames), 'requestheader-client-ca-file': proxies.join(''),
      'requestheader-extra-headers-prefix': list(options.requestheaderExtraHeadersPrefix),
      'requestheader-group-headers': list(options.requestheaderGroupHeaders),
      'requestheader-uid-headers': list(options.requestheaderUidHeaders), 'requestheader-username-headers': list(options.requestheaderUsernameHeaders),
    }),
  };
}
