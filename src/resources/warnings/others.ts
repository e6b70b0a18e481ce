// Warnings about kinds that make no pods.
import { type KubeObject, compareQuantities, parsePem, parseQuantity } from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toText } from '../columns/common.ts';
import { type Field, at, each, isSame } from '../validation/check.ts';
import { warnOfAddress, warnOfRange } from './addresses.ts';
import { warnOfExpressions, warnOfLabel, warnOfLabelMap } from './labels.ts';
import { warnOfOldVolumes } from './pods.ts';

const isGiven = (place: Field): boolean => place.value !== undefined && place.value !== '';
const annotation = (root: Field, key: string): unknown => readPath(root.value, 'metadata', 'annotations', key);
const oldClass = 'volume.beta.kubernetes.io/storage-class';
const tellOldClass = `metadata.annotations[${oldClass}]: deprecated since v1.8; use "storageClassName" attribute instead`;

/** Nodes: members that have been given up. */
export function warnOfNode(root: Field): readonly string[] {
  return [
    ...(isGiven(at(root, 'spec', 'configSource')) ? ['spec.configSource: the feature is removed'] : []),
    ...(isGiven(at(root, 'spec', 'externalID')) ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
  ];
}

/** Persistent volumes: old annotations, recycling, old labels of nodes, old sources. */
export function warnOfVolume(root: Field): readonly string[] {
  const spec = at(root, 'spec');
  const recycled = 'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
  const options = 'volume.beta.kubernetes.io/mount-options';
  const terms = each(at(spec, 'nodeAffinity', 'required', 'nodeSelectorTerms'));
  return [
    ...(annotation(root, oldClass) === undefined ? [] : [tellOldClass]),
    ...(annotation(root, options) === undefined ? [] : [`metadata.annotations[${options}]: deprecated since v1.31; use "mountOptions" attribute instead`]),
    ...(at(spec, 'persistentVolumeReclaimPolicy').value === 'Recycle' ? [`spec.persistentVolumeReclaimPolicy: ${recycled}`] : []),
    ...terms.flatMap((term) => warnOfExpressions(at(term, 'matchExpressions'))),
    ...warnOfOldVolumes(spec),
  ];
}

/** Claims that name their class in an annotation. */
export function warnOfClaimClass(root: Field): readonly string[] {
  return annotation(root, oldClass) === undefined ? [] : [tellOldClass];
}

/** Quotas that let be asked for more than may be used. */
export function warnOfQuota(root: Field): readonly string[] {
  const hard = toObject(readPath(root.value, 'spec', 'hard'));
  const has = (name: string): boolean => typeof hard[name] === 'string';
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const isShort = !has(`requests.${name}`) && (name === 'cpu' || name === 'memory');
    const [request, limit] = [isShort ? name : `requests.${name}`, `limits.${name}`];
    if (!has(request) || !has(limit)) return [];
    const [asked, used] = [toText(hard[request]), toText(hard[limit])];
    if (compareQuantities(parseQuantity(asked), parseQuantity(used)) <= 0) return [];
    return [`ResourceQuota ${request} (${asked}) should be less than ${limit} (${used})`];
  });
}

function decodeText(value: unknown): string {
  try {
    return atob(toText(value));
  } catch {
    return '';
  }
}

/** Secrets for TLS that hold no certificate or no key. */
export function warnOfTlsSecret(root: Field): readonly string[] {
  if (readPath(root.value, 'type') !== 'kubernetes.io/tls') return [];
  const missing = [['tls.crt', 'certificate'], ['tls.key', 'key']].filter(([member]) => {
    return parsePem(decodeText(readPath(root.value, 'data', member as string))).length === 0;
  });
  return missing.slice(0, 1).map(([, what]) => `tls: failed to find any PEM data in ${what as string} input`);
}

const external = 'ExternalName';

