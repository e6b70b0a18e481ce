// Where a Service leads to: its external name, an endpoint, or its cluster IP. No proxy may run beside this server, so endpoints come before the
// cluster IP; with `--enable-aggregator-routing` they are all that counts, as in the reference. Texts are those of upstream's service resolvers.
import type { KubeObject } from '../../apimachinery/index.ts';
import { findSlicePort, listReadyEndpoints, listServiceSlices } from '../../controllers/index.ts';
import { type Catalog, type Registry, findKnownObject } from '../../registry/index.ts';

/** What finding addresses needs. */
export interface ServiceReads {
  readonly registry: () => Registry;
  readonly catalog: Pick<Catalog, 'find'>;
  /** Only endpoints are addresses, never the cluster IP. */
  readonly requiresEndpoints: boolean;
}

/** A Service and the port of it that is meant. */
export interface ServiceTarget {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where to connect to. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly externalName?: string;
  readonly ports?: readonly ServicePort[];
}

interface Port {
  readonly name?: string;
  readonly port?: number;
}

interface Endpoints {
  readonly subsets?: readonly { readonly addresses?: readonly { readonly ip: string }[]; readonly ports?: readonly Port[] }[];
}

async function readSpec({ registry, catalog }: ServiceReads, { namespace, name }: ServiceTarget): Promise<ServiceSpec> {
  const resource = catalog.find('', 'v1', 'services');
  const found = resource && await findKnownObject(registry(), { resource, version: 'v1', namespace, name });
  if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  return (found['spec'] ?? {}) as ServiceSpec;
}

const findPort = (ports: readonly Port[] | undefined, wanted: string): number | undefined => ports?.find(({ name = '' }) => name === wanted)?.port;

/** Ready endpoints of a Service, by its EndpointSlices. */
async function listSliceAddresses({ registry, catalog }: ServiceReads, { namespace, name }: ServiceTarget, portName: string): Promise<Address[]> {
  const resource = catalog.find('discovery.k8s.io', 'v1', 'endpointslices');
  if (resource === undefined) return [];
  const slices = await listServiceSlices(registry(), { resource, version: 'v1', namespace }, { service: name, resourceVersion: '0' });
  return slices.flatMap((slice) => {
    const port = findSlicePort(slice, portName)?.port;
    if (port === undefined) return [];
    return listReadyEndpoints(slice).flatMap(({ addresses = [] }) => addresses.slice(0, 1).map((host) => ({ host, port })));
  });
}

/** The same by its Endpoints, which are there without slices where nothing mirrors them. */
async function listEndpointsAddresses({ registry, catalog }: ServiceReads, { namespace, name }: ServiceTarget, portName: string): Promise<Address[]> {
  const resource = catalog.find('', 'v1', 'endpoints');
  if (resource === undefined) return [];
  const found = await findKnownObject(registry(), { resource, version: 'v1', namespace, name }) as (KubeObject & Endpoints) | undefined;
  return (found?.subsets ?? []).flatMap(({ addresses = [], ports }) => {
    const port = findPort(ports, portName);
    return port === undefined ? [] : addresses.map(({ ip }) => ({ host: ip, port }));
  });
}

/** Where a Service leads to; `pick` chooses among several endpoints. Rejects in the words of the reference. */
export async function findServiceAddress(reads: ServiceReads, target: ServiceTarget, pick: (count: number) => number): Promise<Address> {
  const { name, port } = target;
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ports = [] } = await readSpec(reads, target);
  if (type === 'ExternalName') {
    if (reads.requiresEndpoints) throw new Error('unsupported service type "ExternalName"');
    return { host: externalName, port };
  }
  const found = ports.find((each) => each.port === port);
  if (found === undefined) throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  const slices = await listSliceAddresses(reads, target, found.name ?? '');
  const addresses = slices.length > 0 ? slices : await listEndpointsAddresses(reads, target, found.name ?? '');
  const chosen = addresses.length > 0 ? addresses[pick(addresses.length)] : undefined;
  if (chosen !== undefined) return chosen;
  if (reads.requiresEndpoints) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
  if (clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
  if (clusterIP === '') throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
  return { host: clusterIP, port };
}
