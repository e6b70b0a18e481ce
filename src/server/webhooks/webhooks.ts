// The webhooks of a server: one caller for admission and for conversion, the two admission plugins over it, and their configurations, which are kept
// up to date from the start on.
import {
  type AdmissionMetrics, type AdmissionPlugin, type AskAccess, type EvaluateElsewhere, type FollowStatic, type PluginConfigurations, WebhookConfigurations,
  createMutatingWebhooks, createImagePolicy, createNamespaceReader, createValidatingWebhooks, followConfigurations, STATIC_OBJECTS_GATE, isSelected,
} from '../../admission/index.ts';
import type { SchemaSet } from '../../apimachinery/index.ts';
import { type Catalog, type Reflector, type Registry, createSystemClient, formatTime } from '../../registry/index.ts';
import type { WebhookCredentialsPlan } from '../config-files/admission-config.ts';
import { describeError } from '../observability/logger.ts';
import type { ImagePolicyPlan } from '../config-files/image-policy-config.ts';
import type { MetricRegistry } from '../metrics/metric.ts';
import { isGateOn } from '../options/feature-gates.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import { inSpan } from '../tracing/spans.ts';
import type { Routed } from './egress.ts';
import { type BeforeWebhook, type CallLimits, DEFAULT_TIMEOUT_MS, type WebhookCaller, createWebhookCaller } from './webhook-client.ts';

/** What webhooks are made of; functions are asked when they are first needed. */
interface WebhookParts {
  readonly options: ServerOptions & Routed;
  readonly registry: () => Registry;
  readonly catalog: Catalog;
  readonly schemas: SchemaSet;
  readonly askAccess: AskAccess;
  readonly evaluateElsewhere: EvaluateElsewhere | undefined;
  readonly metrics: AdmissionMetrics;
  readonly plan: AdmissionPlan;
  readonly followStatic: FollowStatic;
}

type Client = Parameters<WebhookCaller['call']>[0];

/** The webhooks of a server. */
export interface Webhooks {
  readonly mutating: AdmissionPlugin;
  readonly validating: AdmissionPlugin;
  /** ImagePolicyWebhook, where it is configured. */
  readonly imagePolicy: readonly AdmissionPlugin[];
  readonly sendConversion: (client: Client, review: unknown) => Promise<unknown>;
  /** Reads the configurations; resolves when those that are there are known. */
  start(): Promise<void>;
  stop(): void;
}

/** Makes the webhooks of a server. */
export function createWebhooks({ options, registry, catalog, schemas, askAccess, evaluateElsewhere, metrics, plan, followStatic }: WebhookParts): Webhooks {
  const { credentials, imagePolicy, beforeCall } = plan;
  const { clock, random, logger, egress, enableAggregatorRouting } = options;
  const caller = prepareCalls(createWebhookCaller({ registry, catalog, clock, random, egress, requiresEndpoints: enableAggregatorRouting }), beforeCall);
  const readNamespace = createNamespaceReader(registry, catalog);
  const common = {
    schemas, clock, random, askAccess, evaluateElsewhere, readNamespace, metrics,
    onFailOpen: (webhook: string, { message }: Error) => logger.warn('a webhook failed and its failure policy ignores it', { webhook, error: message }),
  };
  const configurations = { mutating: new WebhookConfigurations(catalog), validating: new WebhookConfigurations(catalog) };
  const reportUnusable = createUnusableReport({ registry, catalog, options });
  const partsOf = (sort: 'mutating' | 'validating') => ({
    ...common, configurations: configurations[sort], onUnusable: reportUnusable(sort),
    send: async (client: Client, body: unknown, limits: CallLimits) =>
      inSpan(() => ({ name: `Call ${sort} webhook` }), () => caller.call(client, body, { ...limits, findCredentials: credentials?.[sort] })),
  });
  let reflectors: readonly Reflector[] = [];
  let stops: readonly (() => void)[] = [];
  return {
    mutating: createMutatingWebhooks(partsOf('mutating')), validating: createValidatingWebhooks(partsOf('validating')),
    imagePolicy: imagePolicy === undefined ? [] : [composeImagePolicy(imagePolicy, caller, clock)],
    sendConversion: async (client, review) => inSpan(() => ({ name: 'Call conversion webhook' }), () => caller.call(client, review)),
    async start() {
      reflectors = (['mutating', 'validating'] as const).map((sort) => followConfigurations(configurations[sort], {
        registry: registry(), catalog, clock, plural: `${sort}webhookconfigurations`,
        onError: (error) => logger.warn('webhook configurations will be read again', describeError(error)),
      }));
      stops = await Promise.all([
        followStatic('MutatingAdmissionWebhook', (objects) => configurations.mutating.setStatic(objects)),
        followStatic('ValidatingAdmissionWebhook', (objects) => configurations.validating.setStatic(objects)),
      ]);
      await Promise.all(reflectors.map(({ synced }) => synced));
    },
    stop() {
      for (const reflector of reflectors) reflector.stop();
      for (const stop of stops) stop();
      caller.close();
    },
  };
}

const COMPONENT = 'kube-apiserver';
type OnUnusable = Parameters<typeof createValidatingWebhooks>[0]['onUnusable'];

