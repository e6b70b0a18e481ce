// One server, from options to an open port and back: certificates, store, API, filters, port, controllers, in that order; stopped in reverse.
import { isIPv6 } from 'node:net';
import { createImpersonator } from '../auth/index.ts';
import { type Audit, createAudit } from './audit/audit.ts';
import { readEgress } from './config-files/egress-config.ts';
import { type Controllers, startControllers } from '../controllers/index.ts';
import { holdProcess, once } from '../base/index.ts';
import type { Handler } from '../endpoints/index.ts';
import type { StorageHealth, Store } from '../storage/index.ts';
import { firstAddress } from './tls/addresses.ts';
import { type Authentication, composeAuthentication, describeForAggregated, findBoundObjectWith } from './authentication.ts';
import { readAuthorizationPlan } from './webhooks/access-webhook.ts';
import { readAdmissionPlan } from './webhooks/webhooks.ts';
import { type Api, composeApi } from './compose.ts';
import { type DataDirectory, useDataDirectory } from './data-directory.ts';
import { createConsole } from './console/console.ts';
import { readConsoleClient } from './console/oidc-client.ts';
import { readMetricLabels } from './config-files/metric-labels.ts';
import { readAllowedOrigins } from './filters/browsers.ts';
import { createFilterChain } from './filters/filters.ts';
import { FlowControl } from './flow-control/flow-control.ts';
import { reflectFlowControl } from './flow-control/reflect.ts';
import { measureCalls } from './metrics/call-metrics.ts';
import { listHealthPaths } from './observability/health.ts';
import { formatKubeconfig } from './cli/kubeconfig.ts';
import { describeListenError } from './listen-error.ts';
import { type Listener, createListener } from './http/listener.ts';
import { logRetry } from './observability/log-retry.ts';
import { describeError } from './observability/logger.ts';
import { type WorkerPool, createWorkerPool } from './worker/worker-pool.ts';
import { measureStore, observeQueues } from './metrics/loop-metrics.ts';
import { type ServerMetrics, createMetrics } from './metrics/metrics.ts';
import { countHandshakeErrors } from './metrics/certificate-metrics.ts';
import { countDeprecated, renderMetrics, showServed } from './metrics/process-metrics.ts';
import { isGateOn, listIgnoredGates } from './options/feature-gates.ts';
import { type ServerOptions, describeOptions, resolveOptions, selectsController } from './options/options.ts';
import { type Pki, isOurs, preparePki } from './tls/pki.ts';
import { createRequestSigner } from './tls/request-signer.ts';
import { listMissingCurves } from './tls/tls-options.ts';
import { type ServingIdentity, followIdentity } from './tls/serving-identity.ts';
import { uniteAuthentication } from './tls/united-authentication.ts';
import { createStorageHealth, findRoot, isShared, listEtcdSizes, openStore } from './open-store.ts';
import type { EncryptionMetrics } from './encryption/encryption-metrics.ts';
import { type FollowedFormat, readStorageFormat } from './encryption/storage-format.ts';
import { createSystemClient } from '../registry/index.ts';
import { groupPriorities } from '../resources/index.ts';
import { type Tracing, createTracing } from './tracing/tracing.ts';
import { listStoreParts } from './store-parts.ts';
import { createRootHandler, listChecks } from './root-handler.ts';
import type { OwnerOfStore, Seams } from './local/seams.ts';
import { type RunningParts, stopParts, stopServer } from './shutdown.ts';
import { startOnCall } from './local/controllers-on-call.ts';
import { countAccessReloads } from './metrics/reload-metrics.ts';
import { identifyServer, nameServer } from './server-identity.ts';
import { createOpenIdHandler, DISCOVERY_PATH, KEYS_PATH } from './openid.ts';

