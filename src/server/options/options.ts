// Everything that can be chosen about a server: one flat record, validated once, then frozen. Flags (flags.ts) are another spelling of it.
import { isIP } from 'node:net';
import type { AuthorizationMode, StaticToken } from '../../auth/index.ts';
import { authorizationModes } from '../../auth/index.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../../base/index.ts';
import { parseRange } from '../tls/addresses.ts';
import { type Logger, silentLogger } from '../observability/logger.ts';

/** What a server is told at its start. Every field has a default. */
export interface ServerOptions {
  /** Port to serve on; 0 picks a free one. Default 0. */
  readonly securePort: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly bindAddress: string;
  /** Address that the `kubernetes` Service leads to. Default: the bind address. */
  readonly advertiseAddress: string;
  /** false: plain HTTP/1.1, for tests behind something else that encrypts. Default true. */
  readonly tls: boolean;
  /** Directory of everything durable. Default '': nothing is written, all is in memory. */
  readonly dataDir: string;
  /** Directory of the certificates that the server makes. Default: `pki` in the data directory. */
  readonly certDir: string;
  /** PEM files of a serving certificate that the server did not make. Both or none. */
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  /** PEM file of authorities whose client certificates are accepted besides the server's own. */
  readonly clientCaFile: string;
  /** CSV file: token,user,uid,"group1,group2". */
  readonly tokenAuthFile: string;
  /** Static tokens handed in directly. */
  readonly tokens: readonly StaticToken[];
  /** Whether callers without credentials are let in as system:anonymous. Default true. */
  readonly anonymousAuth: boolean;
  /** File with an AuthenticationConfiguration: issuers of ID tokens, and where callers without credentials are let in. */
  readonly authenticationConfig: string;
  /** Issuers of service account tokens that are accepted; the first one signs. Default https://kubernetes.default.svc. */
  readonly serviceAccountIssuers: readonly string[];
  /** PEM files whose keys verify service account tokens. Default: the key that signs. */
  readonly serviceAccountKeyFiles: readonly string[];
  /** PEM file of the key that signs service account tokens. Default: one that the server makes. */
  readonly serviceAccountSigningKeyFile: string;
  /** Where the public keys of service account tokens are, as others reach them. Default: this server. */
  readonly serviceAccountJwksUri: string;
  /** Audiences of tokens for this API. Default: the issuers. */
  readonly apiAudiences: readonly string[];
  /** Longest life of a service account token that can be asked for. Default 0: no bound. */
  readonly serviceAccountMaxTokenExpirationMs: number;
  /** Whether the tokens in pods live for a year although an hour is asked for. Default true. */
  readonly serviceAccountExtendTokenExpiration: boolean;
  /** Whether bootstrap tokens (Secrets in kube-system) are accepted. Default false. */
  readonly enableBootstrapTokenAuth: boolean;
  /** Authority of front proxies, and what they say in which headers. Default '': no front proxy is believed. */
  readonly requestheaderClientCaFile: string;
  readonly requestheaderAllowedNames: readonly string[];
  readonly requestheaderUsernameHeaders: readonly string[];
  readonly requestheaderUidHeaders: readonly string[];
  readonly requestheaderGroupHeaders: readonly string[];
  readonly requestheaderExtraHeadersPrefix: readonly string[];
  /** One provider of ID tokens; see authenticationConfig for several. Default '': none. */
  readonly oidcIssuerUrl: string;
  readonly oidcClientId: string;
  readonly oidcCaFile: string;
  readonly oidcUsernameClaim: string;
  readonly oidcUsernamePrefix: string;
  readonly oidcGroupsClaim: string;
  readonly oidcGroupsPrefix: string;
  readonly oidcSigningAlgs: readonly string[];
  /** `claim=value` each. */
  readonly oidcRequiredClaims: readonly string[];
  /** Kubeconfig of a service that judges bearer tokens. Default '': none. */
  readonly authenticationTokenWebhookConfigFile: string;
  /** Version of the TokenReview that is sent. Default v1beta1. */
  readonly authenticationTokenWebhookVersion: string;
  /** How long its answers are kept. Default 2 min. */
  readonly authenticationTokenWebhookCacheTtlMs: number;
  /** Kubeconfig of the service that the Webhook mode asks. */
  readonly authorizationWebhookConfigFile: string;
  /** v1 or v1beta1. Default v1beta1, as in the reference. */
  readonly authorizationWebhookVersion: string;
  /** How long its answers are kept. Defaults 5 min and 30 s. */
  readonly authorizationWebhookCacheAuthorizedTtlMs: number;
  readonly authorizationWebhookCacheUnauthorizedTtlMs: number;
  /** File with an AuthorizationConfiguration: who is asked about rights, in order. Default '': the modes below. */
  readonly authorizationConfig: string;
  /** Asked in order. Default RBAC. */
  readonly authorizationMode: readonly AuthorizationMode[];
  /** Admission plugins besides those that are always on: NodeRestriction. Default []. */
  readonly enableAdmissionPlugins: readonly string[];
  /** Admission plugins that are on by default and shall not be. Default []. */
  readonly disableAdmissionPlugins: readonly string[];
  /** Range of Service addresses; the first is the server's own. Default 10.0.0.0/24. */
  readonly serviceClusterIpRange: string;
  /** Longest that a request may take. Default 60 s. */
  readonly requestTimeoutMs: number;
  /** Shortest life of a watch without a timeout of its own, in seconds. Default 1800. */
  readonly minRequestTimeoutSeconds: number;
  /** Reads and writes in progress above which callers get 429; 0: no limit. Defaults 400 and 200. */
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  /** Whether the sum of the two is divided among priority levels instead. Default true. */
  readonly enablePriorityAndFairness: boolean;
  /** Streams on one HTTP/2 connection. Default 250. */
  readonly http2MaxStreamsPerConnection: number;
  /** How often superseded versions are forgotten. Default 5 min; 0: never. */
  readonly compactionIntervalMs: number;
  /** How long superseded versions are kept at least, for exact reads and watches that resume. Default 5 min. */
  readonly historyMs: number;
  /** Servers of an etcd cluster to store in, instead of in the data directory. Default []: none. */
  readonly etcdServers: readonly string[];
  /** Where the keys in etcd begin. Default /registry, as in kube-apiserver. */
  readonly etcdPrefix: string;
  /** PEM files: authorities that etcd's certificate may come from, and the certificate and key to show to it. */
  readonly etcdCaFile: string;
  readonly etcdCertFile: string;
  readonly etcdKeyFile: string;
  /** How often one of the servers on an etcd compacts it. Default 5 min; 0: never. */
  readonly etcdCompactionIntervalMs: number;
  /** How built-in resources are written to the store: application/json (default) or application/vnd.kubernetes.protobuf. Both are read. */
  readonly storageMediaType: string;
  /** YAML file: an EncryptionConfiguration. Default '': nothing is encrypted. */
  readonly encryptionProviderConfig: string;
  /** Controllers to run: `*` for all, a name, or `-name`. Default ['*']. */
  readonly controllers: readonly string[];
  /** Kubernetes feature gates and API groups to switch. Accepted and kept; nothing depends on them. */
  readonly featureGates: readonly string[];
  readonly runtimeConfig: readonly string[];
  /** How long requests in progress may take to finish when the server stops. Default 10 s. */
  readonly shutdownGraceMs: number;
  /** Time between failing readiness and closing the port. Default 0. */
  readonly shutdownDelayMs: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Default: says nothing. */
  readonly logger: Logger;
}

