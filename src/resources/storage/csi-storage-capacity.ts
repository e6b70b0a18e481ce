// storage.k8s.io/v1 CSIStorageCapacity.
import { type KubeObject, checkDnsSubdomain } from '../../apimachinery/index.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, type Field, at, checkSameMembers, checkText, isGiven } from '../common/validation/check.ts';
import { checkNatural } from '../common/validation/quantities.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { warnOfExpressions, warnOfLabelMap } from '../common/warnings/labels.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Validates csistoragecapacities. */
function validateStorageCapacity(object: KubeObject): Errors {
  const [nodes, capacity] = ['nodeTopology', 'capacity'].map((name) => ({ path: name, value: object[name] })) as [Field, Field];
  return [
    ...(isGiven(nodes) ? checkSelector(nodes) : []), ...checkText({ path: 'storageClassName', value: object['storageClassName'] }, checkDnsSubdomain),
    ...checkNatural(capacity),
  ];
}

/** Warns of topologies that select nodes by old labels. */
function warnOfTopology(root: Field): readonly string[] {
  const topology = at(root, 'nodeTopology');
  return [
    ...warnOfExpressions(at(topology, 'matchExpressions')),
    ...warnOfLabelMap(at(topology, 'matchLabels'), (key) => `${topology.path}.matchLabels.${key}`),
  ];
}

/** The spec of CSIStorageCapacity. */
export const csiStorageCapacityKind: KindSpec = {
  kind: 'CSIStorageCapacity', plural: 'csistoragecapacities',
  formerVersions: sameAs('storage.k8s.io/v1beta1', 'storage.k8s.io/v1alpha1'),
  unconditionalUpdate: false,
  metadataChecks: ['object', 'new', 'update', 'kind'],
  validation: {
    object: validateStorageCapacity,
    update: (capacity, old) => checkSameMembers(capacity, old, ['nodeTopology', 'storageClassName']),
  },
  warnings: warnWith(warnOfTopology),
};
