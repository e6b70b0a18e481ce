// The feature gates of kube-apiserver 1.36.3: which there are, and which of them this server can switch. A name that is unknown ends the start, as
// there; a gate of the API that asks for something else than its default and cannot be switched is reported, since the API stays as it is.
import { parseBool } from './go-values.ts';

const namesIn = (text: string): string[] => text.trim().split(/\s+/);

const onByDefault = namesIn(`
  APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AllowServiceExternalIPs AtomicFIFO
  AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking ClearingNominatedNodeNameAfterBinding
  ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules
  ContextualLogging CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource
  DRAPartitionableDevices DRAPrioritizedList DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout
  DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs EnvFiles
  ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
  InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers InformerResourceVersion
  KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletPodResourcesListUseActivePods KubeletSeparateDiskGC
  KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions MatchLabelKeysInPodTopologySpread
  MatchLabelKeysInPodTopologySpreadSelectorMerge MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
  MutatingAdmissionPolicy NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost
  PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences
  RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
  ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption SchedulerPopFromBackoffQ
  ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet
  StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison
  StorageNamespaceIndex StorageVersionHash StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
  StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions
  TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
  WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown`);

const offByDefault = namesIn(`
  APIServingWithRoutine AllAlpha AllBeta AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests AllowUnsafeMalformedObjectDeletion
  CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ClientsAllowCBOR
  ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection
  ConcurrentWatchObjectDecode ContainerStopSignals ControllerManagerReleaseLeaderElectionLockOnExit CoordinatedLeaderElection
  CrossNamespaceVolumeDataSource DRADeviceTaintRules DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims
  DeclarativeValidationTakeover EventedPLEG GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
  InPlacePodVerticalScalingExclusiveMemory KMSv1 KubeletInUserNamespace KubeletRegistrationGetOnExistsOnly
  LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions ManifestBasedAdmissionControlConfig MaxUnavailableStatefulSet MemoryQoS
  MutablePVNodeAffinity NativeHistograms PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodCertificateRequest
  PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi SELinuxMount
  SchedulerAsyncAPICalls ShardedListAndWatch StorageCapacityScoring StorageVersionAPI StorageVersionMigrator TaintTolerationComparisonOperators
  TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
  WindowsHostNetwork WorkloadAwarePreemption WorkloadWithJob`);

const alwaysOn = namesIn(`
  APIServerTracing AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
  AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache
  CustomResourceFieldSelectors DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite DisableNodeKubeProxyVersion DynamicResourceAllocation
  ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex
  JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI
  KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
  MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
  PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution
  ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
  ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints
  SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
  ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
  StructuredAuthenticationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
  VolumeAttributesClass WinDSR WinOverlay`);

const alwaysOff = namesIn(`
  AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC`);

interface Gate {
  readonly isOn: boolean;
  readonly isLocked: boolean;
}

const gatesOf = (names: readonly string[], gate: Gate): [string, Gate][] => names.map((name) => [name, gate]);

const gates: ReadonlyMap<string, Gate> = new Map([
  ...gatesOf(onByDefault, { isOn: true, isLocked: false }), ...gatesOf(offByDefault, { isOn: false, isLocked: false }),
  ...gatesOf(alwaysOn, { isOn: true, isLocked: true }), ...gatesOf(alwaysOff, { isOn: false, isLocked: true }),
]);

/** The stages of gates that differ from those of their list. */
const otherStages: ReadonlyMap<string, string> = new Map([
  ...namesIn('AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion MutatingAdmissionPolicy')
    .map((name): [string, string] => [name, '']),
  ...namesIn(`DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart DeclarativeValidationTakeover KMSv1
    KubeletRegistrationGetOnExistsOnly WindowsHostNetwork AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC`).map((name): [string, string] => [name, 'DEPRECATED']),
  ...namesIn(`AllBeta ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection DRADeviceTaintRules
    LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls
    StorageVersionMigrator`).map((name): [string, string] => [name, 'BETA']),
]);

/** Gates that are locked are generally available; of the others those are in beta that are on. */
const stageOf = (name: string, { isOn, isLocked }: Gate): string => otherStages.get(name) ?? (isLocked ? '' : isOn ? 'BETA' : 'ALPHA');

