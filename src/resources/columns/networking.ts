// Columns of services and what stands behind and before them: endpoints, slices, ingresses, policies, addresses.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import {
  ageColumn, column, formatLabels, formatMembers, nameColumn, readPath, textColumn, textIfSet, textOr, toList, toNumber, toObject, toObjects, toText,
  wideColumn, withNameAndAge,
} from './common.ts';
import { formatSelector } from './selector.ts';

/** Addresses that a load balancer reported: sorted, each once. */
function formatLoadBalancer(status: unknown): string {
  const names = toObjects(readPath(status, 'loadBalancer', 'ingress')).map((ingress) => toText(ingress['ip']) || toText(ingress['hostname']));
  return [...new Set(names.filter((name) => name !== ''))].sort().join(',');
}

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
export const serviceColumns: readonly Column[] = [
  nameColumn,
  textColumn('Type', 'spec', 'type'),
  column('Cluster-IP', (object) => textIfSet(toList(readPath(object, 'spec', 'clusterIPs'))[0], '<none>')),
  column('External-IP', formatExternalIp),
  column('Port(s)', (object) => toObjects(readPath(object, 'spec', 'ports')).map(formatServicePort).join(',') || '<none>'),
  ageColumn,
  wideColumn('Selector', (object) => formatLabels(readPath(object, 'spec', 'selector'))),
];

/** IPv6 addresses stand in brackets before a port. */
function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function formatEndpoints(object: KubeObject): string {
  const subsets = toObjects(object['subsets']);
  if (subsets.length === 0) return '<none>';
  const found = subsets.flatMap((subset) => {
    const hosts = toObjects(subset['addresses']).map((address) => toText(address['ip']));
    const ports = toObjects(subset['ports']).map((port) => toNumber(port['port']));
    return ports.length === 0 ? hosts : ports.flatMap((port) => hosts.map((host) => joinHostPort(host, port)));
  });
  return found.length === 0 ? '' : formatMembers(found);
}

/** Columns of endpoints. */
export const endpointsColumns: readonly Column[] = withNameAndAge(column('Endpoints', formatEndpoints));

function formatSlicePort(port: JsonObject): string {
  return textIfSet(port['port'] ?? port['name'], '*');
}

/** Columns of endpointslices. */
export const endpointSliceColumns: readonly Column[] = withNameAndAge(
  textColumn('AddressType', 'addressType'),
  column('Ports', (object) => formatMembers(toObjects(object['ports']).map(formatSlicePort)) || '<unset>'),
  column('Endpoints', (object) => formatMembers(toObjects(object['endpoints']).flatMap((endpoint) => toList(endpoint['addresses']).map(toText)))),
);

/** The reference counts the rules that are left, with and without host, once it has three names. */
function formatHosts(object: KubeObject): string {
  const rules = toObjects(readPath(object, 'spec', 'rules'));
  const hosts: string[] = [];
  for (const rule of rules) {
    if (hosts.length === 3) return `${hosts.join(',')} + ${rules.length - 3} more...`;
    const host = toText(rule['host']);
    if (host !== '') hosts.push(host);
  }
  return hosts.length === 0 ? '*' : hosts.join(',');
}

/** Columns of ingresses. */
export const ingressColumns: readonly Column[] = withNameAndAge(
  column('Class', (object) => textOr(readPath(object, 'spec', 'ingressClassName'), '<none>')),
  column('Hosts', formatHosts),
  column('Address', (object) => formatLoadBalancer(object['status'])),
  column('Ports', (object) => (toList(readPath(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80')),
);

function formatParameters(object: KubeObject): string {
  const parameters = readPath(object, 'spec', 'parameters');
  if (parameters === undefined || parameters === null) return '<none>';
  const group = readPath(parameters, 'apiGroup');
  return `${toText(readPath(parameters, 'kind'))}${group === undefined ? '' : `.${toText(group)}`}/${toText(readPath(parameters, 'name'))}`;
}

/** Columns of ingressclasses. */
export const ingressClassColumns: readonly Column[] = withNameAndAge(
  textColumn('Controller', 'spec', 'controller'),
  column('Parameters', formatParameters),
);

/** Columns of networkpolicies. */
export const networkPolicyColumns: readonly Column[] = withNameAndAge(
  column('Pod-Selector', (object) => formatSelector(readPath(object, 'spec', 'podSelector'))),
);

function formatParent(object: KubeObject): string {
  const parent = toObject(readPath(object, 'spec', 'parentRef'));
  if (Object.keys(parent).length === 0) return '<none>';
  const group = toText(parent['group']);
  const resource = `${toText(parent['resource'])}${group === '' ? '' : `.${group}`}`.toLowerCase();
  const namespace = toText(parent['namespace']);
  return `${resource}/${namespace === '' ? '' : `${namespace}/`}${toText(parent['name'])}`;
}

/** Columns of ipaddresses; the reference sends their age without declaring a column for it. */
export const ipAddressColumns: readonly Column[] = [nameColumn, column('ParentRef', formatParent), { ...ageColumn, undeclared: true }];

/** Columns of servicecidrs. */
export const serviceCidrColumns: readonly Column[] = withNameAndAge(
  column('CIDRs', (object) => toList(readPath(object, 'spec', 'cidrs')).map(toText).join(',')),
);
