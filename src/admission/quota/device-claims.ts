// What a ResourceClaim counts for in a quota: itself, and by class the devices that it may get at most, under the name of the class and those of the
// extended resources that the class stands for. The scheduler makes a claim for the extended resources of a pod: what the pod counts for is taken off.
import type { KubeObject, Quantity } from '../../apimachinery/index.ts';
import { type Clock, createTimeSlice } from '../../base/index.ts';
import type { RowReads } from '../reads.ts';
import { type Amounts, countOf, dropZeros, oneAmount, subtractAmounts } from './amounts.ts';
import type { Evaluator } from './evaluator.ts';
import { IMPLICIT_PREFIX, REQUESTS_PREFIX, isExtendedRequest, podEvaluator } from './pods.ts';

/** What claims are measured by besides themselves. */
export interface DeviceReads {
  readonly classes: RowReads;
  readonly claims: RowReads;
  readonly pods: RowReads;
  readonly clock: Clock;
}

/** Longest that pods are looked up before others have their turn. */
const SLICE_MS = 10;

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

/** The devices of a claim by class. */
function countDevicesOf(claim: KubeObject): Map<string, number> {
  const totals = new Map<string, number>();
  for (const request of ((claim['spec'] ?? {}) as ClaimSpec).devices?.requests ?? []) {
    for (const [name, count] of countByClass(request)) totals.set(name, (totals.get(name) ?? 0) + count);
  }
  return totals;
}

function usageOf(devices: ReadonlyMap<string, number>): Map<string, Quantity> {
  const usage = new Map<string, Quantity>([[COUNT, oneAmount]]);
  for (const [name, count] of devices) usage.set(`${name}${CLASS_SUFFIX}`, countOf(count));
  return usage;
}

const isOfClaims = (name: string): boolean => name === COUNT || name.endsWith(CLASS_SUFFIX);

/** The evaluator of ResourceClaims where classes stand for no extended resources. */
export const deviceClaimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  matches: isOfClaims,
  matchesScope: () => false,
  check: () => undefined,
  usage: (claim) => usageOf(countDevicesOf(claim)),
};

/** The evaluator of ResourceClaims where classes stand for extended resources: each count begins with the classes of that moment. */
export function createDeviceClaimEvaluator(reads: DeviceReads): Evaluator {
  return {
    ...deviceClaimEvaluator,
    matches: (name) => isOfClaims(name) || isExtendedRequest(name),
    current: async (namespace, objects) => {
      const [classes, ofPods] = [readClasses(await reads.classes.list()), await readPodUsage(reads, namespace, objects)];
      return {
        ...deviceClaimEvaluator,
        matches: (name) => isOfClaims(name) || (isExtendedRequest(name) && classes.names.has(name)),
        usage(claim) {
          const devices = countDevicesOf(claim);
          const ofPod = ofPods.get(madeFor(claim)) ?? noAmounts;
          return new Map([...usageOf(devices), ...dropZeros(subtractAmounts(extendedUsage(devices, classes.extended), ofPod))]);
        },
      };
    },
  };
}

const noAmounts: Amounts = new Map();

interface Classes {
  /** The extended resource that a class names. */
  readonly extended: ReadonlyMap<string, string>;
  /** The names under which quotas limit the extended resources of the classes. */
  readonly names: ReadonlySet<string>;
}

function readClasses(objects: readonly KubeObject[]): Classes {
  const extended = new Map<string, string>();
  const names = new Set<string>();
  for (const object of objects) {
    const { name = '' } = object.metadata;
    const { extendedResourceName } = (object['spec'] ?? {}) as { readonly extendedResourceName?: string };
    names.add(`${REQUESTS_PREFIX}${IMPLICIT_PREFIX}${name}`);
    if (extendedResourceName === undefined) continue;
    extended.set(name, extendedResourceName);
    names.add(`${REQUESTS_PREFIX}${extendedResourceName}`);
  }
  return { extended, names };
}

/** The devices under the names of extended resources: the one that each class has by its own name, and the one that it names. */
function extendedUsage(devices: ReadonlyMap<string, number>, extended: ReadonlyMap<string, string>): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  for (const [name, count] of devices) {
    usage.set(`${REQUESTS_PREFIX}${IMPLICIT_PREFIX}${name}`, countOf(count));
    const named = extended.get(name);
    if (named !== undefined) usage.set(`${REQUESTS_PREFIX}${named}`, countOf(count));
  }
  return usage;
}

const EXTENDED_CLAIM = 'resource.kubernetes.io/extended-resource-claim';

interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** The pod for whose extended resources the scheduler made a claim. */
function ownerOf({ metadata: { annotations, ownerReferences = [] } }: KubeObject): Owner | undefined {
  if (annotations?.[EXTENDED_CLAIM] !== 'true') return undefined;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return owner?.kind === 'Pod' && owner.apiVersion === 'v1' ? owner : undefined;
}

/** What a claim is and which pod it is made for, as a key: an update can change the pod, or make it a claim of no pod (''). */
function madeFor(claim: KubeObject): string {
  const owner = ownerOf(claim);
  return owner === undefined ? '' : `${owner.uid}/${claim.metadata.name ?? ''}`;
}

/** By claim and pod, what the pod counts for whose extended resources the claim is made for; of all claims of a namespace unless some are given. */
async function readPodUsage(reads: DeviceReads, namespace: string, given: readonly KubeObject[] | undefined): Promise<Map<string, Amounts>> {
  const usage = new Map<string, Amounts>();
  const claims = given ?? await reads.claims.list(namespace);
  const firstOfAll = given === undefined ? firstClaims(claims) : undefined;
  const pause = createTimeSlice(reads.clock, SLICE_MS);
  for (const claim of claims) {
    const owner = ownerOf(claim);
    if (owner === undefined) continue;
    const turn = pause();
    if (turn !== undefined) await turn;
    const pod = await reads.pods.find(owner.name, namespace);
    if (pod === undefined || pod.metadata.uid !== owner.uid) continue;
    const first = firstOfAll ?? firstClaims(await reads.claims.list(namespace, owner.uid));
    if (!isClaimOf(pod, claim, first.get(owner.uid))) continue;
    usage.set(madeFor(claim), podEvaluator.usage(pod, reads.clock.now()));
  }
  return usage;
}

/** Whether one claim was made before another. */
const isBefore = ({ metadata: one }: KubeObject, { metadata: two }: KubeObject): boolean => {
  const [oneTime, twoTime] = [one.creationTimestamp ?? '', two.creationTimestamp ?? ''];
  return oneTime === twoTime ? (one.name ?? '') < (two.name ?? '') : oneTime < twoTime;
};

/** By uid of the pod, the first of the claims for its extended resources. */
function firstClaims(claims: readonly KubeObject[]): Map<string, KubeObject> {
  const first = new Map<string, KubeObject>();
  for (const claim of claims) {
    const owner = ownerOf(claim);
    if (owner === undefined) continue;
    const known = first.get(owner.uid);
    if (known === undefined || isBefore(claim, known)) first.set(owner.uid, claim);
  }
  return first;
}

/** Whether a claim is the one of its pod: the one that the pod names, else the first of those that it owns. */
function isClaimOf(pod: KubeObject, claim: KubeObject, first: KubeObject | undefined): boolean {
  const { extendedResourceClaimStatus: named } = (pod['status'] ?? {}) as { readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string } };
  if (named !== undefined) return named.resourceClaimName === claim.metadata.name;
  return first === undefined || !isBefore(first, claim);
}
