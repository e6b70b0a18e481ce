// Options of authentication and authorization, spelled as kube-apiserver spells them.
import { quoteGo } from '../../apimachinery/index.ts';
import { type AuthorizationMode, type StaticToken, authorizationModes } from '../../auth/index.ts';
import { type Option, type SettingsOf, checks, duration, list, text, texts, toggle, value, words } from './schema.ts';

const ONE_HOUR_MS = 3_600_000;
const LONGEST_TOKEN_LIFE_MS = 2 ** 32 * 1000;

const isIssuer = (issuer: string): boolean => !issuer.includes(':') || URL.canParse(issuer);

function checkIssuers(issuers: readonly string[]): string | undefined {
  if (issuers.length === 0) return 'must name at least one issuer';
  if (issuers.includes('')) return 'should not be an empty string';
  return issuers.every(isIssuer) ? undefined : 'must be a URL or a word without a colon';
}

const checkTokenLife = (ms: number): string | undefined =>
  (ms !== 0 && (ms < ONE_HOUR_MS || ms > LONGEST_TOKEN_LIFE_MS) ? 'must be between 1 hour and 2^32 seconds' : undefined);

function checkModes(modes: readonly string[]): string | undefined {
  if (modes.length === 0) return 'must name at least one mode';
  const wrong = modes.find((mode) => !authorizationModes.some((known) => known === mode));
  return wrong === undefined ? undefined : `authorization-mode ${quoteGo(wrong)} is not a valid mode`;
}

const checkKeysUri = (uri: string): string | undefined => (uri === '' || uri.startsWith('https://') ? undefined : `requires https scheme, parsed as: ${uri}`);

/** A provider's URL is where its keys are found below, so nothing follows its path. */
function checkProvider(url: string): string | undefined {
  if (url === '') return undefined;
  if (!url.startsWith('https://') || !URL.canParse(url)) return 'must begin with https://';
  const { username, search, hash } = new URL(url);
  if (username !== '') return 'must not contain a username';
  if (search !== '') return 'must not contain a query';
  return hash === '' ? undefined : 'must not contain a fragment';
}

const checkClaims = (claims: readonly string[]): string | undefined => (claims.every((claim) => claim.indexOf('=') > 0) ? undefined : 'must be claim=value');

const certificates = {
  clientCaFile: text({ flag: 'client-ca-file', help: 'Authorities (PEM) whose client certificates are accepted besides the generated one.' }),
  tokenAuthFile: text({ flag: 'token-auth-file', help: 'CSV file of static tokens: token,user,uid,"group1,group2".' }),
  tokens: value<readonly StaticToken[]>([], 'Static tokens handed in directly.'),
  anonymousAuth: toggle({ flag: 'anonymous-auth', default: true, help: 'Let callers without credentials in as system:anonymous; off where --authorization-mode has AlwaysAllow.' }),
  authenticationConfig: text({ flag: 'authentication-config', help: 'File with an AuthenticationConfiguration (apiserver.config.k8s.io).' }),
} as const;

const serviceAccounts = {
  serviceAccountIssuers: texts({
    flag: 'service-account-issuer', default: ['https://kubernetes.default.svc'], check: checkIssuers,
    help: 'Issuers of service account tokens; the first one signs, all are accepted.',
  }),
  serviceAccountKeyFiles: texts({ flag: 'service-account-key-file', help: 'Keys (PEM) that verify service account tokens; by default the key that signs.' }),
  serviceAccountSigningKeyFile: text({
    flag: 'service-account-signing-key-file', help: 'Key (PEM) that signs service account tokens; by default one is generated.',
  }),
  serviceAccountSigningEndpoint: text({
    flag: 'service-account-signing-endpoint',
    help: 'Unix socket of a program that signs service account tokens (ExternalJWTSigner by gRPC), in place of keys; @NAME is an abstract one.',
  }),
  serviceAccountJwksUri: text({
    flag: 'service-account-jwks-uri', check: checkKeysUri, help: 'Where the public keys of service account tokens are; by default on this server.',
  }),
  apiAudiences: list({ flag: 'api-audiences', help: 'Audiences of tokens for this API; by default the issuers of service account tokens.' }),
  serviceAccountMaxTokenExpirationMs: duration({
    flag: 'service-account-max-token-expiration', default: 0, flagDefault: '0s', check: checkTokenLife,
    help: 'Longest life of a service account token; 0: no bound.',
  }),
  serviceAccountExtendTokenExpiration: toggle({
    flag: 'service-account-extend-token-expiration', default: true, help: 'Let the tokens in pods live for a year although an hour is asked for.',
  }),
  serviceAccountLookup: toggle({
    flag: 'service-account-lookup', default: true,
    help: 'Refuse tokens from Secrets whose Secret or service account is gone; other tokens always die with them.',
  }),
  enableBootstrapTokenAuth: toggle({
    flag: 'enable-bootstrap-token-auth', default: false, help: 'Accept bootstrap tokens (Secrets of type bootstrap.kubernetes.io/token in kube-system).',
  }),
} as const;

