// Starts the loops that the API itself promises, all woken by one watch of the namespaces.
import { type Catalog, type ReflectorListener, createSystemClient, startReflector } from '../registry/index.ts';
import { type BuiltInGroup, createApiServices } from './aggregation/api-services.ts';
import type { AggregatedApis } from './aggregation/availability.ts';
import { createBootstrapRoles } from './rbac/bootstrap-roles.ts';
import { type SignRequest, createCertificateSigning } from './certificates/certificate-signing.ts';
import { createClusterRoleAggregation } from './rbac/cluster-role-aggregation.ts';
import type { Controller, ControllerContext } from './context.ts';
import { createFlowControl } from './flow-control/flow-control.ts';
import { createGarbageCollector } from './garbage/collector.ts';
import { type ServiceAddress, createEndpointKeeper, createKubernetesService } from './services/kubernetes-service.ts';
import { createDefaultServiceAccounts, createRootCaPublisher } from './namespaces/contents.ts';
import { createLeaderElection } from './leader-election/leader-election.ts';
import { createNamespaceTermination } from './namespaces/termination.ts';
import { type ServerIdentity, createIdentityLease } from './identity-lease.ts';
import { createPriorityClasses } from './priority-classes.ts';
import { createPolicyStatus } from './policies/policy-status.ts';
import { type QuotaParts, createResourceQuotas } from './quota/resource-quota.ts';
import { createProtection, protectionNames } from './volumes/protection.ts';
import { createDefaultServiceCidr } from './services/default-service-cidr.ts';
import { type ServiceClaims, createServiceClaims } from './services/service-claims.ts';
import { authenticationMap, createSystemConfigMaps, tokenTrackingMap } from './namespaces/system-config-maps.ts';
import { createSystemNamespaces } from './namespaces/system-namespaces.ts';
import { type SignSecretToken, createTokenSecrets } from './service-accounts/token-secrets.ts';
import { type NoteTokenUse, createTokenUse } from './service-accounts/token-use.ts';

/** Names that select controllers. */
type ControllerName = 'bootstrap' | 'bootstrap-roles' | 'clusterrole-aggregation' | 'namespace' | 'serviceaccount' | 'leader-election' | 'serviceaccount-token'
  | 'root-ca-cert-publisher' | 'garbage-collector' | 'kubernetes-service' | 'csrsigning' | 'extension-apiserver-authentication' | 'flow-control'
  | 'apiservices' | 'apiserver-identity' | 'resourcequota' | 'validatingadmissionpolicy-status' | 'pvc-protection' | 'pv-protection' | 'vac-protection';

