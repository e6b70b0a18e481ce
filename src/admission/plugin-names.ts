// The admission plugins of the reference, in the order in which they run. Names of `--enable-admission-plugins` and of its opposite are these.

/** All names, in order. */
export const pluginNames: readonly string[] = [
  'AlwaysAdmit', 'NamespaceAutoProvision', 'NamespaceLifecycle', 'NamespaceExists', 'LimitPodHardAntiAffinityTopology', 'LimitRanger', 'ServiceAccount',
  'NodeRestriction', 'TaintNodesByCondition', 'AlwaysPullImages', 'ImagePolicyWebhook', 'PodSecurity', 'PodNodeSelector', 'Priority',
  'DefaultTolerationSeconds', 'PodTolerationRestriction', 'EventRateLimit', 'ExtendedResourceToleration', 'DefaultStorageClass',
  'StorageObjectInUseProtection', 'PodGroupProtection', 'OwnerReferencesPermissionEnforcement', 'PersistentVolumeClaimResize', 'RuntimeClass',
  'CertificateApproval', 'CertificateSigning', 'ClusterTrustBundleAttest', 'CertificateSubjectRestriction', 'DefaultIngressClass',
  'DenyServiceExternalIPs', 'PodTopologyLabels', 'PodGroupWorkloadExists', 'NodeDeclaredFeatureValidator', 'JobValidation', 'PodResizeValidator',
  'MutatingAdmissionPolicy', 'MutatingAdmissionWebhook', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook', 'ResourceQuota', 'AlwaysDeny',
];

/** Plugins that run only where they are asked for. */
export const optionalPlugins: ReadonlySet<string> = new Set([
  'AlwaysAdmit', 'AlwaysDeny', 'AlwaysPullImages', 'DenyServiceExternalIPs', 'EventRateLimit', 'ExtendedResourceToleration', 'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology', 'NamespaceAutoProvision', 'NamespaceExists', 'NodeRestriction', 'OwnerReferencesPermissionEnforcement',
  'PodNodeSelector', 'PodTolerationRestriction',
]);


/** Which plugins the flags select. */
export interface PluginSelection {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

/** Whether a plugin runs; `enabled` wins over `disabled` for plugins that are off by default only. */
export const isSelected = (name: string, { enabled, disabled }: PluginSelection): boolean =>
  !disabled.includes(name) && (!optionalPlugins.has(name) || enabled.includes(name));

/** What the reference checks in its storage: these plugins see what is stored, whichever webhook or policy has changed it. */
const storageChecks: ReadonlySet<string> = new Set(['DeviceClaims', 'PodCertificateSigning', 'RBACEscalation']);

/** Puts plugins into the order of the reference; those that the reference does not have stand before the webhooks and policies. */
export function orderPlugins<P extends { readonly name: string }>(plugins: readonly P[]): P[] {
  const end = pluginNames.indexOf('MutatingAdmissionPolicy') - 0.5;
  const placeOf = ({ name }: P): number => {
    if (storageChecks.has(name)) return pluginNames.indexOf('MutatingAdmissionWebhook') + 0.5;
    const place = pluginNames.indexOf(name);
    return place === -1 ? end : place;
  };
  return [...plugins].sort((one, two) => placeOf(one) - placeOf(two));
}
