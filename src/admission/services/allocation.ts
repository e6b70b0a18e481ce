// Allocation for Services, as the registry's reserver: cluster IPs and ports of nodes are taken before a Service is stored and given back when
// it is deleted, changes its type, or is not stored after all. Mirrors the order of the reference: families, addresses, ports.
import { type IpRange, type KubeObject, invalid } from '../../apimachinery/index.ts';
import type { Clock, Random } from '../../base/index.ts';
import type { AdmissionAttributes, Reserver } from '../../registry/index.ts';
import { allocateAddresses, canonicalIp } from './allocate-addresses.ts';
import { allocatePorts } from './allocate-ports.ts';
import { carryOver } from './carry-over.ts';
import { resolveFamilies } from './families.ts';
import type { PortRange } from './node-ports.ts';
import { type Claims, createDryClaims } from './pool.ts';
import { Reservation } from './reservation.ts';
import { heldAddresses, heldNodePorts, readSpec, specOf } from './service.ts';

/** What allocation works with. */
export interface ServiceAllocationOptions {
  readonly addresses: Claims;
  readonly ports: Claims;
  /** The ports of nodes that Services get. */
  readonly portRange: PortRange;
  /** The ranges of the cluster; the first one's family is the default. */
  readonly ranges: readonly IpRange[];
  /** The ranges whose ServiceCIDR is ready; none before the cluster's own have one. */
  readonly listRanges: () => Promise<readonly IpRange[]>;
  /** Removes the Endpoints of a Service that is gone, if there are any: a new one of the name must not be met with the addresses of the old one. */
  readonly removeEndpoints: (service: { readonly namespace: string; readonly name: string }) => Promise<void>;
  readonly random: Random;
  readonly clock: Clock;
  /** Whether cluster IPs in forms of older releases are refused (StrictIPCIDRValidation); by default they are. */
  readonly isStrict?: boolean;
}

/**
 * The ranges of the cluster's families that are ready, its own first. One whose ServiceCIDR is being deleted gives no addresses as long as another
 * one of its family does.
 */
function chooseRanges(own: readonly IpRange[], ready: readonly IpRange[]): readonly IpRange[] {
  return own.flatMap((mine) => {
    const ofFamily = ready.filter(({ family }) => family === mine.family);
    const isMine = ({ base, size }: IpRange): boolean => base === mine.base && size === mine.size;
    return ofFamily.length === 0 ? [mine] : [...ofFamily.filter(isMine), ...ofFamily.filter((range) => !isMine(range))];
  });
}

async function allocate(options: ServiceAllocationOptions, attributes: AdmissionAttributes, reservation: Reservation): Promise<void> {
  const { object, oldObject, context } = attributes;
  const spec = specOf(object as KubeObject);
  const before = oldObject === undefined ? undefined : readSpec(oldObject);
  carryOver(spec, before);
  const ranges = chooseRanges(options.ranges, await options.listRanges());
  const configured = options.ranges.map(({ family }) => family);
  const errors = resolveFamilies(spec, { before, configured, ...(options.isStrict === false && { isStrict: false }) });
  if (errors.length > 0) throw invalid({ group: '', kind: 'Service' }, reservation.owner.name, errors);
  const pick = (claims: Claims): Claims => (context.dryRun ? createDryClaims(claims) : claims);
  const { random, clock, portRange } = options;
  await allocateAddresses({ isDry: context.dryRun, spec, before, reservation, claims: pick(options.addresses), ranges, random });
  await allocatePorts({ isDry: context.dryRun, spec, before, reservation, claims: pick(options.ports), random, clock, portRange });
}

/** Makes the reserver. */
export function createServiceAllocation(options: ServiceAllocationOptions): Reserver {
  return {
    holds: ({ group, plural }) => group === '' && plural === 'services',
    async reserve(attributes) {
      const { namespace, object } = attributes;
      const reservation = new Reservation({ namespace, name: object?.metadata.name ?? '' });
      try {
        await allocate(options, attributes, reservation);
      } catch (error) {
        await reservation.settle(false);
        throw error;
      }
      return (written) => reservation.settle(written);
    },
    async release({ metadata: { namespace = '', name = '' }, ...rest }) {
      const spec = readSpec({ metadata: {}, ...rest });
      const owner = { namespace, name };
      await options.removeEndpoints(owner);
      for (const ip of heldAddresses(spec)) await options.addresses.release(canonicalIp(ip), owner);
      for (const port of heldNodePorts(spec)) await options.ports.release(String(port), owner);
    },
  };
}
