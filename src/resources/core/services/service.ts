// core/v1 Service: columns, defaults and warnings. Addresses and ports are allocated by admission before validation.
import { type JsonObject, type KubeObject, forbiddenField, required } from '../../../apimachinery/index.ts';
import type { Column } from '../../../registry/index.ts';
import { ageColumn, column, formatLabels, nameColumn, textColumn, textIfSet, wideColumn } from '../../common/columns/columns.ts';
import { ensureStruct, readPointer, readStructs, setAbsent, setZero } from '../../common/defaults.ts';
import { textFields } from '../../common/selectable-fields.ts';
import { connectSubresource, proxy, status } from '../../common/subresources.ts';
import { type Errors, type Field, at, checkOneOf, each, isEmptyText, isFilled, isGiven, statusOf } from '../../common/validation/check.ts';
import { readPath, toList, toNumber, toObjects, toText } from '../../common/values.ts';
import { warnOfAddress, warnOfRange } from '../../common/warnings/addresses.ts';
import { annotation, warnWith } from '../../common/warnings/warnings.ts';
import type { KindSpec } from '../../kind-spec.ts';
import { checkIngressPoints, formatLoadBalancer, ingressAddresses } from './load-balancer.ts';
import { completeService } from './former-fields.ts';
import { dropTypeDependentFields } from './type-change.ts';
import { validateService, validateServiceUpdate } from './validation.ts';

function formatExternalIp(object: KubeObject): string {
  const external = toList(readPath(object, 'spec', 'externalIPs')).map(toText);
  switch (readPath(object, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.length > 0 ? external.join(',') : '<none>';
    case 'LoadBalancer': {
      const balancer = formatLoadBalancer(object['status']);
      const parts = balancer === '' ? external : [balancer, ...external];
      return parts.length > 0 ? parts.join(',') : '<pending>';
    }
    case 'ExternalName':
      return toText(readPath(object, 'spec', 'externalName'));
    default:
      return '<unknown>';
  }
}

function formatServicePort(port: JsonObject): string {
  const nodePort = toNumber(port['nodePort']);
  return `${toNumber(port['port'])}${nodePort > 0 ? `:${nodePort}` : ''}/${toText(port['protocol'])}`;
}

/** Columns of services. */
const serviceColumns: readonly Column[] = [
  nameColumn,
  textColumn('Type', 'spec', 'type'),
  column('Cluster-IP', (object) => textIfSet(toList(readPath(object, 'spec', 'clusterIPs'))[0], '<none>')),
  column('External-IP', formatExternalIp),
  column('Port(s)', (object) => toObjects(readPath(object, 'spec', 'ports')).map(formatServicePort).join(',') || '<none>'),
  ageColumn,
  wideColumn('Selector', (object) => formatLabels(readPath(object, 'spec', 'selector'))),
];
const serviceFields = textFields('spec.clusterIP', 'spec.type');
const SESSION_TIMEOUT_SECONDS = 10_800;

function applyAffinityDefaults(spec: JsonObject): void {
  setZero(spec, { sessionAffinity: 'None' });
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] !== 'ClientIP') return;
  setAbsent(ensureStruct(ensureStruct(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: SESSION_TIMEOUT_SECONDS });
}

/** Defaults of services; addresses and node ports are allocated by admission. */
function applyServiceDefaults(service: KubeObject): void {
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

/** A Service that is a name of another host has no internalTrafficPolicy; the reference stores it and shows it to no client. */
function dropInternalPolicy(service: KubeObject): void {
  const spec = ensureStruct(service, 'spec');
  if (spec['type'] === 'ExternalName' && ['Cluster', 'Local'].includes(toText(spec['internalTrafficPolicy']))) delete spec['internalTrafficPolicy'];
}

function checkMode(point: Field): Errors {
  const [ip, mode] = [at(point, 'ip'), at(point, 'ipMode')];
  if (!isGiven(mode)) return isEmptyText(ip) ? [] : [required(mode.path, 'must be specified when `ip` is set')];
  return isEmptyText(ip) ? [forbiddenField(mode.path, 'may not be specified when `ip` is not set')] : checkOneOf(mode, ['Proxy', 'VIP']);
}

/** Status of a Service. */
function validateServiceStatus(object: KubeObject, old: KubeObject): Errors {
  const balancer = at(statusOf(object), 'loadBalancer');
  const points = at(balancer, 'ingress');
  if (each(points).length === 0) return [];
  if (readPath(object, 'spec', 'type') !== 'LoadBalancer') return [forbiddenField(points.path, "may only be used when `spec.type` is 'LoadBalancer'")];
  return [...checkIngressPoints(balancer, readPath(old, 'status', 'loadBalancer')), ...each(points).flatMap(checkMode)];
}

const EXTERNAL = 'ExternalName';

function warnOfHeadless(spec: Field): readonly string[] {
  return [
    ...(isFilled(at(spec, 'loadBalancerIP')) ? ['spec.loadBalancerIP is ignored for headless services'] : []),
    ...(toList(at(spec, 'externalIPs').value).length > 0 ? ['spec.externalIPs is ignored for headless services'] : []),
    ...(at(spec, 'sessionAffinity').value === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
  ];
}

/** Warns of members that the type of the service ignores, and of deprecated ones. */
function warnOfService(root: Field): readonly string[] {
  const spec = at(root, 'spec');
  const type = at(spec, 'type').value;
  const isHeadless = type === 'ClusterIP' && at(spec, 'clusterIP').value === 'None';
  const outer = at(spec, 'externalIPs');
  const hasOuter = toList(outer.value).length > 0;
  const hints = 'service.kubernetes.io/topology-aware-hints';
  return [
    ...(annotation(root, hints) === undefined ? [] : [`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`]),
    ...(isHeadless ? warnOfHeadless(spec) : each(at(spec, 'clusterIPs')).flatMap(warnOfAddress)), ...each(outer).flatMap(warnOfAddress),
    ...(hasOuter && !isHeadless && type !== EXTERNAL ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'] : []),
    ...warnOfAddress(at(spec, 'loadBalancerIP')), ...each(at(spec, 'loadBalancerSourceRanges')).flatMap(warnOfRange),
    ...(type === EXTERNAL && hasOuter ? [`spec.externalIPs is ignored when spec.type is "${EXTERNAL}"`] : []),
    ...(type !== EXTERNAL && isFilled(at(spec, 'externalName')) ? [`spec.externalName is ignored when spec.type is not "${EXTERNAL}"`] : []),
    ...(at(spec, 'trafficDistribution').value === 'PreferClose' ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'] : []),
  ];
}

/** The spec of Service. */
export const serviceKind: KindSpec = {
  kind: 'Service', plural: 'services', shortNames: ['svc'], categories: ['all'],
  nameRule: 'dns-label', storagePrefix: 'services/specs',
  createOnUpdate: true, returnsDeleted: true,
  subresources: [connectSubresource('proxy', 'ServiceProxyOptions', proxy), status],
  selectableFields: serviceFields,
  metadataChecks: ['update', 'kind'],
  completeForeign: (service) => completeService(service, 'IPv4'),
  columns: serviceColumns,
  applyDefaults: applyServiceDefaults,
  strategy: {
    prepareForCreate: dropInternalPolicy,
    prepareForUpdate(service, old, { subresource }) {
      if (subresource === '') dropTypeDependentFields(service, old);
      dropInternalPolicy(service);
    },
  },
  validation: { object: validateService, update: validateServiceUpdate, status: validateServiceStatus },
  warnings: warnWith(warnOfService, ingressAddresses),
};