/** The gates that can be switched here. */
export const switchableGates = [
  'AllAlpha', 'AllBeta', 'AllowInsecureKubeletCertificateSigningRequests', 'AllowUnsafeMalformedObjectDeletion', 'CBORServingAndStorage',
  'ClearingNominatedNodeNameAfterBinding', 'ClusterTrustBundle', 'ClusterTrustBundleProjection', 'ContainerStopSignals', 'CoordinatedLeaderElection',
  'CrossNamespaceVolumeDataSource', 'DRAConsumableCapacity', 'DRADeviceBindingConditions', 'DRADeviceTaintRules', 'DRADeviceTaints',
  'DRAExtendedResource', 'DRAListTypeAttributes', 'DRANodeAllocatableResources', 'DRAPartitionableDevices', 'DRAPrioritizedList',
  'DRAResourceClaimDeviceStatus', 'DRAResourceClaimGranularStatusAuthorization', 'DRAResourcePoolStatus', 'DRAWorkloadResourceClaims',
  'GangScheduling', 'GenericWorkload', 'HPAScaleToZero', 'ImageVolumeWithDigest', 'KMSv1', 'ManifestBasedAdmissionControlConfig',
  'MaxUnavailableStatefulSet', 'MutablePVNodeAffinity', 'OpenAPIEnums', 'PodCertificateRequest', 'PodLogsQuerySplitStreams', 'PodTopologyLabelsAdmission',
  'SELinuxMount', 'ServiceAccountNodeAudienceRestriction', 'ShardedListAndWatch', 'StorageVersionMigrator', 'StrictIPCIDRValidation',
  'TaintTolerationComparisonOperators', 'TopologyAwareWorkloadScheduling', 'UserNamespacesHostNetworkSupport', 'VolumeLimitScaling',
  'WorkloadAwarePreemption', 'WorkloadWithJob',
] as const;

/**
 * Gates that change nothing about the API of kube-apiserver 1.36.3: they are about kubelets, schedulers, controllers, or how clients and goroutines
 * work inside of components. Servers honour them whatever they ask for.
 */
const gatesElsewhere: ReadonlySet<string> = new Set(namesIn(`
  APIServingWithRoutine AllowDNSOnlyNodeCSR AllowServiceExternalIPs AtomicFIFO CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CRIListStreaming
  CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ClientsAllowCARotation ClientsAllowCBOR ClientsAllowTLSCacheGC ClientsPreferCBOR
  CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ConcurrentWatchObjectDecode ContainerCheckpoint
  ControllerManagerReleaseLeaderElectionLockOnExit CustomCPUCFSQuotaPeriod DRASchedulerFilterTimeout DeclarativeValidationTakeover
  DisableCPUQuotaWithExclusiveCPUs EventedPLEG GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority InOrderInformersBatchProcess
  InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory InformerResourceVersion KubeletCrashLoopBackOffMax
  KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletPodResourcesListUseActivePods KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC
  LocalStorageCapacityIsolationFSQuotaMonitoring MemoryQoS NominatedNodeNameForExpectation OpportunisticBatching PLEGOnDemandRelist
  PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers PodReadyToStartContainersCondition PodsAPI
  PreventStaticPodAPIReferences QOSReserved ReduceDefaultCrashLoopBackOffDecay ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile
  RotateKubeletServerCertificate RuntimeClassInImageCriApi SchedulerAsyncAPICalls SchedulerAsyncPreemption SchedulerPopFromBackoffQ
  StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
  StatefulSetSemanticRevisionComparison StorageCapacityScoring TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions
  UnlockWhileProcessingFIFO WatchListClient WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork`));

/** Gates that need others, which can be off: a gate, and the gates without which it cannot be on. */
const dependencies: ReadonlyMap<string, readonly string[]> = new Map(`
  ClusterTrustBundleProjection ClusterTrustBundle
  DRADeviceBindingConditions DRAResourceClaimDeviceStatus
  DRADeviceTaintRules DRADeviceTaints
  DRAResourceClaimGranularStatusAuthorization DRAResourceClaimDeviceStatus
  DRAWorkloadResourceClaims GenericWorkload
  ExtendWebSocketsToKubelet NodeDeclaredFeatures
  GangScheduling GenericWorkload
  GracefulNodeShutdownBasedOnPodPriority GracefulNodeShutdown
  InPlacePodLevelResourcesVerticalScaling NodeDeclaredFeatures PodLevelResources
  InPlacePodVerticalScalingInitContainers NodeDeclaredFeatures
  MatchLabelKeysInPodTopologySpreadSelectorMerge MatchLabelKeysInPodTopologySpread
  PodLevelResourceManagers PodLevelResources
  ResourceHealthStatusMessage ResourceHealthStatus
  RestartAllContainersOnContainerExits ContainerRestartRules NodeDeclaredFeatures
  StaleControllerConsistencyDaemonSet AtomicFIFO
  StaleControllerConsistencyJob AtomicFIFO
  StaleControllerConsistencyReplicaSet AtomicFIFO
  StaleControllerConsistencyStatefulSet AtomicFIFO
  StorageVersionAPI APIServerIdentity
  TopologyAwareWorkloadScheduling GenericWorkload
  UnknownVersionInteroperabilityProxy APIServerIdentity
  UserNamespacesHostNetworkSupport NodeDeclaredFeatures
  WindowsGracefulNodeShutdown GracefulNodeShutdown
  WorkloadAwarePreemption GangScheduling
  WorkloadWithJob GenericWorkload`.trim().split('\n').map((line) => namesIn(line)).map(([name = '', ...needed]) => [name, needed]));

