// Defaults of core kinds that run no pods: services, namespaces, nodes, secrets, limits.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { toList, toObject, toText } from '../columns/common.ts';
import { ensureStruct, mergeMissing, readPointer, readStructs, roundResources, setAbsent, setZero } from './set.ts';

const sessionTimeoutSeconds = 10_800;

function applyAffinityDefaults(spec: JsonObject): void {
  setZero(spec, { sessionAffinity: 'None' });
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] !== 'ClientIP') return;
  setAbsent(ensureStruct(ensureStruct(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: sessionTimeoutSeconds });
}

/** Defaults of services, except what has to be allocated. */
export function applyServiceDefaults(service: KubeObject): void {
  const spec = ensureStruct(service, 'spec');
  applyAffinityDefaults(spec);
  setZero(spec, { type: 'ClusterIP' });
  for (const port of readStructs(spec, 'ports')) {
    setZero(port, { protocol: 'TCP' });
    if (port['port'] !== undefined) setZero(port, { targetPort: port['port'] });
  }
  const type = spec['type'];
  const isExternal = type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && (spec['externalIPs'] as unknown[] | undefined)?.length);
  if (isExternal) setZero(spec, { externalTrafficPolicy: 'Cluster' });
  if (type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP') setAbsent(spec, { internalTrafficPolicy: 'Cluster' });
  if (type !== 'LoadBalancer') return;
  setAbsent(spec, { allocateLoadBalancerNodePorts: true });
  for (const ingress of readStructs(readPointer(readPointer(service, 'status'), 'loadBalancer'), 'ingress')) {
    if (toText(ingress['ip']) !== '') setAbsent(ingress, { ipMode: 'VIP' });
  }
}

/** Defaults of endpoints. */
export function applyEndpointsDefaults(endpoints: KubeObject): void {
  for (const subset of readStructs(endpoints, 'subsets')) {
    for (const port of readStructs(subset, 'ports')) setZero(port, { protocol: 'TCP' });
  }
}

/** Defaults of namespaces: phase, and the label that carries the name. */
export function applyNamespaceDefaults(namespace: KubeObject): void {
  setZero(ensureStruct(namespace, 'status'), { phase: 'Active' });
  labelNamespace(namespace);
}

/** Puts the name into the label that selectors of namespaces rely on. */
export function labelNamespace(namespace: KubeObject): void {
  const { name } = namespace.metadata;
  if (name) namespace.metadata.labels = { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': name };
}

/** The first range and the list of ranges say the same; where they do not, the older field is right. */
function mirrorRanges(spec: JsonObject | undefined): void {
  if (spec === undefined) return;
  const [first] = toList(spec['podCIDRs']);
  const range = toText(spec['podCIDR']);
  if (range === '') {
    if (toText(first) !== '') spec['podCIDR'] = toText(first);
  } else if (first !== range) spec['podCIDRs'] = [range];
}

/** Defaults of nodes: what can be used is what there is. */
export function applyNodeDefaults(node: KubeObject): void {
  mirrorRanges(readPointer(node, 'spec'));
  const status = readPointer(node, 'status');
  if (status === undefined) return;
  roundResources(status, 'capacity', 'allocatable');
  if (readPointer(status, 'capacity') !== undefined && status['allocatable'] === undefined) status['allocatable'] = { ...toObject(status['capacity']) };
}

/** Defaults of secrets; `stringData` is only written: it ends up in `data`. */
export function applySecretDefaults(secret: KubeObject): void {
  if (!secret['type']) secret['type'] = 'Opaque';
  const texts = readPointer(secret, 'stringData');
  if (texts === undefined) return;
  const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(toText(text), 'utf8').toString('base64')]);
  if (encoded.length > 0) secret['data'] = { ...toObject(secret['data']), ...Object.fromEntries(encoded) };
  delete secret['stringData'];
}

/** Defaults of limitranges: limits follow the maximum, requests the limits, then the minimum. */
export function applyLimitRangeDefaults(range: KubeObject): void {
  for (const limit of readStructs(readPointer(range, 'spec'), 'limits')) {
    roundResources(limit, 'max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio');
    if (limit['type'] !== 'Container') continue;
    const limits = mergeMissing(limit['default'], limit['max']);
    const requests = mergeMissing(mergeMissing(limit['defaultRequest'], limits), limit['min']);
    if (Object.keys(limits).length > 0) limit['default'] = limits;
    if (Object.keys(requests).length > 0) limit['defaultRequest'] = requests;
  }
}

/** Defaults of resourcequotas. */
export function applyResourceQuotaDefaults(quota: KubeObject): void {
  roundResources(readPointer(quota, 'spec'), 'hard');
  roundResources(readPointer(quota, 'status'), 'hard', 'used');
}
