// Starts the loops that the API itself promises, all woken by one watch of the namespaces.
import { createBootstrapRoles } from './bootstrap-policy.ts';
import { createClientFor, everything } from './client.ts';
import { createClusterRoleAggregation } from './cluster-role-aggregation.ts';
import type { Controller, ControllerContext } from './context.ts';
import { type InformerListener, startInformer } from './informer.ts';
import { type ServiceAddress, createKubernetesService } from './kubernetes-service.ts';
import { createDefaultServiceAccounts, createRootCaPublisher } from './namespace-contents.ts';
import { createNamespaceTermination } from './namespace-termination.ts';
import { createSystemNamespaces } from './system-namespaces.ts';

/** What the controllers need beside the registry. */
export interface ControllersOptions extends ControllerContext {
  readonly selects: (name: 'bootstrap' | 'bootstrap-roles' | 'clusterrole-aggregation' | 'namespace' | 'serviceaccount' | 'root-ca-cert-publisher' | 'kubernetes-service') => boolean;
  /** PEM of the authority that signs the serving certificate; '' when there is none. */
  readonly authority: string;
  readonly service: ServiceAddress;
}

/** The running controllers. */
export interface Controllers {
  /** Resolves when the system namespaces and the `kubernetes` Service exist. */
  readonly ready: Promise<void>;
  /** Resolves when the bootstrap roles and their bindings exist; at once when they are not asked for. */
  readonly rolesReady: Promise<void>;
  /** Resolves when work under way is over. */
  stop(): Promise<void>;
}

/** Starts what is selected; returns at once. */
export function startControllers(options: ControllersOptions): Controllers {
  const { selects } = options;
  const bootstrap = selects('bootstrap') ? createSystemNamespaces(options) : undefined;
  const service = selects('kubernetes-service') ? createKubernetesService(options, options.service) : undefined;
  const roles = selects('bootstrap-roles') ? createBootstrapRoles(options) : undefined;
  const loops: readonly (Controller | undefined)[] = [roles, selects('clusterrole-aggregation') ? createClusterRoleAggregation(options) : undefined];
  const started = [
    bootstrap,
    service,
    selects('namespace') ? createNamespaceTermination(options) : undefined,
    selects('serviceaccount') ? createDefaultServiceAccounts(options) : undefined,
    selects('root-ca-cert-publisher') ? createRootCaPublisher(options, options.authority) : undefined,
  ].filter((one) => one !== undefined);
  const listeners: InformerListener[] = started.map((one) => one.onNamespace);
  const informer = startInformer({
    registry: options.registry, clock: options.clock, predicate: everything, listeners,
    target: createClientFor(options, ['', 'v1', 'namespaces'], '').target(''),
    onError: (error) => options.report('namespaces', '', error),
  });
  return {
    ready: Promise.all([bootstrap?.ready(), service?.ready(), informer.synced]).then(() => undefined),
    rolesReady: roles?.ready() ?? Promise.resolve(),
    async stop() {
      informer.stop();
      await Promise.all([...started, ...loops].map((one) => one?.stop()));
    },
  };
}
