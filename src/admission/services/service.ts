// Services as allocation sees them, and the questions it asks about them.
import type { KubeObject } from '../../apimachinery/index.ts';

/** One port of a Service. */
export interface ServicePort {
  name?: string;
  protocol?: string;
  port?: number;
  nodePort?: number;
}

/** The part of a Service's spec that has to do with addresses and ports. */
export interface ServiceSpec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[] | null;
  ipFamilies?: string[] | null;
  ipFamilyPolicy?: string;
  ports?: ServicePort[] | null;
  selector?: Record<string, string> | null;
  externalTrafficPolicy?: string;
  healthCheckNodePort?: number;
  allocateLoadBalancerNodePorts?: boolean;
}

/** The cluster IP of Services that want none. */
export const HEADLESS = 'None';

/** The spec of a Service, to be read and changed. */
export function specOf(service: KubeObject): ServiceSpec {
  return (service['spec'] ??= {}) as ServiceSpec;
}

/** The spec of a stored Service. Its cluster IP is the first of its cluster IPs, which releases without dual stack did not store. */
export function readSpec(service: KubeObject): ServiceSpec {
  const spec = (service['spec'] ?? {}) as ServiceSpec;
  return spec.clusterIP && !spec.clusterIPs?.length ? { ...spec, clusterIPs: [spec.clusterIP] } : spec;
}

/** The cluster IPs, none where the field is absent. */
export const listIps = (spec: ServiceSpec): readonly string[] => spec.clusterIPs ?? [];
/** The ports, none where the field is absent. */
export const listPorts = (spec: ServiceSpec): readonly ServicePort[] => spec.ports ?? [];
/** Whether the Service has said that it wants no cluster IP. */
export const isHeadless = (spec: ServiceSpec): boolean => listIps(spec).length === 1 && listIps(spec)[0] === HEADLESS;
/** Every type but ExternalName has addresses, if only `None`. */
export const needsClusterIp = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';
/** Ports of nodes are given to the ports of the Service that have none. */
export const needsNodePorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
/** Ports of nodes may be held at all. */
export const mayHoldNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';
/** Whether a port for health checks of nodes is due. */
export const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean => type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
/** Whether two lists hold the same texts in the same order; an absent one is empty. */
export const isSameList = (one: readonly string[] | null | undefined, two: readonly string[] | null | undefined): boolean =>
  (one ?? []).length === (two ?? []).length && (one ?? []).every((item, index) => item === two?.[index]);

/** The addresses that a Service holds. */
export function heldAddresses(spec: ServiceSpec): readonly string[] {
  return needsClusterIp(spec) && !isHeadless(spec) ? listIps(spec).filter((ip) => ip !== '') : [];
}

/** The ports of nodes that the ports of a Service have. */
export const listNodePorts = (spec: ServiceSpec): readonly number[] => listPorts(spec).flatMap(({ nodePort = 0 }) => (nodePort === 0 ? [] : [nodePort]));

/** The ports of nodes that a Service holds, each once. */
export function heldNodePorts(spec: ServiceSpec): readonly number[] {
  if (!mayHoldNodePorts(spec)) return [];
  const health = needsHealthCheck(spec) ? spec.healthCheckNodePort ?? 0 : 0;
  return [...new Set([...listNodePorts(spec), ...(health === 0 ? [] : [health])])];
}