/** Says in the log and by an event, once for each state of a configuration, that a webhook of it cannot be called. */
function createUnusableReport({ registry, catalog, options: { clock, logger } }: Pick<WebhookParts, 'registry' | 'catalog' | 'options'>):
(sort: 'mutating' | 'validating') => OnUnusable {
  const known = new WeakSet<Parameters<OnUnusable>[0]>();
  return (sort) => (webhook, { message }) => {
    if (known.has(webhook)) return;
    known.add(webhook);
    const { configuration: name } = webhook;
    logger.warn('a webhook cannot be called with the configuration that it has', { configuration: name, webhook: webhook.name, error: message });
    const time = formatTime(clock.now());
    const kind = sort === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
    createSystemClient({ registry: registry(), catalog }, ['', 'v1', 'events'], COMPONENT).createIfAbsent('default', {
      apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.${(BigInt(clock.now()) * 1_000_000n).toString(16)}`, namespace: 'default' },
      involvedObject: { apiVersion: 'admissionregistration.k8s.io/v1', kind, name }, reason: 'UnusableWebhook', message, type: 'Warning',
      source: { component: COMPONENT }, reportingComponent: COMPONENT, firstTimestamp: time, lastTimestamp: time, count: 1,
    }).catch((error: unknown) => logger.warn('the event of a webhook could not be written', describeError(error)));
  };
}

/** How long the reference waits for a service that is named by a kubeconfig. */
const SERVICE_TIMEOUT_MS = 30_000;

function composeImagePolicy({ settings, target }: ImagePolicyPlan, caller: WebhookCaller, clock: ServerOptions['clock']): AdmissionPlugin {
  const { url, authorities = '', ...credentials } = target;
  const client: Client = { url, caBundle: Buffer.from(authorities).toString('base64') };
  const findCredentials = (): typeof credentials => credentials;
  return createImagePolicy({
    ...settings, clock, ask: (review, request) => caller.call(client, review, { timeoutMs: SERVICE_TIMEOUT_MS, signal: request?.signal, findCredentials }),
  });
}

/** A caller whose calls begin with a function of a test. */
function prepareCalls(caller: WebhookCaller, before: BeforeWebhook | undefined): WebhookCaller {
  if (before === undefined) return caller;
  return {
    close: () => caller.close(),
    async call(client, body, limits) {
      await before(client, { limitMs: limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS });
      return caller.call(client, body, limits);
    },
  };
}

/** What the configuration file of admission says, and tests. */
export interface AdmissionPlan {
  /** The credentials that webhooks are shown; nothing unless given. */
  readonly credentials?: WebhookCredentialsPlan;
  readonly plugins?: PluginConfigurations;
  readonly imagePolicy?: ImagePolicyPlan;
  /** Makes what follows the static manifests, where there are any. */
  readonly followManifests?: (catalog: Catalog, registry: MetricRegistry) => FollowStatic;
  /** A function of a test that runs before each call. */
  readonly beforeCall?: BeforeWebhook | undefined;
}

const CONFIG_FLAG = '--admission-control-config-file';
const IMAGE_POLICY = 'ImagePolicyWebhook';
/** Plugins that do not run without a configuration, with the words of the reference for its absence. */
const needed: ReadonlyMap<string, string> = new Map([
  [IMAGE_POLICY, 'no config specified'], ['EventRateLimit', 'limits: Invalid value: null: must not be empty'],
]);

/** Reads the configuration file of admission; empty without one. The code that reads files is loaded only where a file is given. Throws StartError. */
export async function readAdmissionPlan(options: ServerOptions): Promise<AdmissionPlan> {
  const isOn = (name: string): boolean => isSelected(name, { enabled: options.enableAdmissionPlugins, disabled: options.disableAdmissionPlugins });
  const refuseUnconfigured = (isConfigured: (name: string) => boolean): void => {
    for (const [name, problem] of needed) {
      if (isOn(name) && !isConfigured(name)) throw new StartError(`couldn't init admission plugin "${name}": ${problem}`);
    }
  };
  if (options.admissionControlConfigFile === '') {
    refuseUnconfigured(() => false);
    return {};
  }
  const { readAdmissionConfiguration, readWebhookCredentials } = await import('../config-files/admission-config.ts');
  const { readPluginConfigurations } = await import('../config-files/plugin-config.ts');
  const configurations = await readAdmissionConfiguration(options);
  refuseUnconfigured((name) => configurations.has(name));
  const { clock, logger } = options;
  const { countManifests } = await import('../metrics/manifest-metrics.ts');
  const { createManifestFollower, readManifestDirectories } = await import('../config-files/static-manifests.ts');
  const directories = await readManifestDirectories(CONFIG_FLAG, configurations, isGateOn(options.featureGates, STATIC_OBJECTS_GATE));
  const followManifests: AdmissionPlan['followManifests'] = (catalog, registry) =>
    createManifestFollower({ directories, catalog, clock, logger, record: countManifests(registry, clock) });
  const plan: AdmissionPlan = {
    credentials: await readWebhookCredentials(configurations), plugins: readPluginConfigurations(configurations),
    ...(directories.size > 0 && { followManifests }),
  };
  const configuration = configurations.get(IMAGE_POLICY);
  if (configuration === undefined) return plan;
  const { readImagePolicy } = await import('../config-files/image-policy-config.ts');
  return { ...plan, imagePolicy: await readImagePolicy(CONFIG_FLAG, configuration) };
}
