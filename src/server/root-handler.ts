// What every request ends at: health, metrics and the keys of tokens are answered here, everything else by the API.
import type { Handler } from '../endpoints/index.ts';
import type { StorageHealth, Store } from '../storage/index.ts';
import type { Api } from './compose.ts';
import { createFlowDumps } from './flow-control/dump.ts';
import { type FlowControl, checkSeats } from './flow-control/flow-control.ts';
import { type HealthCheck, answerText, createHealthHandler, healthRoots, runChecks } from './observability/health.ts';
import { createCheckMetrics } from './metrics/metrics.ts';
import { createProfiling } from './observability/profiling.ts';
import { answerMetricsText } from './metrics/process-metrics.ts';
import { createZPages } from './observability/zpages.ts';
import type { Audit } from './audit/audit.ts';
import type { ServerOptions } from './options/options.ts';
import type { createOpenIdHandler } from './openid.ts';
import type { StorePart } from './store-parts.ts';

/** How far a start or stop has come. */
interface StartState {
  readonly stopping: boolean;
  readonly initialized: boolean;
}

const FLOW_HOOK = 'poststarthook/priority-and-fairness-filter';

/**
 * Names of the reference for what has happened once a server is initialized: monitoring and start scripts ask for them. What a server has no use for, as one
 * with a store of its own has none for identity leases, is finished then as well.
 */
const startHooks = [
  ...[
    'start-apiserver-admission-initializer', 'generic-apiserver-start-informers', 'priority-and-fairness-config-consumer', 'priority-and-fairness-filter',
    'storage-object-count-tracker-hook', 'start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced',
    'start-system-namespaces-controller', 'peer-endpoint-reconciler-controller', 'start-cluster-authentication-info-controller',
    'start-kube-apiserver-identity-lease-controller', 'start-kube-apiserver-identity-lease-garbage-collector', 'storage-readiness',
    'start-legacy-token-tracking-controller', 'start-service-ip-repair-controllers', 'rbac/bootstrap-roles', 'scheduling/bootstrap-system-priority-classes',
    'priority-and-fairness-config-producer', 'bootstrap-controller', 'start-kubernetes-service-cidr-controller', 'start-kube-aggregator-informers',
    'apiservice-status-local-available-controller', 'apiservice-status-remote-available-controller', 'apiservice-registration-controller',
    'apiservice-discovery-controller', 'kube-apiserver-autoregistration',
  ].map((hook) => `poststarthook/${hook}`),
  'autoregister-completion', 'poststarthook/apiservice-openapi-controller', 'poststarthook/apiservice-openapiv3-controller',
];

/** The checks of a server, in the order in which they are listed. */
export function listChecks(state: StartState, { store, storeParts, health, flowControl, more, options: { clock, livezGraceMs } }: {
  readonly store: Store; readonly storeParts: readonly StorePart[]; readonly health: StorageHealth; readonly flowControl: FlowControl | undefined;
  readonly options: Pick<ServerOptions, 'clock' | 'livezGraceMs'>;
  /** Of what only some servers have. */
  readonly more: readonly Pick<HealthCheck, 'name' | 'check'>[];
}): HealthCheck[] {
  const pass = () => {};
  const startedMs = clock.monotonicMs();
  const checkInitialized = (): void => {
    if (!state.initialized) throw new Error('not finished');
  };
  return [
    { name: 'ping', roots: healthRoots, check: pass },
    { name: 'log', roots: healthRoots, check: pass },
    // The server reaches itself without a connection, so that no certificate for that can expire.
    { name: 'loopback-serving-certificate', roots: ['healthz', 'livez'], check: pass },
    { name: 'etcd', roots: healthRoots, check: async () => void await store.revision() },
    {
      name: 'etcd-readiness', roots: ['readyz'],
      async check() {
        await store.revision();
        if (health.refusal !== undefined) throw new Error(health.refusal);
      },
      warnings: () => health.damaged.map(({ key, cause }) => `${key} cannot be read: ${cause}`),
    },
    ...storeParts.flatMap(({ prefixes: [key] }, index): HealthCheck[] => {
      const check = async (): Promise<void> => void await store.revision(key);
      return [
        { name: `etcd-override-${index}`, group: 'etcd', roots: healthRoots, check },
        { name: `etcd-override-readiness-${index}`, group: 'etcd-readiness', roots: ['readyz'], check },
      ];
    }),
    ...more.map((check): HealthCheck => ({ ...check, roots: ['healthz', 'readyz'] })),
    { name: 'informer-sync', roots: ['readyz'], check: pass },
    ...startHooks.flatMap((name): HealthCheck[] => [
      { name, roots: ['healthz'], check: checkInitialized },
      {
        name, roots: ['readyz'],
        check() {
          checkInitialized();
          if (name === FLOW_HOOK && flowControl !== undefined) checkSeats(flowControl);
        },
      },
      {
        name, roots: ['livez'],
        check() {
          if (clock.monotonicMs() - startedMs >= livezGraceMs) checkInitialized();
        },
      },
    ]),
    {
      name: 'shutdown', roots: ['readyz'],
      check() {
        if (state.stopping) throw new Error('process is shutting down');
      },
    },
  ];
}

interface RootParts {
  readonly options: ServerOptions;
  readonly checks: readonly HealthCheck[];
  readonly flowControl: FlowControl | undefined;
  readonly featureGates: readonly string[];
  /** The audit of all writes; absent where there is none, and where this process sees a part of them. */
  readonly audit: Audit | undefined;
  /** The metrics of the server as text. */
  readonly renderMetrics: () => Promise<string>;
  readonly openId: ReturnType<typeof createOpenIdHandler>;
}

/** Makes the handler behind the filters. */
export function createRootHandler(api: Api, parts: RootParts): Handler {
  const health = createHealthHandler(parts.checks);
  const showChecks = createCheckMetrics();
  const { audit } = parts;
  const pages = [
    parts.openId, createZPages(parts), ...(audit === undefined ? [] : [audit.answer]),
    ...(parts.options.profiling ? [createProfiling(parts.options), createFlowDumps(parts.flowControl)] : []),
  ];
  return (exchange) => {
    if (exchange.info.isResource) return api.handler(exchange);
    for (const page of pages) {
      const answer = page(exchange);
      if (answer !== undefined) return answer;
    }
    if (exchange.path === '/metrics') return parts.renderMetrics().then(answerMetricsText);
    if (exchange.path === '/metrics/slis') return runChecks(parts.checks, exchange).then((outcomes) => answerMetricsText(showChecks(outcomes)));
    return health(exchange).then((answer) => answer ?? (isHealthPath(exchange.path) ? answerText(404, '404 page not found\n') : api.handler(exchange)));
  };
}

const isHealthPath = (path: string): boolean => /^\/(?:healthz|livez|readyz)\//.test(path);