/** A server that answers. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** The administrator's kubeconfig, as text. */
  readonly kubeconfig: string;
  /** Where it was written; '' when nothing is. */
  readonly kubeconfigPath: string;
  /** Resolves when the system namespaces and the `kubernetes` Service exist. */
  readonly ready: Promise<void>;
  /** Stops gracefully: readiness fails, watches end, requests finish, the store closes. Idempotent. */
  close(): Promise<void>;
}

/** What a start makes. */
interface Parts {
  readonly options: ServerOptions;
  readonly seams: Seams;
  readonly directory: DataDirectory;
  readonly pki: Pki | undefined;
  readonly adminToken: string | undefined;
  readonly store: Store;
  readonly health: StorageHealth;
  readonly format: FollowedFormat;
  readonly metrics: ServerMetrics;
  readonly api: Api;
  readonly workers: WorkerPool;
  readonly authentication: Authentication;
  readonly listener: Listener;
  /** The certificates of the port; absent without TLS. */
  readonly identity: ServingIdentity | undefined;
  readonly state: ServerState;
  /** Audit, unless it is off. */
  readonly audit: Audit | undefined;
  readonly tracing: Tracing | undefined;
  /** Priority and fairness, unless it is off. */
  readonly flowControl: FlowControl | undefined;
}

/** The part of it that needs no store. */
type Made = Pick<Parts, 'seams' | 'directory' | 'pki' | 'health'>;

/** What runs so far, so that a start that fails leaves nothing running. */
type Started = { -readonly [Name in keyof RunningParts]?: RunningParts[Name] };

interface ServerState {
  stopping: boolean;
  initialized: boolean;
  hasAllRoutes: boolean;
  sendsAway: boolean;
  address: string;
  closed: Promise<void> | undefined;
  noteTokenUse?: Controllers['noteTokenUse'];
  /** Comes when the bootstrap roles are there: RBAC decides from then on. */
  readonly rolesReady: Signal;
}

interface Signal {
  readonly promise: Promise<void>;
  readonly send: () => void;
}

function createSignal(): Signal {
  let send = (): void => {};
  const promise = new Promise<void>((resolve) => {
    send = resolve;
  });
  return { promise, send };
}

/** Starts a server; rejects with StartError when it cannot. */
export async function startServer(given: Partial<ServerOptions>, seams: Seams = {}): Promise<RunningServer> {
  const options = resolveOptions(given);
  const ignored = listIgnoredGates(options.featureGates);
  if (ignored.length > 0) options.logger.warn('feature gates that cannot be switched here are ignored', { gates: ignored.join() });
  const directory = useDataDirectory(options);
  // The database library loads while the keys are made.
  const health = seams.health ?? createStorageHealth(options);
  const opening = seams.store === undefined ? openStore(options, directory, health) : Promise.resolve(seams.store);
  // Reported where it is awaited; a failure of the keys may come first.
  opening.catch(() => {});
  const release = holdProcess();
  try {
    const pki = options.tls ? seams.pki ?? prepareCertificates(options, directory) : undefined;
    return await openOver(await opening, options, { seams, directory, pki, health });
  } finally {
    release();
  }
}

async function openOver(store: Store, options: ServerOptions, made: Made): Promise<RunningServer> {
  const started: Started = { store };
  try {
    return await openServer(await assemble(options, { ...made, store }, started), started);
  } catch (error) {
    // Parts that do not stop are logged; the caller gets the first error, which says why the start failed.
    await stopParts(options, started).catch(() => {});
    throw error;
  }
}

function prepareCertificates(options: ServerOptions, directory: DataDirectory): Pki {
  const { clock, random, bindAddress, advertiseAddress, serviceClusterIpRange } = options;
  const needsRsa = options.tlsCipherSuites.some((name) => name.startsWith('TLS_RSA_'));
  return preparePki({
    clock, random, directory: directory.certificates, addresses: [bindAddress, advertiseAddress], serviceRange: serviceClusterIpRange, needsRsa,
  });
}