function warnOfHeadless(spec: Field): readonly string[] {
  return [
    ...(isGiven(at(spec, 'loadBalancerIP')) ? ['spec.loadBalancerIP is ignored for headless services'] : []),
    ...(toList(at(spec, 'externalIPs').value).length > 0 ? ['spec.externalIPs is ignored for headless services'] : []),
    ...(at(spec, 'sessionAffinity').value === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
  ];
}

/** Services: members that their type ignores, and those that are on their way out. */
export function warnOfService(root: Field): readonly string[] {
  const spec = at(root, 'spec');
  const type = at(spec, 'type').value;
  const isHeadless = type === 'ClusterIP' && at(spec, 'clusterIP').value === 'None';
  const outer = at(spec, 'externalIPs');
  const hasOuter = toList(outer.value).length > 0;
  const hints = 'service.kubernetes.io/topology-aware-hints';
  return [
    ...(annotation(root, hints) === undefined ? [] : [`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`]),
    ...(isHeadless ? warnOfHeadless(spec) : each(at(spec, 'clusterIPs')).flatMap(warnOfAddress)), ...each(outer).flatMap(warnOfAddress),
    ...(hasOuter && !isHeadless && type !== external ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'] : []),
    ...warnOfAddress(at(spec, 'loadBalancerIP')), ...each(at(spec, 'loadBalancerSourceRanges')).flatMap(warnOfRange),
    ...(type === external && hasOuter ? [`spec.externalIPs is ignored when spec.type is "${external}"`] : []),
    ...(type !== external && isGiven(at(spec, 'externalName')) ? [`spec.externalName is ignored when spec.type is not "${external}"`] : []),
    ...(at(spec, 'trafficDistribution').value === 'PreferClose' ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'] : []),
  ];
}

const mountable = 'kubernetes.io/enforce-mountable-secrets';

/** Service accounts that begin to keep secrets from pods the old way. */
export function warnOfAccount(root: Field, old?: KubeObject): readonly string[] {
  const isOld = old?.metadata.annotations?.[mountable] !== undefined;
  if (isOld || annotation(root, mountable) === undefined) return [];
  return [`metadata.annotations[${mountable}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`];
}

/** Indexed jobs that are too large to keep track of. */
export function warnOfJob(spec: Field): readonly string[] {
  const read = (name: string): number => toNumber(at(spec, name).value);
  if (at(spec, 'completionMode').value !== 'Indexed' || read('completions') <= 100_000 || read('parallelism') <= 10_000) return [];
  return [`${spec.path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, `
    + 'Kubernetes might not be able to track completedIndexes when a big number of indexes fail'];
}

/** Schedules with a time zone of their own. */
export function warnOfSchedule(root: Field): readonly string[] {
  if (!toText(readPath(root.value, 'spec', 'schedule')).includes('TZ')) return [];
  return ['cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see '
    + 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'];
}

const ownSlices = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

/** Endpoint slices: names for addresses, and addresses in odd forms unless a controller wrote them. */
export function warnOfSlice(root: Field, old?: KubeObject): readonly string[] {
  const isNamed = old === undefined && readPath(root.value, 'addressType') === 'FQDN';
  const isOwn = ownSlices.includes(toText(readPath(root.value, 'metadata', 'labels', 'endpointslice.kubernetes.io/managed-by')));
  const addresses = isOwn ? [] : each(at(root, 'endpoints')).flatMap((endpoint) => each(at(endpoint, 'addresses')));
  return [...(isNamed ? ['spec.addressType: FQDN endpoints are deprecated'] : []), ...addresses.flatMap(warnOfAddress)];
}

const ingressClass = 'kubernetes.io/ingress.class';

/** New ingresses that name their class in an annotation. */
export function warnOfIngressClass(root: Field): readonly string[] {
  if (annotation(root, ingressClass) === undefined || readPath(root.value, 'spec', 'ingressClassName') !== undefined) return [];
  return [`annotation "${ingressClass}" is deprecated, please use 'spec.ingressClassName' instead`];
}

/** Network policies: ranges in odd forms. */
export function warnOfPolicy(root: Field): readonly string[] {
  return [['ingress', 'from'], ['egress', 'to']].flatMap(([rules, peers]) => each(at(root, 'spec', rules as string)).flatMap((rule) => {
    const blocks = each(at(rule, peers as string)).map((peer) => at(peer, 'ipBlock'));
    return blocks.flatMap((block) => [...warnOfRange(at(block, 'cidr')), ...each(at(block, 'except')).flatMap(warnOfRange)]);
  }));
}

/** Runtime classes that select nodes by old labels. */
export const warnOfRuntimeClass = (root: Field): readonly string[] =>
  warnOfLabelMap(at(root, 'scheduling', 'nodeSelector'), () => 'scheduling.nodeSelector');

/** Resource slices of drivers with capitals. */
export function warnOfDriver(root: Field): readonly string[] {
  const driver = toText(readPath(root.value, 'spec', 'driver'));
  return driver === driver.toLowerCase() ? [] : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
}

/** Drivers that ask for tokens where logs may show them. */
export function warnOfTokens(root: Field, old?: KubeObject): readonly string[] {
  const tokens = at(root, 'spec', 'tokenRequests').value;
  const isNew = old === undefined || !isSame(tokens ?? null, readPath(old, 'spec', 'tokenRequests') ?? null);
  if (!isNew || toList(tokens).length === 0 || at(root, 'spec', 'serviceAccountTokenInSecrets').value !== undefined) return [];
  return ['spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in '
    + 'volume attributes'];
}

/** Storage capacities that are told of nodes by old labels. */
export function warnOfTopology(root: Field): readonly string[] {
  const topology = at(root, 'nodeTopology');
  return [
    ...warnOfExpressions(at(topology, 'matchExpressions')),
    ...warnOfLabelMap(at(topology, 'matchLabels'), (key) => `${topology.path}.matchLabels.${key}`),
  ];
}

/** Storage classes that select nodes by old labels. */
export function warnOfTopologies(root: Field): readonly string[] {
  return each(at(root, 'allowedTopologies')).flatMap((topology) => {
    return each(at(topology, 'matchLabelExpressions')).flatMap((expression) => warnOfLabel(at(expression, 'key'), false));
  });
}
