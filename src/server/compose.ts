// Where the rooms meet: store, catalog, registry, admission and endpoints become one handler. No other file knows them all.
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import {
  type AdmissionPlugin, type AdmissionPolicies, type DeviceReads, type EvaluateElsewhere, type EvaluatorOf, type PortRange, type ReadsOf,
  type ReflectedQuotaStore, type ServiceAllocationOptions, QuotaLedger,
  createAddressClaims, createAdmissionChain, createAdmissionPolicies, createCertificateAdmission, createDefaultPlugins, createDeviceClaims,
  createInProcessPlugin, createNamespaceAutoProvision, createNamespaceLifecycle, createNodeRestriction, createOwnerReferences,
  createEvaluators, createPodCertificateSigning, createPortClaims, createQuotaStore,
  createRbacEscalation, createReads, createResourceQuota, createServiceAccountAdmission, createServiceAllocation, createStaticNames,
  STATIC_OBJECTS_GATE, findNamespaceWith, followNothing, isSelected, listReadyRanges, orderPlugins, parsePortRange,
} from '../admission/index.ts';
import { parseIpRange } from '../apimachinery/index.ts';
import { type Clock, invariant } from '../base/index.ts';
import { parseYaml } from '../codec/index.ts';
import { type Definitions, type ValidateRequest, createDefinitionStrategy, createDefinitions } from '../crd/index.ts';
import { type Handler, type Response, createEndpoints, respondError } from '../endpoints/index.ts';
import {
  type Admission, type Catalog, type ObjectKey, type OwnedRegistry, type Registry, type Resource, type StorageFormat, createCatalog, createRegistry,
  createSystemClient, findCurrent, findKnown, hideVersions, trackUpdate, withComputedReads,
} from '../registry/index.ts';
import {
  STRICT_GATE, formatHumanDuration, groupPriorities, withGates, withPrimaryFamily, withSignatures, withoutPrivileged,
} from '../resources/index.ts';
import type { Store } from '../storage/index.ts';
import type { AuthorizationPlan } from './config-files/authorization-config.ts';
import {
  type Authorization, askAccessWith, composeAuthorization, createAudienceQuestion, createClaimQuestion, createEscalationQuestions, createOwnerQuestion,
  createSignerQuestion, findRefusalWith, requireAccessWith,
} from './authorization.ts';
import type { Authentication } from './authentication.ts';
import type { ServerExchange } from './http/exchange.ts';
import { observeCaches } from './metrics/cache-metrics.ts';
import { countCertificates } from './metrics/certificate-metrics.ts';
import { logRetry } from './observability/log-retry.ts';
import { findNodeName } from '../auth/index.ts';
import { isGateOn } from './options/feature-gates.ts';
import type { ServerOptions } from './options/options.ts';
import { type ServedRows, chooseServed } from './options/runtime-config.ts';
import { createComponentStatuses } from './component-statuses.ts';
import type { Routed } from './webhooks/egress.ts';
import { signatures } from './tls/verify-signature.ts';
import { convertInProcess } from './webhooks/in-process-conversion.ts';
import { builtIn } from './built-in.ts';
import { findRoot } from './open-store.ts';
import { listStoreParts } from './store-parts.ts';
import { type Aggregator, createAggregator } from './proxy/aggregator.ts';
import { type NetworkBackends, createBackends } from './proxy/backends.ts';
import { handleInWorkers } from './worker/large-requests.ts';
import { type WorkerPool, parseYamlWith } from './worker/worker-pool.ts';
import { type ConnectionsDependencies, createConnections, createPodBinding, createPodEviction, createReviews } from '../subresources/index.ts';
import { kubernetesVersion } from './cli/version.ts';
import { type AdmissionPlan, type Webhooks, createWebhooks } from './webhooks/webhooks.ts';
import type { ServerMetrics } from './metrics/metrics.ts';
import { type CountedAdmission, createAdmissionMetrics } from './metrics/admission-metrics.ts';

