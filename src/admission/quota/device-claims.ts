// What a ResourceClaim counts for in a quota: itself, and by class the devices that it may get at most.
import type { KubeObject, Quantity } from '../../apimachinery/index.ts';
import { countOf, oneAmount } from './amounts.ts';
import type { Evaluator } from './evaluator.ts';

interface DeviceRequest {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

/** A request of devices; resource.k8s.io/v1beta1 has no `exactly` around the members of an exact one. */
interface ClaimRequest extends DeviceRequest {
  readonly exactly?: DeviceRequest;
  readonly firstAvailable?: readonly DeviceRequest[];
}

interface ClaimSpec {
  readonly devices?: { readonly requests?: readonly ClaimRequest[] };
}

const COUNT = 'count/resourceclaims.resource.k8s.io';
const CLASS_SUFFIX = '.deviceclass.resource.k8s.io/devices';
/** The most devices that a claim can get. */
const MAX_DEVICES = 32;

/** The devices of a request; all that match may be as many as a claim can get, and unknown modes count for none. */
function countDevices({ allocationMode = 'ExactCount', count = 1 }: DeviceRequest): number {
  if (allocationMode === 'All') return MAX_DEVICES;
  return allocationMode === 'ExactCount' ? count : 0;
}

/** The devices of a request by class: of alternatives, the most that one of them may get of a class. */
function countByClass({ exactly, firstAvailable = [], ...flat }: ClaimRequest): Map<string, number> {
  const most = new Map<string, number>();
  for (const request of firstAvailable.length > 0 ? firstAvailable : [exactly ?? flat]) {
    const { deviceClassName = '' } = request;
    if (deviceClassName !== '') most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, countDevices(request)));
  }
  return most;
}

/** The evaluator of ResourceClaims. */
export const deviceClaimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  matches: (name) => name === COUNT || name.endsWith(CLASS_SUFFIX),
  matchesScope: () => false,
  check: () => undefined,
  usage(claim: KubeObject) {
    const totals = new Map<string, number>();
    for (const request of ((claim['spec'] ?? {}) as ClaimSpec).devices?.requests ?? []) {
      for (const [name, count] of countByClass(request)) totals.set(name, (totals.get(name) ?? 0) + count);
    }
    const usage = new Map<string, Quantity>([[COUNT, oneAmount]]);
    for (const [name, count] of totals) usage.set(`${name}${CLASS_SUFFIX}`, countOf(count));
    return usage;
  },
};