async function assemble(given: ServerOptions, made: Made & Pick<Parts, 'store'>, started: Started): Promise<Parts> {
  const { random, clock, logger } = given;
  const { pki, seams } = made;
  const metrics = createMetrics(showServed(() => api));
  const options = { ...given, egress: { ...await readEgress(given), measure: measureCalls(metrics.registry, clock) } };
  const store = measureStore(made.store, { registry: metrics.registry, clock, root: findRoot(options) });
  // Plain HTTP knows no client certificates: its administrator has a token that lives as long as the server.
  const adminToken = pki === undefined ? Buffer.from(random.bytes(32)).toString('base64url') : undefined;
  const state: ServerState = {
    stopping: false, initialized: false, hasAllRoutes: false, sendsAway: false, address: '', closed: undefined, rolesReady: createSignal(),
  };
  const authentication = started.authentication = await composeAuthentication({
    options, seams, directory: made.directory, pki, adminToken, find: findBoundObjectWith(() => api), onLegacyUse: (secret) => state.noteTokenUse?.(secret),
    registry: metrics.registry, observeReloads: () => countAccessReloads(metrics.registry, clock, 'authentication'),
  });
  const flowControl = createFlowControl(options);
  const format = started.format = await readStorageFormat(options, () => measureEncryption(options, metrics));
  const storeParts = listStoreParts(options, findRoot(options));
  const checks = listChecks(state, { ...made, storeParts, options, flowControl, more: format.checks });
  const otherPaths = [...listHealthPaths(checks), '/metrics', '/metrics/slis', '/flagz', '/statusz', DISCOVERY_PATH, KEYS_PATH];
  const workers = started.workers = createWorkerPool({
    clock, store, data: describeOptions(given), report: (error) => logger.warn('a worker ended', describeError(error)),
  });
  const tracing = started.tracing = await createTracing(options, nameServer());
  const readable = format.openStore(store);
  const api: Api = started.api = composeApi({
    options, store: tracing?.traceStore(readable) ?? readable,
    metrics, workers, authentication, rolesReady: state.rolesReady.promise,
    plan: await readAuthorizationPlan(options, () => countAccessReloads(metrics.registry, clock, 'authorization')), format,
    admissionPlan: { ...await readAdmissionPlan(options), beforeCall: seams.beforeWebhook },
    serverAddress: () => state.address, otherPaths, ownsStore: seams.owner === undefined,
  });
  const audit = started.audit = await createAudit(options, seams.owner ?? (seams.sharesAuditLog === true ? {} : undefined));
  const allowed = await readMetricLabels(options);
  const renderOwn = (): Promise<string> => renderMetrics(api, {
    metrics, flowControl, audit, storeDirectory: isShared(options) ? '' : made.directory.store, featureGates: options.featureGates,
    readRemoteSizes: listEtcdSizes(options, storeParts), disabled: new Set(options.disabledMetrics), allowed,
  });
  const chain = createFilterChain({
    ...seams, clock, logger, metrics, noteRequest: countDeprecated(() => api, metrics),
    authenticate: authentication.authenticate, authorize: api.authorization.authorize,
    impersonate: createImpersonator(api.authorization.authorize), catalog: api.catalog,
    requestTimeoutMs: options.requestTimeoutMs, maxReadsInFlight: options.maxRequestsInflight, maxMutationsInFlight: options.maxMutatingRequestsInflight,
    console: options.console
      ? createConsole({ ...options, ...authentication, isSecure: options.tls, oidc: readConsoleClient(options, authentication) }) : undefined,
    ...(flowControl !== undefined && { flowControl }), audit, tracing, lifecycle: state, allowsOrigin: await readAllowedOrigins(options),
    respondError: api.respondError, random, goawayChance: options.goawayChance, strictTransportSecurity: options.strictTransportSecurityDirectives,
    handler: createRootHandler({ ...api, handler: tracing?.traceHandler(api.handler) ?? api.handler }, {
      options, checks, flowControl, featureGates: options.featureGates, audit: seams.owner === undefined ? audit : undefined,
      renderMetrics: seams.owner === undefined ? renderOwn : () => renderOwn().then((text) => (seams.owner as OwnerOfStore).joinMetrics(text)),
      openId: createOpenIdHandler({ ...authentication, keysUrl: () => keysUrl(options, state) }),
    }),
  });
  seams.expose?.({
    api, handler: chain as Handler, store: made.store, renderMetrics: renderOwn, noteTokenUse: (secret) => state.noteTokenUse?.(secret),
    rotateAudit: (bytes) => audit?.rotateFor(bytes),
  });
  const { authorities } = authentication;
  const missing = listMissingCurves(options.tlsCurvePreferences);
  if (missing.length > 0) logger.warn('key exchanges are not offered: they need OpenSSL 3.5', { curves: missing });
  const identity = started.identity = pki === undefined ? undefined : followIdentity({ options, pki, directory: made.directory.certificates, authorities });
  const listener = started.listener = createListener({
    clock, random: seams.transportRandom ?? random, logger, ...(identity !== undefined && { tls: identity.current }),
    maxStreamsPerConnection: options.http2MaxStreamsPerConnection,
    handler: chain as Handler, beforeAnswer: audit && (() => audit.flush()),
    countHandshakeError: countHandshakeErrors(metrics.registry),
  });
  identity?.onChange(() => listener.useIdentity(identity.current));
  return { ...made, options: given, metrics, identity, format, adminToken, api, workers, authentication, listener, state, audit, tracing, flowControl };
}

