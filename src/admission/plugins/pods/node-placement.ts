// Plugins about where pods run: ExtendedResourceToleration, LimitPodHardAntiAffinityTopology and PodTopologyLabels.
import { forbidden } from '../../../apimachinery/index.ts';
import { groupResource } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { writes } from '../../refusal.ts';
import { type Toleration, podSpecOf } from './pod.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const topologyLabels: readonly string[] = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Resources that Kubernetes does not define: their names have a domain of others. */
const isExtended = (name: string): boolean => name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');

/** ExtendedResourceToleration: pods that request an extended resource tolerate the nodes that are set apart for it. */
export function createExtendedResourceToleration(): AdmissionPlugin {
  return {
    name: 'ExtendedResourceToleration',
    handles: (attributes) => writes(attributes, '/pods', ['CREATE', 'UPDATE']),
    mutate({ object }) {
      const spec = podSpecOf(object);
      const containers = [...spec.containers ?? [], ...spec.initContainers ?? []];
      const names = new Set(containers.flatMap(({ resources }) => Object.keys(resources?.requests ?? {})).filter(isExtended));
      const wanted: Toleration[] = [...names].sort().map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
      const isSame = (one: Toleration, two: Toleration): boolean => one.key === two.key && one.effect === two.effect && one.operator === two.operator
        && !one.value;
      const added = wanted.filter((toleration) => !(spec.tolerations ?? []).some((given) => isSame(given, toleration)));
      if (added.length > 0) spec.tolerations = [...spec.tolerations ?? [], ...added];
    },
  };
}

/** LimitPodHardAntiAffinityTopology: pods may keep others away from their node, but not from wider topologies. */
export function createAntiAffinityLimit(): AdmissionPlugin {
  return {
    name: 'LimitPodHardAntiAffinityTopology',
    handles: (attributes) => writes(attributes, '/pods', ['CREATE', 'UPDATE']),
    validate({ object, resource }) {
      const terms = podSpecOf(object).affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      const wide = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
      if (wide === undefined) return;
      const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wide.topologyKey} but only key ${HOSTNAME} is allowed`;
      throw forbidden(groupResource(resource), object?.metadata.name ?? '', why);
    },
  };
}

/** PodTopologyLabels: pods get the zone and the region of their node as labels, when they are bound or created with a node. */
export function createPodTopologyLabels(nodes: RowReads): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    handles: ({ resource, subresource, operation }) =>
      operation === 'CREATE' && resource.group === '' && resource.plural === 'pods' && (subresource === '' || subresource === 'binding'),
    async mutate({ object, subresource }) {
      const target = object?.['target'] as { readonly kind?: string; readonly name?: string } | undefined;
      const name = subresource === '' ? podSpecOf(object).nodeName : target?.kind === 'Node' ? target.name : undefined;
      if (object === undefined || !name) return;
      const labels = (await nodes.find(name))?.metadata.labels ?? {};
      const found = topologyLabels.filter((label) => Object.hasOwn(labels, label)).map((label) => [label, labels[label] as string]);
      if (found.length > 0) object.metadata.labels = { ...object.metadata.labels, ...Object.fromEntries(found) };
    },
  };
}