const identityDefaults = {
  authorizationConfig: '', enableAdmissionPlugins: [], disableAdmissionPlugins: [],
  authenticationConfig: '', serviceAccountIssuers: ['https://kubernetes.default.svc'], serviceAccountKeyFiles: [], serviceAccountSigningKeyFile: '',
  serviceAccountJwksUri: '', apiAudiences: [], serviceAccountMaxTokenExpirationMs: 0, serviceAccountExtendTokenExpiration: true,
  enableBootstrapTokenAuth: false, requestheaderClientCaFile: '', requestheaderAllowedNames: [], requestheaderUsernameHeaders: ['x-remote-user'],
  requestheaderUidHeaders: ['x-remote-uid'], requestheaderGroupHeaders: ['x-remote-group'], requestheaderExtraHeadersPrefix: ['x-remote-extra-'],
  oidcIssuerUrl: '', oidcClientId: '', oidcCaFile: '', oidcUsernameClaim: 'sub', oidcUsernamePrefix: '', oidcGroupsClaim: '', oidcGroupsPrefix: '',
  oidcSigningAlgs: ['RS256'], oidcRequiredClaims: [], authenticationTokenWebhookConfigFile: '', authenticationTokenWebhookVersion: 'v1beta1',
  authenticationTokenWebhookCacheTtlMs: 120_000, authorizationWebhookConfigFile: '', authorizationWebhookVersion: 'v1beta1',
  authorizationWebhookCacheAuthorizedTtlMs: 300_000, authorizationWebhookCacheUnauthorizedTtlMs: 30_000,
};