/** The API behind the filters. */
export interface Api {
  readonly registry: OwnedRegistry;
  readonly catalog: Catalog;
  /** The part of the catalog that is served. */
  readonly served: Catalog;
  /** Custom kinds: served from `start` on. */
  readonly definitions: Definitions;
  /** Admission webhooks: called from `start` on. */
  readonly webhooks: Webhooks;
  /** Admission policies: evaluated from `start` on. */
  readonly policies: AdmissionPolicies;
  readonly admissionMetrics: CountedAdmission;
  /** The servers behind APIServices. */
  readonly aggregator: Aggregator;
  /** The connections to kubelets, pods and services. */
  readonly backends: NetworkBackends;
  readonly authorization: Authorization;
  /** What Services hold. */
  readonly serviceClaims: Pick<ServiceAllocationOptions, 'addresses' | 'ports'>;
  /** The quotas of all namespaces: nothing is charged before `start`. */
  readonly quotas: ReflectedQuotaStore;
  /** What charging and counting share. */
  readonly quotaParts: { readonly ledger: QuotaLedger; readonly evaluatorOf: EvaluatorOf };
  readonly handler: Handler;
  readonly respondError: (exchange: ServerExchange, error: unknown) => Response;
}

interface ApiOptions {
  readonly options: ServerOptions & Routed;
  readonly store: Store;
  /** What reviews and token requests ask; absent in a worker, which answers none. */
  readonly authentication: Authentication | undefined;
  /** Resolves when the bootstrap roles are there. */
  readonly rolesReady: Promise<void>;
  /** The authorization modes. */
  readonly plan: AuthorizationPlan;
  /** How values lie in the store. */
  readonly format: StorageFormat;
  /** host:port that discovery names; known once the port is open. */
  readonly serverAddress: () => string;
  /** Paths outside the API that `/` lists. */
  readonly otherPaths: readonly string[];
  /** What the configuration file of admission says. */
  readonly admissionPlan: AdmissionPlan;
  /** Absent in a worker. */
  readonly metrics?: ServerMetrics;
  /** Absent in a worker, which does everything itself. */
  readonly workers?: WorkerPool | undefined;
  /** Whether this is the API of a worker, see worker/replica.ts. */
  readonly replica?: boolean;
  /** False: another process of the server owns the store, and changes come here a moment after they are committed (processes/). */
  readonly ownsStore?: boolean;
}

const gzipAsync = promisify(gzip);
const gzipOptions = { level: constants.Z_BEST_SPEED, chunkSize: 2 ** 16 };
/** The reader of the compressed stream gets its errors. */
const ignoreEnd = (): void => undefined;
const hash = (algorithm: string) => (bytes: Uint8Array) => createHash(algorithm).update(bytes).digest();

function withDefinitionStrategy(resource: Resource, clock: Clock): Resource {
  if (resource.kind !== 'CustomResourceDefinition') return resource;
  const objectMeta = resource.versions.find(({ name }) => name === 'v1')?.schema?.fields?.get('metadata')?.schema;
  return { ...resource, answersFromCache: true, strategy: createDefinitionStrategy(resource.strategy, { clock, objectMeta }) };
}

/** A row as the options want it: Events are the only objects that pass with time. */
function withOptions(resource: Resource, { clock, eventTtlMs, allowPrivileged, featureGates, serviceClusterIpRange }: ServerOptions): Resource {
  const own = withSignatures(withDefinitionStrategy(withGates(resource, (gate) => isGateOn(featureGates, gate)), clock), signatures);
  const [firstRange = ''] = serviceClusterIpRange.split(',');
  const row = withPrimaryFamily(allowPrivileged ? own : withoutPrivileged(own), parseIpRange(firstRange)?.family ?? 'IPv4');
  return row.ttlSeconds === undefined ? row : { ...row, ttlSeconds: eventTtlMs / 1000 };
}

/** The rows that the options ask for. */
function serveRows(rows: readonly Resource[], options: ServerOptions, replica: boolean): ServedRows {
  const { featureGates, logger, runtimeConfig } = options;
  return chooseServed(rows.map((row) => withOptions(row, options)), {
    runtimeConfig, isGateOn: (gate) => isGateOn(featureGates, gate),
    onGated: ({ plural, gate }) => replica || logger.warn('a resource is not served because its feature gate is off', { resource: plural, gate }),
  });
}

