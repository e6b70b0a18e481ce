// Fields of a pod spec whose features are off by default; pods and all kinds with a template drop them.
import type { GatedField } from '../../kind-spec.ts';

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'];

/** The gated fields of the pod spec at a path; `[]` follows the name of a list, `{}` that of a map. */
export const gatedPodFields = (path: string): readonly GatedField[] => [
  ...containerLists.map((list) => `${path}.${list}[].lifecycle.stopSignal`), `${path}.volumes[].projected.sources[].clusterTrustBundle`,
  ['GenericWorkload', `${path}.schedulingGroup`], ['PodCertificateRequest', `${path}.volumes[].projected.sources[].podCertificate`],
];

/** The digests of images that are mounted, in the status of a pod. */
export const imageDigests: readonly GatedField[] = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
  .map((list) => ['ImageVolumeWithDigest', `status.${list}[].volumeMounts[].volumeStatus`]);