const defaults: ServerOptions = {
  securePort: 0, bindAddress: '127.0.0.1', advertiseAddress: '', tls: true, dataDir: '', certDir: '', tlsCertFile: '', tlsPrivateKeyFile: '', clientCaFile: '',
  tokenAuthFile: '', tokens: [], anonymousAuth: true, ...identityDefaults, authorizationMode: ['RBAC'], serviceClusterIpRange: '10.0.0.0/24',
  requestTimeoutMs: 60_000,
  minRequestTimeoutSeconds: 1800, maxRequestsInflight: 400, maxMutatingRequestsInflight: 200, enablePriorityAndFairness: true,
  http2MaxStreamsPerConnection: 250,
  compactionIntervalMs: 300_000, historyMs: 300_000, etcdServers: [], etcdPrefix: '/registry', etcdCaFile: '', etcdCertFile: '', etcdKeyFile: '',
  etcdCompactionIntervalMs: 300_000, storageMediaType: 'application/json', encryptionProviderConfig: '', controllers: ['*'], featureGates: [],
    runtimeConfig: [], shutdownGraceMs: 10_000, shutdownDelayMs: 0,
  clock: systemClock, random: systemRandom, logger: silentLogger,
};

/** Names of the controllers, for `--controllers`. */
const controllerNames = [
  'bootstrap', 'bootstrap-roles', 'clusterrole-aggregation', 'namespace', 'serviceaccount', 'serviceaccount-token', 'root-ca-cert-publisher',
  'garbage-collector', 'kubernetes-service', 'csrsigning', 'extension-apiserver-authentication', 'flow-control', 'apiservices',
] as const;
type ControllerName = (typeof controllerNames)[number];

/** A start that cannot succeed; the message is one line for the operator. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Fills in the defaults, checks everything, freezes. Throws StartError. */
export function resolveOptions(given: Partial<ServerOptions>): ServerOptions {
  const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<ServerOptions>;
  for (const name of Object.keys(chosen)) if (!Object.hasOwn(defaults, name)) throw new StartError(`unknown option ${name}`);
  const options: ServerOptions = { ...defaults, ...chosen };
  for (const [broken, message] of listProblems(options)) if (broken) throw new StartError(message);
  return Object.freeze(options);
}