/** Refuses names that are empty, in the reference's words. */
const checkNames = (flag: string) => (names: readonly string[]): string | undefined =>
  (names.some((name) => name.trim() === '') ? `empty value in ${quoteGo(flag)}` : undefined);

/** A list of names, none of them empty. */
const names = ({ flag, ...row }: { readonly flag: string; readonly default?: readonly string[]; readonly help: string }): Option<readonly string[]> =>
  list({ flag, check: checkNames(flag), ...row });

const UID_FLAG = 'requestheader-uid-headers';

/** A later flag than its likes, which the reference refuses without the name that its own proxy sends. */
function checkUidHeaders(names: readonly string[]): string | undefined {
  const isStandard = names.length === 0 || names.some((name) => name.toLowerCase() === 'x-remote-uid');
  return checkNames(UID_FLAG)(names) ?? (isStandard ? undefined
    : 'is set without specifying the standard X-Remote-Uid header - API aggregation will not work');
}

const frontProxy = {
  requestheaderClientCaFile: text({
    flag: 'requestheader-client-ca-file', help: 'Authority (PEM) of front proxies; only with its certificates are their headers believed.',
  }),
  requestheaderAllowedNames: names({ flag: 'requestheader-allowed-names', help: 'Common names of front proxies; by default all of the authority.' }),
  requestheaderUsernameHeaders: names({ flag: 'requestheader-username-headers', default: ['x-remote-user'], help: 'Headers with the user name.' }),
  requestheaderUidHeaders: list({ flag: UID_FLAG, default: ['x-remote-uid'], check: checkUidHeaders, help: 'Headers with the uid.' }),
  requestheaderGroupHeaders: names({ flag: 'requestheader-group-headers', default: ['x-remote-group'], help: 'Headers with groups.' }),
  requestheaderExtraHeadersPrefix: names({
    flag: 'requestheader-extra-headers-prefix', default: ['x-remote-extra-'], help: 'Beginnings of headers with more about the user.',
  }),
} as const;

const proxyClient = {
  proxyClientCertFile: text({ flag: 'proxy-client-cert-file', help: 'Client certificate (PEM) that is shown to the servers behind APIServices.' }),
  proxyClientKeyFile: text({ flag: 'proxy-client-key-file', help: 'Its key (PEM).' }),
  aggregatorRejectForwardingRedirect: toggle({
    flag: 'aggregator-reject-forwarding-redirect', default: true, help: 'Refuse redirects of the servers behind APIServices.',
  }),
} as const;

const oidc = {
  oidcIssuerUrl: text({
    flag: 'oidc-issuer-url', check: checkProvider,
    help: 'OpenID Connect provider whose ID tokens are accepted (https).',
  }),
  oidcClientId: text({ flag: 'oidc-client-id', help: 'Audience that its tokens must name.' }),
  oidcCaFile: text({ flag: 'oidc-ca-file', help: 'Authority of the provider; by default those of the system.' }),
  oidcUsernameClaim: text({ flag: 'oidc-username-claim', default: 'sub', help: 'Claim with the user name.' }),
  oidcUsernamePrefix: text({
    flag: 'oidc-username-prefix', help: 'Prefix of user names; by default the issuer and #, except for the claim email; - for nothing.',
  }),
  oidcGroupsClaim: text({ flag: 'oidc-groups-claim', help: 'Claim with the groups; where a token names another place for it (distributed claims), they are fetched from there.' }),
  oidcGroupsPrefix: text({ flag: 'oidc-groups-prefix', help: 'Prefix of groups.' }),
  oidcSigningAlgs: list({ flag: 'oidc-signing-algs', default: ['RS256'], help: 'Algorithms that its tokens may be signed with.' }),
  oidcRequiredClaims: texts({ flag: 'oidc-required-claim', check: checkClaims, help: 'claim=value that its tokens must have.' }),
  consoleOidcClientId: text({
    flag: 'console-oidc-client-id',
    help: 'Client of the console at the OpenID Connect provider, which lets users log in there; its redirect URI is the address of the console, /console/.',
  }),
  consoleOidcClientSecretFile: text({ flag: 'console-oidc-client-secret-file', help: 'File with the secret of that client; public clients have none.' }),
  consoleOidcIssuerUrl: text({
    flag: 'console-oidc-issuer-url', help: 'Provider of the console, where --authentication-config trusts more than one.',
  }),
  consoleOidcScopes: words({
    flag: 'console-oidc-scopes', default: ['openid', 'email', 'profile'],
    help: 'Scopes that the console asks for; offline_access is added where the provider knows it.',
  }),
} as const;