/** Waits until all that is committed has come to this process; absent where it owns the store. */
const settleOf = ({ ownsStore = true, store }: ApiOptions): (() => Promise<unknown>) | undefined => (ownsStore ? undefined : () => store.revision());

/** Requests are routed by the definitions that are committed. `settle` resolves when all that was committed before has come here. */
function routeCurrent(definitions: Definitions, catalog: Catalog, { endpoints, settle }: {
  readonly endpoints: Handler; readonly settle: (() => Promise<unknown>) | undefined;
}): Handler {
  return (exchange) => {
    definitions.catchUp();
    const { isResource, group, version, resource } = exchange.info;
    if (settle === undefined || !isResource || catalog.find(group, version, resource) !== undefined) return endpoints(exchange);
    return settle().then(() => {
      definitions.catchUp();
      return endpoints(exchange);
    });
  };
}

/** Pods get the zone and the region of their node as labels. */
const TOPOLOGY_GATE = 'PodTopologyLabelsAdmission';

/** Parts of the chain that are no plugins of the reference: no flag turns them off. */
const ownPlugins: ReadonlySet<string> = new Set(['RBACEscalation', 'StaticNames', 'CustomResourceDefinitions']);

/** The plugins that are on, in the reference's order; each run is measured. */
function createChain({ options, metrics }: { readonly options: ServerOptions; readonly metrics: CountedAdmission },
  plugins: readonly AdmissionPlugin[]): Admission {
  const { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled, clock } = options;
  const chosen = plugins.filter(({ name }) => ownPlugins.has(name) || isSelected(name, { enabled, disabled }));
  return createAdmissionChain(orderPlugins(chosen), { clock, metrics });
}

/** What claims of devices are counted by, where classes of devices stand for extended resources. */
function readDevices({ featureGates, clock }: ServerOptions, readsOf: ReadsOf): DeviceReads | undefined {
  if (!isGateOn(featureGates, 'DRAExtendedResource')) return undefined;
  const [classes, claims] = [readsOf('resource.k8s.io', 'deviceclasses'), readsOf('resource.k8s.io', 'resourceclaims')];
  return { classes, claims, pods: readsOf('', 'pods'), clock };
}

/** What workers do for the endpoints; without them all is done here. */
function useWorkers(workers: WorkerPool | undefined, { admission, conversions, clock }: ServerOptions, registry: () => OwnedRegistry,
  metrics: CountedAdmission) {
  if (workers === undefined) return { parseYaml: (bytes: Uint8Array) => parseYaml(bytes) };
  // Functions of the embedding program exist in this thread only.
  const hasFunctions = admission.length > 0 || Object.keys(conversions).length > 0;
  return { parseYaml: parseYamlWith(workers),
    ...(!hasFunctions && { largeRequests: handleInWorkers({ workers, registry, metrics: metrics.registry, clock }) }) };
}

/** Reviews and token requests, which workers do not answer. */
function createOwnReviews({ authentication, options: { clock }, plan: { modes } }: ApiOptions, { authorize, resolvers }: Authorization) {
  return authentication === undefined ? [] : createReviews({ ...authentication, authorize, clock, modes, resolvers });
}

/** A row of a group's v1 that is always served. */
function findRow(catalog: Catalog, group: string, plural: string): Resource {
  const resource = catalog.find(group, 'v1', plural);
  invariant(resource !== undefined, `${plural} are served`);
  return resource;
}

/** Look-ups of namespaces for admission: as the cache has them, or as the store has them at this moment. */
function findNamespaces(catalog: Catalog, registry: () => OwnedRegistry) {
  const target = (name: string) => ({ resource: findRow(catalog, '', 'namespaces'), version: 'v1', namespace: '', name });
  return findNamespaceWith({ known: (name) => findKnown(registry(), target(name)), current: (name) => findCurrent(registry(), target(name)) });
}