function listProblems(options: ServerOptions): readonly (readonly [boolean, string])[] {
  const range = parseRange(options.serviceClusterIpRange);
  return [
    [!isWhole(options.securePort, 65_535), `--secure-port must be between 0 and 65535, not ${options.securePort}`],
    [isIP(options.bindAddress) === 0, `--bind-address must be an IP address, not ${JSON.stringify(options.bindAddress)}`],
    [options.advertiseAddress !== '' && isIP(options.advertiseAddress) === 0,
      `--advertise-address must be an IP address, not ${JSON.stringify(options.advertiseAddress)}`],
    [range === undefined, `--service-cluster-ip-range must be a range such as 10.0.0.0/24, not ${JSON.stringify(options.serviceClusterIpRange)}`],
    [range !== undefined && range.prefixLength > range.bytes.length * 8 - 3, '--service-cluster-ip-range must have at least 8 addresses'],
    [(options.tlsCertFile === '') !== (options.tlsPrivateKeyFile === ''), '--tls-cert-file and --tls-private-key-file must be given together'],
    ...listIdentityProblems(options),
    [options.requestTimeoutMs <= 0, '--request-timeout must be greater than 0'],
    [!isWhole(options.maxRequestsInflight), '--max-requests-inflight must not be negative'],
    [!isWhole(options.maxMutatingRequestsInflight), '--max-mutating-requests-inflight must not be negative'],
    [!isWhole(options.http2MaxStreamsPerConnection), '--http2-max-streams-per-connection must not be negative'],
    [!isWhole(options.minRequestTimeoutSeconds), '--min-request-timeout must not be negative'],
    [options.compactionIntervalMs < 0 || options.historyMs < 0, '--compaction-interval and --history must not be negative'],
    [!/^\/?[^/]+(?:\/[^/]+)*\/?$/.test(options.etcdPrefix), `--etcd-prefix must be a path such as /registry, not ${JSON.stringify(options.etcdPrefix)}`],
    [(options.etcdCertFile === '') !== (options.etcdKeyFile === ''), '--etcd-certfile and --etcd-keyfile must be given together'],
    [!/^application\/(?:json|vnd\.kubernetes\.protobuf)$/.test(options.storageMediaType),
      `--storage-media-type: ${JSON.stringify(options.storageMediaType)} is not supported`],
    [options.etcdCompactionIntervalMs < 0, '--etcd-compaction-interval must not be negative'],
    [options.authorizationMode.length === 0, '--authorization-mode must name at least one mode'],
    ...options.authorizationMode.map((mode) =>
      [!authorizationModes.includes(mode), `--authorization-mode: ${JSON.stringify(mode)} is not one of ${authorizationModes.join(', ')}`] as const),
    ...options.controllers.map((name) =>
      [!isController(name), `--controllers: ${JSON.stringify(name)} is not one of *, ${controllerNames.join(', ')}`] as const),
  ];
}

const tenMinutesMs = 600_000;
const yearsMs = 2 ** 32 * 1000;

function listIdentityProblems(options: ServerOptions): readonly (readonly [boolean, string])[] {
  const longest = options.serviceAccountMaxTokenExpirationMs;
  const isIssuer = (issuer: string) => issuer !== '' && (!issuer.includes(':') || URL.canParse(issuer));
  return [
    [options.serviceAccountIssuers.length === 0, '--service-account-issuer must name at least one issuer'],
    [!options.serviceAccountIssuers.every(isIssuer), '--service-account-issuer must be a URL or a word without a colon'],
    [longest !== 0 && (longest < tenMinutesMs || longest > yearsMs), '--service-account-max-token-expiration must be between 10m and 2^32 seconds'],
    [options.oidcIssuerUrl !== '' && !options.oidcIssuerUrl.startsWith('https://'), '--oidc-issuer-url must begin with https://'],
    [(options.oidcIssuerUrl === '') !== (options.oidcClientId === ''), '--oidc-issuer-url and --oidc-client-id must be given together'],
    [options.oidcIssuerUrl !== '' && options.authenticationConfig !== '', '--oidc-issuer-url and --authentication-config cannot be given together'],
    [!options.oidcRequiredClaims.every((one) => one.indexOf('=') > 0), '--oidc-required-claim must be claim=value'],
    [
      options.authorizationConfig !== '' && (options.authorizationMode.join() !== 'RBAC' || options.authorizationWebhookConfigFile !== ''),
      '--authorization-config cannot be given together with --authorization-mode or --authorization-webhook-config-file',
    ],
    [!['v1', 'v1beta1'].includes(options.authorizationWebhookVersion), '--authorization-webhook-version must be v1 or v1beta1'],
    [
      options.authorizationMode.includes('Webhook') && options.authorizationWebhookConfigFile === '',
      '--authorization-mode Webhook needs --authorization-webhook-config-file',
    ],
    [!['v1', 'v1beta1'].includes(options.authenticationTokenWebhookVersion), '--authentication-token-webhook-version must be v1 or v1beta1'],
    [options.requestheaderClientCaFile !== '' && options.requestheaderUsernameHeaders.length === 0, '--requestheader-username-headers must name a header'],
  ];
}

const isWhole = (value: number, max = Number.MAX_SAFE_INTEGER): boolean => Number.isInteger(value) && value >= 0 && value <= max;

const isController = (name: string): boolean => name === '*' || controllerNames.some((known) => known === name.replace(/^-/, ''));

/** Whether `--controllers` selects this one; `-name` wins over `*`. */
export function selectsController(selection: readonly string[], name: ControllerName): boolean {
  return !selection.includes(`-${name}`) && (selection.includes(name) || selection.includes('*'));
}