const webhooks = {
  authenticationTokenWebhookConfigFile: text({
    flag: 'authentication-token-webhook-config-file', help: 'Kubeconfig of a service that validates bearer tokens.',
  }),
  authenticationTokenWebhookVersion: text({
    flag: 'authentication-token-webhook-version', default: 'v1beta1', check: checks.oneOf('v1', 'v1beta1'),
    help: 'Version of the TokenReview that is sent to it: v1 or v1beta1.',
  }),
  authenticationTokenWebhookCacheTtlMs: duration({
    flag: 'authentication-token-webhook-cache-ttl', default: 120_000, flagDefault: '2m0s', help: 'How long its answers are kept.',
  }),
  authorizationWebhookConfigFile: text({ flag: 'authorization-webhook-config-file', help: 'Kubeconfig of the service that the Webhook mode asks.' }),
  authorizationWebhookVersion: text({
    flag: 'authorization-webhook-version', default: 'v1beta1', check: checks.oneOf('v1', 'v1beta1'),
    help: 'Version of the SubjectAccessReviews that are sent: v1 or v1beta1.',
  }),
  authorizationWebhookCacheAuthorizedTtlMs: duration({
    flag: 'authorization-webhook-cache-authorized-ttl', default: 300_000, flagDefault: '5m0s', help: 'How long rights that the service gave are remembered.',
  }),
  authorizationWebhookCacheUnauthorizedTtlMs: duration({
    flag: 'authorization-webhook-cache-unauthorized-ttl', default: 30_000, flagDefault: '30s', help: 'How long refusals of the service are remembered.',
  }),
  authorizationConfig: text({
    flag: 'authorization-config', help: 'File with an AuthorizationConfiguration (apiserver.config.k8s.io); instead of the other flags about authorization.',
  }),
  authorizationPolicyFile: text({ flag: 'authorization-policy-file', help: 'Policies of the ABAC mode: one JSON object a line.' }),
  authorizationMode: list<AuthorizationMode>({
    flag: 'authorization-mode', default: ['RBAC'], check: checkModes, help: `Modes, asked in order: ${authorizationModes.join(', ')}.`,
  }),
} as const;

/** Which callers there are, and what they may do. */
export const identityOptions = { ...certificates, ...serviceAccounts, ...frontProxy, ...proxyClient, ...oidc, ...webhooks } as const;

type TokenSettings = Pick<SettingsOf<typeof identityOptions>, 'serviceAccountSigningEndpoint' | 'serviceAccountSigningKeyFile' | 'serviceAccountKeyFiles'>;

/** Reports settings of the keys of tokens that do not fit each other, in the reference's words. */
export function findTokenConflicts(settings: TokenSettings): string[] {
  const { serviceAccountSigningEndpoint: endpoint, serviceAccountSigningKeyFile: file, serviceAccountKeyFiles } = settings;
  if (endpoint === '') return [];
  if (file !== '') return ['service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time'];
  if (serviceAccountKeyFiles.length > 0) {
    return ['can\'t set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` '
      + '(They are mutually exclusive)'];
  }
  if (!endpoint.startsWith('@') || /^@[\w-]+(?:\.[\w-]+)*$/.test(endpoint)) return [];
  return [`invalid value ${JSON.stringify(endpoint)} passed for \`--service-account-signing-endpoint\`, when prefixed with @ must be a valid abstract `
    + 'socket name'];
}

/** Reports flags about OpenID Connect without a provider, and a service for rights that no mode asks, in the reference's words. */
export function findIdentityConflicts(settings: SettingsOf<typeof identityOptions>): string[] {
  const { oidcIssuerUrl, oidcClientId, oidcCaFile, oidcUsernameClaim, oidcUsernamePrefix, oidcGroupsClaim, oidcGroupsPrefix, oidcRequiredClaims } = settings;
  const isAsked = oidcCaFile + oidcUsernamePrefix + oidcGroupsClaim + oidcGroupsPrefix !== '' || oidcRequiredClaims.length > 0
    || oidcUsernameClaim !== oidc.oidcUsernameClaim.default;
  const hasProvider = oidcIssuerUrl !== '' && oidcClientId !== '';
  const isUnasked = settings.authorizationWebhookConfigFile !== '' && settings.authorizationConfig === '' && !settings.authorizationMode.includes('Webhook');
  return [
    ...(!hasProvider && (isAsked || oidcIssuerUrl + oidcClientId !== '')
      ? ['oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set'] : []),
    ...(isUnasked ? ['cannot specify --authorization-webhook-config-file without mode Webhook'] : []),
  ];
}