/** Nothing to divide: nothing is limited. */
function createFlowControl({ clock, requestTimeoutMs, enablePriorityAndFairness, maxRequestsInflight, maxMutatingRequestsInflight }: ServerOptions) {
  const seats = maxRequestsInflight + maxMutatingRequestsInflight;
  return enablePriorityAndFairness && seats > 0 ? new FlowControl({ clock, seats, requestTimeoutMs }) : undefined;
}

/** Where others find the public keys of service account tokens. */
function keysUrl({ serviceAccountJwksUri, externalHostname }: ServerOptions, { address }: ServerState): string {
  if (serviceAccountJwksUri !== '') return serviceAccountJwksUri;
  const host = externalHostname === '' ? address : `${externalHostname}:${address.slice(address.lastIndexOf(':') + 1)}`;
  return `https://${host}${KEYS_PATH}`;
}

async function openServer(parts: Parts, started: Started): Promise<RunningServer> {
  const { options, state, pki, identity, adminToken, directory } = parts;
  // Custom kinds are served, webhooks are called and policies evaluated, before the first request comes.
  await Promise.all([parts.api.definitions.start(), parts.api.webhooks.start(), parts.api.policies.start()]);
  await parts.api.quotas.start();
  const following = started.following = followFlow(parts);
  state.hasAllRoutes = !(await hasRemoteApis(parts.api));
  const port = await openPort(parts);
  const wildcard = options.bindAddress === '0.0.0.0' || options.bindAddress === '::';
  const host = wildcard ? '127.0.0.1' : options.bindAddress;
  state.address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const url = `${pki === undefined ? 'http' : 'https'}://${state.address}`;
  // Its key takes as long as a good part of a start in memory, where it may not be asked for.
  const kubeconfig = once(() => formatKubeconfig({
    url, admin: pki?.admin, ...(adminToken !== undefined && { token: adminToken }),
    authority: pki === undefined || identity === undefined || isOurs(identity.current) ? pki?.authority.certificate : identity.current.certificate,
  }));
  const { woken, advertisedPort = port } = parts.seams;
  const start = (): Controllers => startAll(parts, advertisedPort);
  const controllers = woken === undefined ? start() : startOnCall(woken, start);
  state.noteTokenUse = parts.seams.owner?.noteTokenUse ?? controllers.noteTokenUse;
  parts.authentication.authorities.onChange(controllers.noteAuthentication);
  void controllers.rolesReady.then(state.rolesReady.send);
  const routesReady = controllers.routesReady.then(() => {
    state.hasAllRoutes = true;
  });
  const ready = Promise.all([controllers.ready, controllers.rolesReady, routesReady]).then(() => {
    state.initialized = true;
  });
  options.logger.info(1, 'serving', { url });
  return {
    url, port, ready,
    get kubeconfig() {
      return kubeconfig();
    },
    kubeconfigPath: parts.seams.owner === undefined ? directory.writeKubeconfig(kubeconfig) : '',
    close: () => (state.closed ??= stopServer(options, {
      markStopping() {
        state.stopping = true;
      },
      sendAway() {
        state.sendsAway = true;
      },
      ...parts, controllers, following,
    })),
  };
}

