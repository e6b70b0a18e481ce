// The `kubernetes` Service in `default`, with the Endpoints and EndpointSlice that lead to this server.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type ReflectorListener, WorkQueue, createSystemClient } from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';

/** Where this server is. */
export interface ServiceAddress {
  /** First address of the Service range. */
  readonly clusterIp: string;
  /** Address and port that reach this server; '' when only this machine does. */
  readonly address: string;
  readonly port: number;
}

const name = 'kubernetes';
const namespace = 'default';

/** Creates the three objects once `default` is there, and again after somebody removed them and the server restarted. */
export function createKubernetesService(context: ControllerContext, where: ServiceAddress): Controller & { readonly onNamespace: ReflectorListener } {
  const manager = 'kube-apiserver';
  const wanted = [
    { client: createSystemClient(context, ['', 'v1', 'services'], manager), make: () => makeService(where) },
    { client: createSystemClient(context, ['', 'v1', 'endpoints'], manager), make: () => makeEndpoints(where) },
    { client: createSystemClient(context, ['discovery.k8s.io', 'v1', 'endpointslices'], manager), make: () => makeEndpointSlice(where) },
  ];
  const { ready, mark } = createReadiness([name]);
  const queue = new WorkQueue({
    clock: context.clock,
    concurrency: 1,
    onError: (key, error) => context.report('kubernetes-service', key, error),
    async work() {
      for (const { client, make } of wanted) {
        if (await client.get({ namespace, name }) === undefined) await client.createIfAbsent(namespace, make());
      }
      mark(name);
    },
  });
  return {
    ready,
    stop: () => queue.stop(),
    onNamespace(type, object) {
      if (type === 'present' && object.name === namespace) queue.add(name);
    },
  };
}

function makeService({ clusterIp, port }: ServiceAddress): KubeObject {
  return {
    apiVersion: 'v1', kind: 'Service',
    metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP', clusterIP: clusterIp, ipFamilyPolicy: 'SingleStack', sessionAffinity: 'None',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
    },
  };
}

function makeEndpoints({ address, port }: ServiceAddress): KubeObject {
  const subsets = [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }];
  return {
    apiVersion: 'v1', kind: 'Endpoints', metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    ...(address !== '' && { subsets }),
  };
}

function makeEndpointSlice({ address, port }: ServiceAddress): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: address === '' ? [] : [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
}
