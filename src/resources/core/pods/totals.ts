// What all containers of a pod need together, as texts: an amount that is the only one of its name keeps its text, as in the reference.
import {
  type JsonObject, type PodContainers, type ResourceList, addQuantities, compareQuantities, formatQuantity, parseQuantity, sumContainers,
} from '../../../apimachinery/index.ts';
import { readPointer, readStructs } from '../../common/defaults.ts';
import { toObject, toText } from '../../common/values.ts';

/** Quantities, as texts, by the names of resources. */
export type Amounts = Map<string, string>;

const read = (list: unknown): Amounts => new Map(Object.entries(toObject(list)).map(([name, amount]) => [name, toText(amount)]));
const add = (one: string, other: string): string => formatQuantity(addQuantities(parseQuantity(one), parseQuantity(other)));
const compare = (one: string, other: string): number => compareQuantities(parseQuantity(one), parseQuantity(other));

/** The amounts that a pod as a whole has in a list. */
export const amountsOf = (spec: JsonObject, list: ResourceList): Amounts => read(readPointer(spec, 'resources')?.[list]);

/** The amounts that all containers of a pod have in a list together. */
export function totalOf(spec: JsonObject, list: ResourceList): Amounts {
  const [containers, initContainers] = ['containers', 'initContainers'].map((name) => readStructs(spec, name) as PodContainers['containers']);
  return sumContainers({ containers, initContainers }, list, { read, add, compare });
}