function followFlow({ api, options, flowControl }: Parts): { stop(): void } | undefined {
  return flowControl === undefined ? undefined : reflectFlowControl(flowControl, {
    ...api, clock: options.clock, onError: (error) => logRetry(options.logger, 'flow control will try again', { error }),
  });
}

/** Whether other servers answer for some of the API: which paths they have is found out behind the start. */
async function hasRemoteApis(api: Api): Promise<boolean> {
  const services = await createSystemClient(api, ['apiregistration.k8s.io', 'v1', 'apiservices'], '').list('');
  return services.some((service) => (service['spec'] as { readonly service?: unknown } | undefined)?.service !== undefined);
}

async function openPort({ listener, options, seams }: Parts): Promise<number> {
  try {
    return seams.openPort !== undefined ? await seams.openPort(listener) : await listener.listen(options.securePort, options.bindAddress);
  } catch (error) {
    throw describeListenError(error, `${options.bindAddress}:${options.securePort}`);
  }
}

async function measureEncryption({ clock }: ServerOptions, { registry }: ServerMetrics): Promise<EncryptionMetrics> {
  const { createEncryptionMetrics } = await import('./encryption/encryption-metrics.ts');
  return createEncryptionMetrics({ registry, clock });
}

function startAll({ api, authentication, options, pki, seams, metrics }: Parts, port: number): Controllers {
  const advertised = options.advertiseAddress === '' ? options.bindAddress : options.advertiseAddress;
  const reachable = !/^(?:127\.|::1$|0\.0\.0\.0$|::$)/.test(advertised);
  return startControllers({
    registry: api.registry, catalog: api.catalog, clock: options.clock,
    isGateOn: (gate) => isGateOn(options.featureGates, gate), observeQueue: observeQueues(metrics.registry, options.clock),
    // A complete state has had its roles made: they are made at a start only.
    // Another process that owns the store writes for all; the APIs of other servers are followed by each process that leads to them.
    selects: (name) => selectsController(options.controllers, name) && (seams.woken === undefined || name !== 'bootstrap-roles')
      && (seams.owner === undefined || name === 'apiservices')
      // Tokens of Secrets live for ever: a program that signs for a time has none, as kube-controller-manager without a key.
      && (name !== 'serviceaccount-token' || options.serviceAccountSigningEndpoint === ''),
    authority: pki?.authority.certificate ?? '', sharesStore: isShared(options), ...(isShared(options) && { identity: identifyServer(options, port) }),
    signSecretToken: authentication.signSecretToken,
    authenticationData: (present) => uniteAuthentication(present, describeForAggregated(options, authentication), options.clock.now()),
    ...(pki !== undefined && { signRequest: createRequestSigner(pki.authority, options) }),
    served: api.served, groups: groupPriorities, aggregated: api.aggregator,
    quotas: api.quotaParts,
    serviceClaims: { ...api.serviceClaims, ranges: options.serviceClusterIpRange.split(',') },
    service: {
      clusterIp: firstAddress(options.serviceClusterIpRange), address: reachable ? advertised : '', port,
      hasEndpoints: options.endpointReconcilerType !== 'none', isShared: isShared(options),
    },
    report: (controller, key, error) => logRetry(options.logger, 'a controller will try again', { error, fields: { controller, key } }),
  });
}
