// A change of the type of a Service drops the fields that the new type cannot have (upstream's dropTypeDependentFields).
import { type JsonObject, type KubeObject, equalJson } from '../../../apimachinery/index.ts';
import { readPointer } from '../../common/defaults.ts';
import { readPath, toObjects } from '../../common/values.ts';

type Need = (spec: JsonObject) => boolean;
const isBalanced: Need = ({ type }) => type === 'LoadBalancer';
const hasAddresses: Need = ({ type }) => type !== 'ExternalName';

const isExternal: Need = ({ type, externalIPs }) =>
  type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && Array.isArray(externalIPs) && externalIPs.length > 0);

/** Fields, and the Services that have them. The fields of a group are dropped together, if the client changes none of them. */
const dependent: readonly (readonly [need: Need, group: readonly string[]])[] = [
  [hasAddresses, ['clusterIP', 'clusterIPs']],
  [hasAddresses, ['ipFamilies', 'ipFamilyPolicy']],
  [(spec) => isBalanced(spec) && spec['externalTrafficPolicy'] === 'Local', ['healthCheckNodePort']],
  [isBalanced, ['allocateLoadBalancerNodePorts']],
  [isBalanced, ['loadBalancerClass']],
  [isExternal, ['externalTrafficPolicy']],
  [hasAddresses, ['internalTrafficPolicy']],
];
const holdsNodePorts: Need = (spec) => spec['type'] === 'NodePort' || isBalanced(spec);
const nodePortsOf = (spec: JsonObject): unknown[] => toObjects(spec['ports']).map((port) => readPath(port, 'nodePort') ?? 0);

/** Drops the fields that the new type does not have, unless the client changes them. */
export function dropTypeDependentFields(service: KubeObject, old: KubeObject): void {
  const [spec, before] = [readPointer(service, 'spec'), readPointer(old, 'spec')];
  if (spec === undefined || before === undefined) return;
  // All needs are evaluated before anything is dropped: some read a field that another group drops.
  const lost = dependent.filter(([need]) => need(before) && !need(spec));
  for (const [, group] of lost) {
    if (!group.every((name) => equalJson(spec[name] ?? null, before[name] ?? null))) continue;
    for (const name of group) delete spec[name];
  }
  const losesPorts = holdsNodePorts(before) && !holdsNodePorts(spec) && equalJson(nodePortsOf(spec), nodePortsOf(before));
  if (losesPorts) for (const port of toObjects(spec['ports'])) delete port['nodePort'];
}