/** What the controllers need beside the registry. */
interface ControllersOptions extends ControllerContext {
  readonly selects: (name: ControllerName) => boolean;
  /** Signs the tokens of token Secrets. */
  readonly signSecretToken: SignSecretToken;
  /** Signs requests for client certificates; without it they stay unsigned. */
  readonly signRequest?: SignRequest;
  /** Data that the ConfigMap extension-apiserver-authentication is to have at the moment, given those that it has. */
  readonly authenticationData: (present: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** PEM of the authority that signs the serving certificate; '' when there is none. */
  readonly authority: string;
  /** Other servers may be at work on the same store, with authorities of their own. */
  readonly sharesStore?: boolean;
  /** Shown by a Lease; absent where no other server can be. */
  readonly identity?: ServerIdentity;
  readonly service: ServiceAddress;
  /** The resources that are served. */
  readonly served: Catalog;
  /** The built-in groups and their places. */
  readonly groups: readonly BuiltInGroup[];
  /** The servers behind APIServices. */
  readonly aggregated: AggregatedApis;
  /** What admission has charged quotas for, and how objects are counted. */
  readonly quotas: QuotaParts;
  /** The claims of Services; without them claims are not repaired. */
  readonly serviceClaims?: ServiceClaims;
}

/** The running controllers. */
export interface Controllers {
  /** Resolves when the system namespaces and the `kubernetes` Service exist. */
  readonly ready: Promise<void>;
  /** Resolves when the bootstrap roles and their bindings exist; at once when they are not asked for. */
  readonly rolesReady: Promise<void>;
  /** Resolves when the APIServices are known that lead to other servers; at once where they are not followed. */
  readonly routesReady: Promise<void>;
  /** Records the use of a token from a Secret. */
  readonly noteTokenUse: NoteTokenUse;
  /** What `authenticationData` says has changed. */
  readonly noteAuthentication: () => void;
  /** Resolves when work under way is over. */
  stop(): Promise<void>;
}

/** Starts what is selected; returns at once. */
export function startControllers(options: ControllersOptions): Controllers {
  const { selects } = options;
  const bootstrap = selects('bootstrap') ? createSystemNamespaces(options) : undefined;
  const service = selects('kubernetes-service') ? createKubernetesService(options, options.service) : undefined;
  const roles = selects('bootstrap-roles') ? createBootstrapRoles(options, bootstrap?.ready() ?? Promise.resolve()) : undefined;
  const loops: readonly (Controller | undefined)[] = [roles, selects('clusterrole-aggregation') ? createClusterRoleAggregation(options) : undefined];
  const priorities = selects('bootstrap') ? createPriorityClasses(options) : undefined;
  const serviceClaims = selects('kubernetes-service') ? options.serviceClaims : undefined;
  const claims = serviceClaims && createServiceClaims(options, serviceClaims);
  const serviceCidr = serviceClaims && createDefaultServiceCidr(options, serviceClaims.ranges);
  const tokens = selects('serviceaccount-token') ? createTokenSecrets(options, { sign: options.signSecretToken, authority: options.authority }) : undefined;
  const signing = selects('csrsigning') && options.signRequest !== undefined ? createCertificateSigning(options, options.signRequest) : undefined;
  const maps = createSystemConfigMaps(options, [
    ...(selects('extension-apiserver-authentication') ? [authenticationMap(options.authenticationData)] : []),
    ...(selects('bootstrap') ? [tokenTrackingMap(() => options.clock.now())] : []),
  ]);
  const started = [
    bootstrap,
    service,
    selects('namespace') ? createNamespaceTermination(options, options.aggregated) : undefined,
    selects('serviceaccount') ? createDefaultServiceAccounts(options) : undefined,
    selects('root-ca-cert-publisher') ? createRootCaPublisher(options, options) : undefined,
    maps,
  ].filter((one) => one !== undefined);
  const listeners: ReflectorListener[] = started.map((one) => one.onNamespace);
  const reflector = startReflector({
    registry: options.registry, clock: options.clock,
    onChange(type, object, revision) {
      for (const listener of listeners) listener(type, object, revision);
    },
    target: createSystemClient(options, ['', 'v1', 'namespaces'], '').target(''),
    onError: (error) => options.report('namespaces', '', error),
  });
  const needed = [bootstrap, service, claims, serviceCidr, priorities].map((one) => one?.ready());
  const ready = Promise.all([...needed, reflector.synced]).then(() => undefined);
  const garbage = selects('garbage-collector') ? createGarbageCollector(options, ready) : undefined;
  const late = startLate(options, Promise.all([ready, roles?.ready()]));
  return {
    ready,
    rolesReady: roles?.ready() ?? Promise.resolve(),
    routesReady: late.routesReady,
    noteTokenUse: createTokenUse(options),
    noteAuthentication: maps.refresh,
    async stop() {
      reflector.stop();
      await Promise.all([garbage, ...started, ...loops, tokens, signing, priorities, claims, serviceCidr, late].map((one) => one?.stop()));
    },
  };
}

/** Loops that no start waits for: they begin when the urgent ones have done their work. */
function startLate(options: ControllersOptions, urgent: Promise<unknown>): Pick<Controller, 'stop'> & Pick<Controllers, 'routesReady'> {
  let stopped = false;
  let loops: readonly (Controller | undefined)[] = [];
  const routesReady = urgent.then(() => {
    if (stopped) return undefined;
    const { selects, service } = options;
    const hasPlace = selects('kubernetes-service') && service.hasEndpoints && service.address !== '';
    const keeper = hasPlace ? createEndpointKeeper(options, service) : undefined;
    const { served, groups: builtIn, aggregated } = options;
    const apiServices = selects('apiservices') ? createApiServices(options, { served, builtIn, aggregated }) : undefined;
    loops = [
      selects('flow-control') ? createFlowControl(options) : undefined,
      selects('resourcequota') ? createResourceQuotas(options, options.quotas) : undefined,
      selects('validatingadmissionpolicy-status') ? createPolicyStatus(options) : undefined,
      ...protectionNames.filter(selects).map((name) => createProtection(options, name)),
      selects('apiserver-identity') && options.identity !== undefined ? createIdentityLease(options, options.identity, keeper) : undefined,
      apiServices,
      selects('leader-election') ? createLeaderElection(options) : undefined,
    ];
    return apiServices?.ready();
  });
  return {
    routesReady,
    async stop() {
      stopped = true;
      await Promise.all(loops.map((loop) => loop?.stop()));
    },
  };
}