/** Removes the Endpoints of a Service that is gone. The Service is gone whatever comes of it. */
async function removeEndpoints(api: { readonly registry: OwnedRegistry; readonly catalog: Catalog }, service: ObjectKey, { logger }: ServerOptions):
Promise<void> {
  try {
    await createSystemClient(api, ['', 'v1', 'endpoints'], 'kube-apiserver').delete(service);
  } catch (error) {
    logger.warn('endpoints of a deleted service could not be removed', { ...service, error: String(error) });
  }
}

/** What Services hold, and what gives it to them. */
function composeServices({ options, store }: Pick<ApiOptions, 'options' | 'store'>, catalog: Catalog, registry: () => OwnedRegistry) {
  const row = (plural: string): Resource => findRow(catalog, 'networking.k8s.io', plural);
  const serviceClaims = {
    addresses: createAddressClaims(registry, () => row('ipaddresses')), ports: createPortClaims(store, findRoot(options)),
  };
  const reserver = createServiceAllocation({
    ...serviceClaims, removeEndpoints: (service) => removeEndpoints({ registry: registry(), catalog }, service, options),
    random: options.random, clock: options.clock, portRange: parsePortRange(options.serviceNodePortRange) as PortRange,
    ranges: options.serviceClusterIpRange.split(',').map(parseIpRange).filter((range) => range !== undefined),
    listRanges: () => listReadyRanges(registry(), row('servicecidrs')), isStrict: isGateOn(options.featureGates, STRICT_GATE),
  });
  return { serviceClaims, reserver };
}

async function createNamespace(api: { readonly registry: OwnedRegistry; readonly catalog: Catalog }, name: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await createSystemClient(api, ['', 'v1', 'namespaces'], 'kube-apiserver').createIfAbsent('', object);
}

type ConfiguredParts = Omit<Parameters<typeof createWebhooks>[0], 'followStatic' | 'metrics' | 'evaluateElsewhere'>;

/** The admission that objects of admissionregistration.k8s.io configure. */
function composeConfigured(parts: ConfiguredParts & { readonly metrics: CountedAdmission },
  workers: WorkerPool | undefined): Pick<Api, 'webhooks' | 'policies'> {
  const evaluateElsewhere: EvaluateElsewhere | undefined = workers && ((task, { user, signal }) =>
    workers.run('evaluatePolicy', task, { user: user.name, signal: signal?.signal }));
  const { options: { clock, logger } } = parts;
  const onError = (error: unknown): void => logRetry(logger, 'admission policies are read again', { error, isWarning: true });
  const followStatic = parts.plan.followManifests?.(parts.catalog, parts.metrics.registry) ?? followNothing;
  return {
    webhooks: createWebhooks({ ...parts, evaluateElsewhere, followStatic }),
    policies: createAdmissionPolicies({ ...parts, clock, evaluateElsewhere, followStatic, onError }),
  };
}

/** The parts of the API that feature gates switch. */
const switchFeatures = ({ featureGates }: ServerOptions) => ({
  allowUnsafeDeletion: isGateOn(featureGates, 'AllowUnsafeMalformedObjectDeletion'), servesCbor: isGateOn(featureGates, 'CBORServingAndStorage'),
  readsShards: isGateOn(featureGates, 'ShardedListAndWatch'), publishesEnums: isGateOn(featureGates, 'OpenAPIEnums'),
});

/** The parts of the registry that options switch. */
const switchReads = (options: ServerOptions) => ({
  limitsAnyState: !options.watchCache, namesUnreadable: switchFeatures(options).allowUnsafeDeletion,
});

/** What gates decide about kubelets. */
function restrictNodes({ featureGates }: ServerOptions, authorization: () => Authorization) {
  return {
    ...(isGateOn(featureGates, 'ServiceAccountNodeAudienceRestriction') && { askAudience: createAudienceQuestion(authorization) }),
    takesAnySubject: isGateOn(featureGates, 'AllowInsecureKubeletCertificateSigningRequests'),
  };
}

