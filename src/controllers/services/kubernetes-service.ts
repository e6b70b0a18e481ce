// The `kubernetes` Service in `default`, with the Endpoints and EndpointSlice that lead to this server.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import {
  type Predicate, type ReflectorListener, WorkQueue, createSystemClient, hasReason, isTerminating, startReflector,
} from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';
import type { EndpointKeeper } from '../identity-lease.ts';

/** Where this server is. */
export interface ServiceAddress {
  /** First address of the Service range. */
  readonly clusterIp: string;
  /** Address and port that reach this server; '' when only this machine does. */
  readonly address: string;
  readonly port: number;
  /** Other servers may use the same store: which of them are there is known elsewhere. */
  readonly isShared: boolean;
  /** Whether endpoints are made; without them only the Service is. */
  readonly hasEndpoints: boolean;
}

const NAME = 'kubernetes';
const NAMESPACE = 'default';
const MANAGER = 'kube-apiserver';
const PORT_NAME = 'https';

/**
 * Makes what keeps the addresses of the Endpoints and the EndpointSlice, where they exist. Nothing takes the last address away, and servers of one store
 * answer on one port: what stands there stays while there are several.
 */
export function createEndpointKeeper(context: ControllerContext, { address, port }: ServiceAddress): EndpointKeeper {
  const endpoints = createSystemClient(context, ['', 'v1', 'endpoints'], MANAGER);
  const slices = createSystemClient(context, ['discovery.k8s.io', 'v1', 'endpointslices'], MANAGER);
  const place = { namespace: NAMESPACE, name: NAME };
  const isOther = (one: unknown, two: unknown): boolean => JSON.stringify(one) !== JSON.stringify(two);
  const choosePorts = <T>(wanted: readonly string[], present: readonly T[] | undefined, own: readonly T[]): readonly T[] =>
    (wanted.length > 1 && present !== undefined && present.length > 0 ? present : own);
  return {
    address,
    async keep(addresses) {
      const wanted = [...new Set(addresses)].filter((one) => one.includes(':') === address.includes(':')).sort();
      if (wanted.length === 0) return;
      await endpoints.update(place, '', (current) => {
        const present = (current['subsets'] ?? []) as readonly { readonly ports?: readonly JsonObject[]; readonly addresses?: readonly { ip: string }[] }[];
        const ports = choosePorts(wanted, present[0]?.ports, [{ name: PORT_NAME, port, protocol: 'TCP' }]);
        const subsets = [{ addresses: wanted.map((ip) => ({ ip })), ports: [...ports] }];
        const seen = present.flatMap((subset) => subset.addresses?.map(({ ip }) => ip) ?? []).sort();
        const known = present[0]?.ports ?? [];
        return isOther(seen, wanted) || isOther(known.map((one) => one['port']), ports.map((one) => one['port'])) ? { ...current, subsets } : current;
      });
      await slices.update(place, '', (current) => {
        const present = (current['endpoints'] ?? []) as readonly { readonly addresses: readonly string[] }[];
        const ports = choosePorts(wanted, current['ports'] as readonly JsonObject[] | undefined, [{ name: PORT_NAME, protocol: 'TCP', port }]);
        const seen = present.flatMap((one) => one.addresses).sort();
        const known = (current['ports'] ?? []) as readonly JsonObject[];
        if (!isOther(seen, wanted) && !isOther(known.map((one) => one['port']), ports.map((one) => one['port']))) return current;
        return { ...current, ports: [...ports], endpoints: wanted.map((one) => ({ addresses: [one], conditions: { ready: true } })) };
      });
    },
  };
}

/** The name and the place of all three objects. */
const ours: Predicate = { everything: false, name: NAME, namespace: NAMESPACE, matches: (object) => object.name === NAME && object.namespace === NAMESPACE };

/** Creates the three objects once `default` exists, and again when one is deleted. */
export function createKubernetesService(context: ControllerContext, where: ServiceAddress): Controller & { readonly onNamespace: ReflectorListener } {
  const keeper = where.hasEndpoints && where.address !== '' && !where.isShared ? createEndpointKeeper(context, where) : undefined;
  const wanted = [
    { client: createSystemClient(context, ['', 'v1', 'services'], MANAGER), make: () => makeService(where) },
    ...(!where.hasEndpoints ? [] : [
      { client: createSystemClient(context, ['', 'v1', 'endpoints'], MANAGER), make: () => makeEndpoints(where) },
      { client: createSystemClient(context, ['discovery.k8s.io', 'v1', 'endpointslices'], MANAGER), make: () => makeEndpointSlice(where) },
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
        // The server may have had another address when it ran before.
        await keeper?.keep([where.address]);
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
      ports: [{ name: PORT_NAME, protocol: 'TCP', port: 443, targetPort: port }],
    },
  };
}

function makeEndpoints({ address, port }: ServiceAddress): KubeObject {
  const subsets = [{ addresses: [{ ip: address }], ports: [{ name: PORT_NAME, port, protocol: 'TCP' }] }];
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
    ports: [{ name: PORT_NAME, port, protocol: 'TCP' }],
  };
}