/** What may stand before a name, with a colon: the one component that has gates. */
const COMPONENT = 'kube';

interface Setting {
  readonly component: string;
  readonly name: string;
  /** undefined where there is no `=`. */
  readonly value: string | undefined;
}

function readSetting(text: string): Setting {
  const colon = text.indexOf(':');
  const [name = '', ...values] = text.slice(colon + 1).split('=');
  const value = values.length === 0 ? undefined : values.join('=');
  return { component: text.slice(0, Math.max(0, colon)) || COMPONENT, name: name.trim(), value: value?.trim() };
}

/** Refuses what the reference refuses, in its words. */
export function checkFeatureGates(settings: readonly string[]): string | undefined {
  return settings.map(readSetting).map(checkSetting).find((problem) => problem !== undefined) ?? findMissing(settings);
}

/** A gate that is on without another that it needs. */
function findMissing(settings: readonly string[]): string | undefined {
  for (const [name, needed] of dependencies) {
    const missing = isGateOn(settings, name) ? needed.filter((other) => !isGateOn(settings, other)) : [];
    if (missing.length > 0) return `${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`;
  }
  return undefined;
}

function checkSetting({ component, name, value }: Setting): string | undefined {
  if (component !== COMPONENT) return `component not registered: ${component}`;
  if (value === undefined) return `missing bool value for ${name}`;
  const isOn = parseBool(value);
  if (isOn === undefined) return `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`;
  const gate = gates.get(name);
  if (gate === undefined) return `unrecognized feature gate: ${name}`;
  return gate.isLocked && isOn !== gate.isOn ? `cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.isOn}` : undefined;
}

/** The gates that the settings switch; the last setting of a gate counts. */
function readSettings(settings: readonly string[]): ReadonlyMap<string, boolean> {
  return new Map(settings.map(readSetting).map(({ name, value = '' }) => [name, parseBool(value) === true]));
}

/** Gates that set all others of a stage but for those that are set themselves. */
const stageGates: ReadonlyMap<string, string> = new Map([['ALPHA', 'AllAlpha'], ['BETA', 'AllBeta']]);

/** Whether a gate is on. */
export function isGateOn(settings: readonly string[], name: string): boolean {
  const [set, gate] = [readSettings(settings), gates.get(name)];
  const all = gate === undefined || isStageGate(name) ? undefined : set.get(stageGates.get(stageOf(name, gate)) ?? '');
  return set.get(name) ?? all ?? gate?.isOn === true;
}

const isStageGate = (name: string): boolean => [...stageGates.values()].includes(name);

const canSwitch = (name: string): boolean => gatesElsewhere.has(name) || switchableGates.some((known) => known === name);

/** All gates by name, with what they are here: a setting that cannot be honoured changes nothing. */
export function listGates(settings: readonly string[]): { readonly name: string; readonly stage: string; readonly isOn: boolean }[] {
  return [...gates].map(([name, gate]) => ({ name, stage: stageOf(name, gate), isOn: canSwitch(name) ? isGateOn(settings, name) : gate.isOn }))
    .sort((one, two) => (one.name < two.name ? -1 : 1));
}

/** Settings that change nothing here although they ask for another value than the default. */
export function listIgnoredGates(settings: readonly string[]): string[] {
  const ignored = [...gates].filter(([name, gate]) => !canSwitch(name) && isGateOn(settings, name) !== gate.isOn);
  return ignored.map(([name, gate]) => `${name}=${!gate.isOn}`);
}
