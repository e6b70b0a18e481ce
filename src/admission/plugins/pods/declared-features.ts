// NodeDeclaredFeatureValidator: a change of a pod on a node that only some kubelets can carry out needs a node that declares it in its status.
import { equalJson } from '../../../apimachinery/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { refuse } from '../../refusal.ts';
import { type PodSpec, podSpecOf } from './pod.ts';

type Needs = (next: PodSpec, before: PodSpec) => boolean;

function resizesInitContainers(next: PodSpec, before: PodSpec): boolean {
  return (before.initContainers ?? []).some(({ restartPolicy, resources = {} }, index) =>
    restartPolicy !== 'Always' && !equalJson(resources, next.initContainers?.[index]?.resources ?? {}));
}

/** Features of kubelets that updates need, in the order of their names. */
const features: readonly (readonly [name: string, needs: Needs])[] = [
  ['InPlacePodLevelResourcesVerticalScaling', (next, before) => !equalJson(next.resources ?? {}, before.resources ?? {})],
  ['InPlacePodVerticalScalingInitContainers', resizesInitContainers],
];

/** Makes the plugin over reads of nodes. */
export function createDeclaredFeatures(nodes: RowReads): AdmissionPlugin {
  return {
    name: 'NodeDeclaredFeatureValidator',
    handles: ({ operation, resource, subresource }) => operation === 'UPDATE' && (subresource === '' || subresource === 'resize')
      && resource.group === '' && resource.plural === 'pods',
    async validate(attributes) {
      const [next, before] = [podSpecOf(attributes.object), podSpecOf(attributes.oldObject)];
      if (!next.nodeName) return;
      const needed = features.filter(([, needs]) => needs(next, before)).map(([name]) => name);
      if (needed.length === 0) return;
      const node = await nodes.find(next.nodeName);
      if (node === undefined) throw refuse(attributes, `node "${next.nodeName}" not found`);
      const { declaredFeatures = [] } = (node['status'] ?? {}) as { readonly declaredFeatures?: readonly string[] };
      const lacking = needed.filter((name) => !declaredFeatures.includes(name));
      if (lacking.length === 0) return;
      throw refuse(attributes, `pod update requires features ${lacking.join(', ')} which are not available on node "${next.nodeName}"`);
    },
  };
}
