// The `kubernetes` Service in `default`, with the Endpoints and EndpointSlice that lead to this server.
import type { KubeObject } from '../../apimachinery/index.ts';
import {
  type Predicate, type ReflectorListener, WorkQueue, createSystemClient, hasReason, isTerminating, startReflector,
} from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';

/** Where this server is. */
export interface ServiceAddress {
  /** First address of the Service range. */
  readonly clusterIp: string;
  /** Address and port that reach this server; '' when only this machine does. */
  readonly address: string;
  readonly port: number;
  /** Whether endpoints are made; without them only the Service is. */
  readonly hasEndpoints: boolean;
}

const NAME = 'kubernetes';
const NAMESPACE = 'default';

/** The name and the place of all three objects. */
const ours: Predicate = { everything: false, name: NAME, namespace: NAMESPACE, matches: (object) => object.name === NAME && object.namespace === NAMESPACE };

/** Creates the three objects once `default` exists, and again when one is deleted. */
export function createKubernetesService(context: ControllerContext, where: ServiceAddress): Controller & { readonly onNamespace: ReflectorListener } {
  const manager = 'kube-apiserver';
  const wanted = [
    { client: createSystemClient(context, ['', 'v1', 'services'], manager), make: () => makeService(where) },
    ...(!where.hasEndpoints ? [] : [
      { client: createSystemClient(context, ['', 'v1', 'endpoints'], manager), make: () => makeEndpoints(where) },
      { client: createSystemClient(context, ['discovery.k8s.io', 'v1', 'endpointslices'], manager), make: () => makeEndpointSlice(where) },
    ]),
  ];
  const { ready, mark } = createReadiness([NAME]);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('kubernetes_service'),
    clock: context.clock,
    concurrency: 1,
    onError: (key, error) => context.report('kubernetes-service', key, error),
    async work() {
      try {
        for (const { client, make } of wanted) {
          if (await client.get({ namespace: NAMESPACE, name: NAME }) === undefined) await client.createIfAbsent(NAMESPACE, make());
        }
      } catch (error) {
        // The namespace comes back, and with it the work.
        if (!isTerminating(error) && !hasReason(error, 'NotFound')) throw error;
      }
      mark(NAME);
    },
  });
  const reflectors = wanted.map(({ client }) => startReflector({
    registry: context.registry, clock: context.clock, target: client.target(''), predicate: ours,
    onChange: (type) => void (type === 'deleted' && queue.add(NAME)), onError: (error) => context.report('kubernetes-service', NAME, error),
  }));
  return {
    ready,
    stop() {
      for (const reflector of reflectors) reflector.stop();
      return queue.stop();
    },
    onNamespace(type, object) {
      if (type === 'present' && object.name === NAMESPACE) queue.add(NAME);
    },
  };
}

function makeService({ clusterIp, port }: ServiceAddress): KubeObject {
  return {
    apiVersion: 'v1', kind: 'Service',
    metadata: { name: NAME, namespace: NAMESPACE, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP', clusterIP: clusterIp, ipFamilyPolicy: 'SingleStack', sessionAffinity: 'None',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
    },
  };
}

function makeEndpoints({ address, port }: ServiceAddress): KubeObject {
  const subsets = [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }];
  return {
    apiVersion: 'v1', kind: 'Endpoints', metadata: { name: NAME, namespace: NAMESPACE, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    ...(address !== '' && { subsets }),
  };
}

function makeEndpointSlice({ address, port }: ServiceAddress): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: NAME, namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': NAME } },
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: address === '' ? [] : [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
}
