// Where the proxy of a Service leads to: an address of its Endpoints that is a pod's own, on the port that is named. Mirrors the reference's
// ResourceLocation: numbers are ports of the Service, names are ports of the endpoints, and addresses without a pod are passed over.
import { type KubeObject, badRequest, notFound, serviceUnavailable } from '../../apimachinery/index.ts';
import { type Catalog, type Registry, type Target, findCurrent } from '../../registry/index.ts';

interface EndpointAddress {
  readonly ip: string;
  readonly targetRef?: { readonly namespace?: string; readonly name?: string };
}

interface Subset {
  readonly addresses?: readonly EndpointAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

/** An address to connect to. */
interface Endpoint {
  readonly host: string;
  readonly port: string;
}

/** What the choice is made of. */
export interface EndpointReads {
  readonly registry: Registry;
  readonly catalog: Catalog;
  /** A number below `count`. */
  readonly pick: (count: number) => number;
}

/** A Service's port as a path names it. */
interface ServicePort {
  readonly name: string;
  /** A number or a name. */
  readonly port: string;
  /** The whole of what the path says, for messages. */
  readonly id: string;
}

async function namePort({ registry }: EndpointReads, target: Target, { name, port }: ServicePort): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const service = (await registry.get({ ...target, name }, {})).object(target.version);
  const { ports = [] } = (service['spec'] ?? {}) as { ports?: readonly { readonly name?: string; readonly port: number }[] };
  const found = ports.find((each) => each.port === Number(port));
  if (found === undefined) throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
  return found.name ?? '';
}

/** Whether an address belongs to a pod of the namespace that has it. */
async function isPodAddress({ registry, catalog }: EndpointReads, target: Target, { ip, targetRef }: EndpointAddress): Promise<boolean> {
  const resource = catalog.find('', target.version, 'pods');
  if (resource === undefined || targetRef?.name === undefined || targetRef.namespace !== target.namespace) return false;
  const pod = (await findCurrent(registry, { ...target, resource, name: targetRef.name }))?.object(target.version);
  const { podIPs = [] } = (pod?.['status'] ?? {}) as { podIPs?: readonly { readonly ip: string }[] };
  return podIPs.some((each) => each.ip === ip);
}

const rotate = <T>(items: readonly T[], by: number): T[] => [...items.slice(by), ...items.slice(0, by)];

async function readSubsets({ registry, catalog }: EndpointReads, target: Target, name: string): Promise<readonly Subset[]> {
  const resource = catalog.find('', target.version, 'endpoints');
  const found = resource && await findCurrent(registry, { ...target, resource, name });
  // As in the reference, it is the Service that is said not to be there.
  if (found === undefined) throw notFound({ group: '', resource: 'services' }, name);
  return (found.object(target.version) as KubeObject & { subsets?: readonly Subset[] }).subsets ?? [];
}

/** An endpoint of a Service; throws the reference's 503 when there is none. */
export async function chooseEndpoint(reads: EndpointReads, target: Target, wanted: ServicePort): Promise<Endpoint> {
  if (wanted.name === '') throw badRequest(`invalid service request ${JSON.stringify(wanted.id)}`);
  const portName = await namePort(reads, target, wanted);
  const subsets = await readSubsets(reads, target, wanted.name);
  if (subsets.length === 0) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(wanted.name)}`);
  for (const { addresses = [], ports = [] } of rotate(subsets, reads.pick(subsets.length))) {
    const port = ports.find(({ name = '' }) => name === portName);
    if (port === undefined || addresses.length === 0) continue;
    for (const address of rotate(addresses, reads.pick(addresses.length))) {
      if (await isPodAddress(reads, target, address)) return { host: address.ip, port: String(port.port) };
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(wanted.id)}`);
}
