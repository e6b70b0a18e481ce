// The plugins that need nothing but reads of objects.
import type { Clock } from '../../base/index.ts';
import type { AdmissionPlugin } from '../chain.ts';
import { type PodSecurityConfiguration, createPodSecurity } from '../pod-security/pod-security.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import type { LimitedResource } from '../quota/coverage.ts';
import type { ReadsOf } from '../reads.ts';
import { createAlwaysAdmit, createAlwaysDeny } from './always.ts';
import { type EventLimit, createEventRateLimit } from './events/event-rate-limit.ts';
import { createNamespaceExists } from './namespaces/existence.ts';
import { createDefaultIngressClass } from './network/default-ingress-class.ts';
import { createExternalIpDenial } from './network/external-ips.ts';
import { createAlwaysPullImages } from './pods/always-pull-images.ts';
import { createDeclaredFeatures } from './pods/declared-features.ts';
import { createLimitRanger } from './pods/limit-ranger.ts';
import { type NodeSelectors, type TolerationRules, createPodNodeSelector, createTolerationRestriction } from './pods/namespace-rules.ts';
import { createAntiAffinityLimit, createExtendedResourceToleration, createPodTopologyLabels } from './pods/node-placement.ts';
import { createPodGroupPlugins } from './pods/pod-groups.ts';
import { createPriority } from './pods/priority.ts';
import { createPodResizeValidator } from './pods/resize-validator.ts';
import { createRuntimeClass } from './pods/runtime-class.ts';
import { type TolerationSeconds, createDefaultTolerationSeconds, createTaintNodesByCondition } from './pods/tolerations.ts';
import { createClaimResize } from './storage/claim-resize.ts';
import { createDefaultStorageClass, createStorageObjectInUseProtection } from './storage/storage.ts';

/** What the configuration file of admission says about single plugins; a plugin without configuration has its defaults. */
export interface PluginConfigurations {
  readonly podSecurity?: PodSecurityConfiguration | undefined;
  readonly eventLimits?: readonly EventLimit[] | undefined;
  readonly nodeSelectors?: NodeSelectors | undefined;
  readonly tolerationRules?: TolerationRules | undefined;
  /** Resources that need a quota. */
  readonly limitedResources?: readonly LimitedResource[] | undefined;
}

/** What the plugins are given. */
export interface DefaultPluginOptions {
  readonly readsOf: ReadsOf;
  readonly clock: Clock;
  readonly configurations?: PluginConfigurations;
  readonly tolerationSeconds?: TolerationSeconds;
  readonly metrics?: Pick<AdmissionMetrics, 'recordPodSecurity'>;
  /** Whether a resource of scheduling.k8s.io/v1alpha2 is served. */
  readonly servesScheduling?: (plural: string) => boolean;
  /** Whether PodGroups have priorities (WorkloadAwarePreemption). */
  readonly ranksGroups?: boolean;
  /** Whether pods get labels of their node (PodTopologyLabelsAdmission). */
  readonly labelsTopology?: boolean;
}

/** Makes them, in no order. */
export function createDefaultPlugins(options: DefaultPluginOptions): readonly AdmissionPlugin[] {
  const { readsOf, clock, configurations = {}, tolerationSeconds, metrics, servesScheduling, ranksGroups = false, labelsTopology = true } = options;
  const { podSecurity, eventLimits = [], nodeSelectors, tolerationRules } = configurations;
  const [namespaces, nodes, storageClasses] = [readsOf('', 'namespaces'), readsOf('', 'nodes'), readsOf('storage.k8s.io', 'storageclasses')];
  const ifServed = (plural: string) => (servesScheduling?.(plural) === true ? readsOf('scheduling.k8s.io', plural) : undefined);
  return [
    ...createPodGroupPlugins({ workloads: ifServed('workloads'), groups: ifServed('podgroups') }),
    createAlwaysAdmit(), createAlwaysDeny(), createNamespaceExists(namespaces),
    createLimitRanger(readsOf('', 'limitranges'), clock), createTaintNodesByCondition(),
    createPodSecurity({ namespaces, pods: readsOf('', 'pods') }, podSecurity, metrics?.recordPodSecurity),
    createPriority(readsOf('scheduling.k8s.io', 'priorityclasses'), { ofGroups: ranksGroups }), createDefaultTolerationSeconds(tolerationSeconds),
    createRuntimeClass(readsOf('node.k8s.io', 'runtimeclasses')), createAlwaysPullImages(),
    createPodNodeSelector(namespaces, nodeSelectors), createTolerationRestriction(namespaces, tolerationRules), createExtendedResourceToleration(),
    createAntiAffinityLimit(), ...(labelsTopology ? [createPodTopologyLabels(nodes)] : []), createDeclaredFeatures(nodes), createPodResizeValidator(nodes),
    createDefaultStorageClass(storageClasses), createStorageObjectInUseProtection(), createClaimResize(storageClasses),
    createDefaultIngressClass(readsOf('networking.k8s.io', 'ingressclasses')), createExternalIpDenial(), createEventRateLimit(eventLimits, clock),
  ];
}
