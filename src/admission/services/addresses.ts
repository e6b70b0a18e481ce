// Addresses of Services. A claim is an IPAddress object named for the address, so that creating it is the lock, as with the reference's
// MultiCIDRServiceAllocator. The ranges are those of the flags and of the ServiceCIDRs that are ready.
import { type IpRange, type KubeObject, formatIpAddress, parseIpAddress, parseIpRange } from '../../apimachinery/index.ts';
import { type Registry, type Resource, createSystemContext, everything, hasReason } from '../../registry/index.ts';
import type { Claims, Owner, Pool } from './pool.ts';

const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family';
const MANAGER_LABEL = 'ipaddress.kubernetes.io/managed-by';
const MANAGER = 'ipallocator.k8s.io';

function makeAddress(name: string, owner: Owner): KubeObject {
  const family = parseIpAddress(name)?.family ?? '';
  return {
    apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', metadata: { name, labels: { [FAMILY_LABEL]: family, [MANAGER_LABEL]: MANAGER } },
    spec: { parentRef: { resource: 'services', namespace: owner.namespace, name: owner.name } },
  };
}

/** The Service that this allocator made an IPAddress for; addresses that other writers made have no owner here. */
const allocatedTo = (address: KubeObject): Owner =>
  (address.metadata.labels?.[MANAGER_LABEL] === MANAGER ? ownerOf(address) : { namespace: '', name: '' });

/** The Service that an IPAddress belongs to. */
function ownerOf(address: KubeObject): Owner {
  const { namespace = '', name = '' } = ((address['spec'] as { parentRef?: Partial<Owner> } | undefined)?.parentRef ?? {});
  return { namespace, name };
}

/** Claims on addresses, over the row of ipaddresses. */
export function createAddressClaims(registry: () => Registry, row: () => Resource): Claims {
  const target = () => ({ resource: row(), version: 'v1', namespace: '' });
  const read = async (name: string): Promise<KubeObject | undefined> => {
    try {
      return (await registry().get({ ...target(), name }, {})).object('v1');
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  return {
    async claim(key, owner) {
      try {
        await registry().create({ ...target(), object: makeAddress(key, owner), context: createSystemContext('kube-apiserver') });
        return true;
      } catch (error) {
        if (hasReason(error, 'AlreadyExists')) return false;
        throw error;
      }
    },
    isTaken: async (key) => (await read(key)) !== undefined,
    async release(key, owner) {
      const found = await read(key);
      const held = found === undefined ? undefined : ownerOf(found);
      if (found === undefined || held?.namespace !== owner.namespace || held.name !== owner.name) return;
      const uid = found.metadata.uid ?? '';
      try {
        await registry().delete({ ...target(), name: key, options: { preconditions: { uid } }, context: createSystemContext('kube-apiserver') });
      } catch (error) {
        if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error;
      }
    },
    async taken() {
      const list = await registry().list(target(), { predicate: everything });
      return new Map(Array.from(list.items, (item) => [item.name, allocatedTo(item.object('v1'))]));
    },
  };
}

/** Larger ranges are used up to here, which is more than a cluster has Services. */
const LARGEST_POOL = 2 ** 31;

/** The addresses of a range that can be given out: all but the network's own address and, of IPv4, the last; a sixteenth (16 to 256) is given out last. */
export function poolOf({ family, base, size }: IpRange): Pool {
  const usable = size - (family === 'IPv4' ? 2n : 1n);
  const count = usable < 0n ? 0 : Number(usable > BigInt(LARGEST_POOL) ? BigInt(LARGEST_POOL) : usable);
  const band = Math.min(Math.max(16, Math.floor(count / 16)), 256);
  return { size: count, reserved: band < count ? band : 0, at: (index) => formatIpAddress({ family, value: base + 1n + BigInt(index) }) };
}

/** The ranges of ServiceCIDRs that say they are ready; read from the cache. */
export async function listReadyRanges(registry: Registry, resource: Resource): Promise<readonly IpRange[]> {
  const list = await registry.list({ resource, version: 'v1', namespace: '' }, { predicate: everything, resourceVersion: '0' });
  return Array.from(list.items, (item) => item.object('v1')).filter(isReady).flatMap((object) => {
    const { cidrs } = (object['spec'] ?? {}) as { cidrs?: readonly string[] | null };
    return (cidrs ?? []).map(parseIpRange).filter((range) => range !== undefined);
  });
}

function isReady(serviceCidr: KubeObject): boolean {
  const { conditions } = (serviceCidr['status'] ?? {}) as { conditions?: readonly { type?: string; status?: string }[] | null };
  return serviceCidr.metadata.deletionTimestamp === undefined && (conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}
