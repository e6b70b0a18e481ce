// The versions of built-in kinds that are deprecated, as Kubernetes states their lives: since when, and the release without them.
interface Life {
  readonly deprecated: string;
  readonly removed: string;
  /** `group/version Kind`; absent where the reference names none. */
  readonly replacement?: string;
}

const lives: ReadonlyMap<string, Life> = new Map<string, Life>([
  ['admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy', { deprecated: '1.35', removed: '1.38' }],
  ['admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding', { deprecated: '1.35', removed: '1.38' }],
  ['certificates.k8s.io/v1alpha1 ClusterTrustBundle', { deprecated: '1.34', removed: '1.37' }],
  ['coordination.k8s.io/v1alpha2 LeaseCandidate', { deprecated: '1.35', removed: '1.38' }],
  ['coordination.k8s.io/v1beta1 LeaseCandidate', { deprecated: '1.36', removed: '1.39' }],
  ['networking.k8s.io/v1beta1 IPAddress', { deprecated: '1.34', removed: '1.37' }],
  ['networking.k8s.io/v1beta1 ServiceCIDR', { deprecated: '1.34', removed: '1.37' }],
  ['resource.k8s.io/v1alpha3 DeviceTaintRule', { deprecated: '1.36', removed: '1.39' }],
  ...['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'].flatMap((kind): [string, Life][] => [
    [`resource.k8s.io/v1beta1 ${kind}`, { deprecated: '1.35', removed: '1.38' }], [`resource.k8s.io/v1beta2 ${kind}`, { deprecated: '1.36', removed: '1.39' }],
  ]),
  ['storage.k8s.io/v1beta1 VolumeAttributesClass', { deprecated: '1.34', removed: '1.37', replacement: 'storage.k8s.io/v1 VolumeAttributesClass' }],
]);

/** The text of the warning about a version of a kind; undefined for those that are not deprecated. */
export function describeDeprecation({ group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string }): string | undefined {
  const name = `${group}/${version} ${kind}`;
  const life = lives.get(name);
  if (life === undefined) return undefined;
  const { deprecated, removed, replacement } = life;
  return `${name} is deprecated in v${deprecated}+, unavailable in v${removed}+${replacement === undefined ? '' : `; use ${replacement}`}`;
}
