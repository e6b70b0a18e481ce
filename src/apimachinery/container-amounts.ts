// What the containers of a pod request, or are limited to, together: for the defaults and the validation of pods, and for admission.
// Mirrors upstream's AggregateContainerRequests and AggregateContainerLimits.

/** The two lists that resources have. */
export type ResourceList = 'limits' | 'requests';

/** The part of a container that counts. */
interface Container {
  readonly resources?: { readonly [list in ResourceList]?: unknown } | null;
  readonly restartPolicy?: unknown;
}

/** The part of a pod's spec that counts. */
export interface PodContainers {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[] | null;
}

/** How amounts are read, by the names of resources, from a list of a container; added; and compared: above zero where the first is more. */
interface Arithmetic<Amount> {
  readonly read: (list: unknown) => ReadonlyMap<string, Amount>;
  readonly add: (one: Amount, other: Amount) => Amount;
  readonly compare: (one: Amount, other: Amount) => number;
}

/** Changes a sum in place: a name that is in both has what `join` makes of the two. */
export function joinInto<Amount>(sum: Map<string, Amount>, amounts: ReadonlyMap<string, Amount>, join: (one: Amount, other: Amount) => Amount): void {
  for (const [name, amount] of amounts) {
    const known = sum.get(name);
    sum.set(name, known === undefined ? amount : join(known, amount));
  }
}

/**
 * The amounts of the containers that run side by side, which some init containers (sidecars) do, or those of an init container beside the sidecars
 * before it, whichever are more. Of an init container its own resources are looked at: what the sidecars have beside it is not more than what runs
 * in the end. Sums grow in place: a pod may have tens of thousands of containers, each with a resource of its own.
 */
export function sumContainers<Amount>(
  { containers, initContainers }: PodContainers, list: ResourceList, { read, add, compare }: Arithmetic<Amount>,
): Map<string, Amount> {
  const raise = (one: Amount, other: Amount): Amount => (compare(other, one) > 0 ? other : one);
  const total = new Map<string, Amount>();
  const sidecars = new Map<string, Amount>();
  const peak = new Map<string, Amount>();
  for (const { resources } of containers ?? []) joinInto(total, read(resources?.[list]), add);
  for (const { resources, restartPolicy } of initContainers ?? []) {
    const own = read(resources?.[list]);
    if (restartPolicy === 'Always') {
      joinInto(total, own, add);
      joinInto(sidecars, own, add);
    } else {
      joinInto(peak, new Map(Array.from(own, ([name, amount]) => [name, addKnown(amount, sidecars.get(name), add)])), raise);
    }
  }
  joinInto(total, peak, raise);
  return total;
}

const addKnown = <Amount>(amount: Amount, more: Amount | undefined, add: (one: Amount, other: Amount) => Amount): Amount =>
  (more === undefined ? amount : add(amount, more));
