// Fields of a pod spec whose features are off by default; pods and all kinds with a template drop them.

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'];

/** Paths in a pod spec; `[]` follows the name of a list, `{}` that of a map. */
const podFields = [
  ...containerLists.map((list) => `${list}[].lifecycle.stopSignal`), 'schedulingGroup', 'volumes[].projected.sources[].clusterTrustBundle',
  'volumes[].projected.sources[].podCertificate',
];

/** The gated fields of the pod spec at a path. */
export const gatedPodFields = (path: string): readonly string[] => podFields.map((field) => `${path}.${field}`);
