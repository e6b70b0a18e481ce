// What feature gates that are off by default change about pod specs: those of pods, and of all kinds with a template.
import { readPath, toObjects, toText } from '../../common/values.ts';
import type { GatedField, KindSpec, UsesFeature } from '../../kind-spec.ts';

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'];

/** Tolerations that compare the values of taints with numbers. */
export const COMPARISON_GATE = 'TaintTolerationComparisonOperators';

/** User namespaces of pods in the network of the host. */
export const HOST_NETWORK_GATE = 'UserNamespacesHostNetworkSupport';

/** Policies of SELinux labels besides Recursive. */
export const SELINUX_GATE = 'SELinuxMount';

/** Digests of images that are mounted. */
export const IMAGE_DIGEST_GATE = 'ImageVolumeWithDigest';

type SpecUses = (spec: unknown) => boolean;

const specUses: Readonly<Record<string, SpecUses>> = {
  [COMPARISON_GATE]: (spec) => toObjects(readPath(spec, 'tolerations')).some(({ operator }) => ['Lt', 'Gt'].includes(toText(operator))),
  [HOST_NETWORK_GATE]: (spec) => readPath(spec, 'hostUsers') === false && readPath(spec, 'hostNetwork') === true,
  [SELINUX_GATE]: (spec) => readPath(spec, 'securityContext', 'seLinuxChangePolicy') !== undefined,
};

/** The gated fields of the pod spec at a path; `[]` follows the name of a list, `{}` that of a map. */
const gatedPodFields = (path: string): readonly GatedField[] => [
  ['ContainerStopSignals', ...containerLists.map((list) => `${path}.${list}[].lifecycle.stopSignal`)],
  ['ClusterTrustBundleProjection', `${path}.volumes[].projected.sources[].clusterTrustBundle`],
  ['GenericWorkload', `${path}.schedulingGroup`], ['PodCertificateRequest', `${path}.volumes[].projected.sources[].podCertificate`],
];

/** What gates change about a kind with a pod spec at a path, and with further gated fields. */
export function gatePodSpec(path: string, ...more: readonly GatedField[]): Pick<KindSpec, 'gatedFields' | 'featureUses'> {
  const names = path.split('.');
  const uses = (check: SpecUses): UsesFeature => (object) => check(readPath(object, ...names));
  return {
    gatedFields: [...gatedPodFields(path), ...more],
    featureUses: Object.fromEntries(Object.entries(specUses).map(([gate, check]) => [gate, uses(check)])),
  };
}

/** The digests of images that are mounted, in the status of a pod. */
export const imageDigests: GatedField = [
  IMAGE_DIGEST_GATE,
  ...['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((list) => `status.${list}[].volumeMounts[].volumeStatus`),
];