/** What default plugins of admission depend on. */
function readDefaults(options: ServerOptions, catalog: Catalog) {
  const { defaultNotReadyTolerationSeconds: notReady, defaultUnreachableTolerationSeconds: unreachable, featureGates } = options;
  return {
    tolerationSeconds: { notReady, unreachable }, ranksGroups: isGateOn(featureGates, 'WorkloadAwarePreemption'),
    labelsTopology: isGateOn(featureGates, TOPOLOGY_GATE),
    servesScheduling: (plural: string) => catalog.findResource('scheduling.k8s.io', plural) !== undefined,
  };
}

/** Creates that are not simply stored. */
function composeSpecial(parts: ApiOptions, authorization: Authorization, reads: Parameters<typeof createPodEviction>[0]) {
  const { featureGates } = parts.options;
  const features = { clearsNominations: isGateOn(featureGates, 'ClearingNominatedNodeNameAfterBinding'), copiesLabels: isGateOn(featureGates, TOPOLOGY_GATE) };
  return new Map([...createOwnReviews(parts, authorization), ...createPodBinding({ ...reads, ...features }), ...createPodEviction(reads)]);
}

/** Logs, streams of containers and proxies. */
function composeConnections(options: ServerOptions, parts: Pick<ConnectionsDependencies, 'registry' | 'catalog' | 'backends' | 'findRefusal'>) {
  return createConnections({
    ...parts, pick: (count) => options.random.below(count), splitsLogStreams: isGateOn(options.featureGates, 'PodLogsQuerySplitStreams'),
    kubelets: { addressTypes: options.kubeletPreferredAddressTypes, defaultPort: options.kubeletPort },
  });
}

/** What the reference checks in its storage. */
function createStorageChecks({ featureGates }: ServerOptions, readsOf: ReadsOf, authorization: () => Authorization): AdmissionPlugin[] {
  return [
    createRbacEscalation(createEscalationQuestions(authorization)), createPodCertificateSigning(createSignerQuestion(authorization)),
    createDeviceClaims({
      namespaces: readsOf('', 'namespaces'), findRefusal: createClaimQuestion(authorization),
      asksStatusRights: isGateOn(featureGates, 'DRAResourceClaimGranularStatusAuthorization'),
    }),
  ];
}

/** All rows, and those that are served. */
function createCatalogs({ rows, isHidden }: ServedRows): Pick<Api, 'catalog' | 'served'> {
  const catalog = createCatalog(rows, groupPriorities);
  return { catalog, served: isHidden === undefined ? catalog : hideVersions(catalog, isHidden) };
}

/** The registry with the componentstatuses, which are asked for and not stored. */
function withComponents(registry: OwnedRegistry, { store, options }: Pick<ApiOptions, 'store' | 'options'>): Registry {
  const parts = listStoreParts(options, findRoot(options)).map(({ prefixes: [key] }) => () => store.revision(key));
  const statuses = createComponentStatuses([() => store.revision(), ...parts]);
  return withComputedReads(registry, ({ kind, group }) => (kind === 'ComponentStatus' && group === '' ? statuses : undefined));
}

