// What all containers of a pod need together.
import { type JsonObject, addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../../apimachinery/index.ts';
import { readPointer, readStructs } from '../../common/defaults.ts';
import { toObject, toText } from '../../common/values.ts';

/** Quantities, as texts, by the names of resources. */
export type Amounts = Map<string, string>;
/** The two lists that resources have. */
export type ResourceList = 'limits' | 'requests';

/** The amounts that a container, or a pod as a whole, has in a list. */
export const amountsOf = (holder: JsonObject, list: ResourceList): Amounts =>
  new Map(Object.entries(toObject(readPointer(holder, 'resources')?.[list])).map(([name, amount]) => [name, toText(amount)]));

function add(sum: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = sum.get(name);
    sum.set(name, known === undefined ? amount : formatQuantity(addQuantities(parseQuantity(known), parseQuantity(amount))));
  }
}

function raise(most: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const known = most.get(name);
    if (known === undefined || compareQuantities(parseQuantity(amount), parseQuantity(known)) > 0) most.set(name, amount);
  }
}

/**
 * The amounts that run side by side, or those of an init container beside the sidecars before it, whichever are more. Of an init container its own
 * resources are looked at: what the sidecars have beside it is not more than what runs in the end.
 */
export function totalOf(spec: JsonObject, list: ResourceList): Amounts {
  const total: Amounts = new Map();
  const sidecars: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of readStructs(spec, 'containers')) add(total, amountsOf(container, list));
  for (const container of readStructs(spec, 'initContainers')) {
    const own = amountsOf(container, list);
    if (container['restartPolicy'] === 'Always') {
      add(total, own);
      add(sidecars, own);
    } else {
      const before = new Map([...own].flatMap(([name]) => (sidecars.has(name) ? [[name, sidecars.get(name) as string] as const] : [])));
      add(own, before);
      raise(peak, own);
    }
  }
  raise(total, peak);
  return total;
}