/** Makes the API over a Store. */
export function composeApi(parts: ApiOptions): Api {
  const { options, store, rolesReady, plan, format, serverAddress, otherPaths, workers, admissionPlan, replica = false } = parts;
  const [{ clock, random, egress }, { schemas, rows }] = [options, builtIn()];
  const { catalog, served } = createCatalogs(serveRows(rows, options, replica));
  const readsOf = createReads(() => registry, () => catalog, clock);
  const quotaParts = { ledger: new QuotaLedger(clock), evaluatorOf: createEvaluators(readDevices(options, readsOf)) };
  const quotas = createQuotaStore({
    registry: () => registry, catalog: () => catalog, clock,
    onError: (error) => logRetry(options.logger, 'quotas are listed again', { error, isWarning: true }),
  });
  const metrics = createAdmissionMetrics({ notes: replica });
  const { webhooks, policies } = composeConfigured({
    options, registry: () => registry, catalog, schemas, metrics, plan: admissionPlan, askAccess: askAccessWith(() => authorization),
  }, workers);
  const admission = createChain({ options, metrics }, [
    createNamespaceLifecycle(findNamespaces(catalog, () => registry)),
    createServiceAccountAdmission({ findAccount: (namespace, name) => readsOf('', 'serviceaccounts').find(name, namespace), clock, random }),
    createNodeRestriction({ nodeOf: findNodeName, readsOf, ...restrictNodes(options, () => authorization) }),
    ...createCertificateAdmission(createSignerQuestion(() => authorization)),
    ...createDefaultPlugins({ readsOf, clock, metrics, configurations: admissionPlan.plugins ?? {}, ...readDefaults(options, catalog) }),
    createNamespaceAutoProvision(readsOf('', 'namespaces'), (name) => createNamespace({ registry, catalog }, name)),
    ...webhooks.imagePolicy,
    createOwnerReferences(createOwnerQuestion(() => authorization), () => catalog),
    ...options.admission.map(createInProcessPlugin),
    createStaticNames(isGateOn(options.featureGates, STATIC_OBJECTS_GATE)),
    ...createStorageChecks(options, readsOf, () => authorization),
    {
      name: 'CustomResourceDefinitions', handles: ({ resource, operation }) => resource.custom && operation === 'CREATE',
      validate: (attributes) => definitions.guardCreation(attributes),
    },
    policies.mutating,
    webhooks.mutating,
    policies.validating,
    webhooks.validating,
    createResourceQuota({ store: quotas, ...quotaParts, clock, limited: admissionPlan.plugins?.limitedResources }),
  ]);
  const { serviceClaims, reserver } = composeServices(parts, catalog, () => registry);
  const registry: OwnedRegistry = createRegistry({
    reserver, store, format, catalog, clock, random, admission, root: findRoot(options), trackUpdate, historyMs: options.historyMs,
    onUpdated: countCertificates(metrics.registry), observe: parts.metrics && observeCaches(parts.metrics.registry), cacheOnlyReads: replica,
    ...switchReads(options), report: (error) => logRetry(options.logger, 'a cache starts over', { error, isWarning: true }),
  });
  const definitions = createDefinitions({
    registry, catalog, clock, random, schemas, formatAge: formatHumanDuration,
    sendConversion: convertInProcess(options.conversions, webhooks.sendConversion),
    ...(workers !== undefined && { validateInWorker: (request: ValidateRequest) => workers.run('validate', request, { user: request.user ?? '' }) }),
    servesOnly: replica || parts.ownsStore === false,
    report: (definition, error) => logRetry(options.logger, 'a definition will be tried again', { error, fields: { definition } }),
  });
  const authorization = composeAuthorization({ options, registry, catalog, rolesReady, plan, settle: settleOf(parts), metrics: parts.metrics });
  const aggregator = createAggregator(options, { registry: () => registry, catalog: served, dial: egress.cluster });
  const backends = createBackends(options, egress.cluster);
  const endpoints = createEndpoints({
    registry: withComponents(registry, parts), admission, catalog: served, schemas, clock, random, serverAddress, otherPaths,
    versionInfo: kubernetesVersion, remote: aggregator, hashes: { sha256: hash('sha256'), sha512: hash('sha512') },
    ...useWorkers(workers, options, () => registry, metrics),
    gzip: (bytes) => gzipAsync(bytes, gzipOptions),
    gzipStream: (chunks) => pipeline(chunks, createGzip(gzipOptions), ignoreEnd),
    special: composeSpecial(parts, authorization, { registry, catalog, clock }),
    connect: composeConnections(options, { registry, catalog, backends, findRefusal: findRefusalWith(() => authorization) }),
    ...switchFeatures(options),
    requireAccess: requireAccessWith(() => authorization),
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds, ...(parts.metrics !== undefined && { watchCounts: parts.metrics.watchCounts }),
  });
  return {
    registry, catalog, served, definitions, webhooks, policies, admissionMetrics: metrics, aggregator, backends, authorization, serviceClaims,
    quotas, quotaParts, handler: routeCurrent(definitions, catalog, { endpoints, settle: settleOf(parts) }),
    respondError: (exchange, error) => respondError(exchange, error, { schemas }),
  };
}
