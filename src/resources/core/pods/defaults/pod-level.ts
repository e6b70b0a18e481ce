// Defaults of the resources of a pod as a whole, which has them only where its author has stated some: requests are those of all containers together,
// or else the limits; limits of huge pages are those of all containers together.
import type { JsonObject } from '../../../../apimachinery/index.ts';
import { readPointer } from '../../../common/defaults.ts';
import { type Amounts, amountsOf, totalOf } from '../totals.ts';

const isHugePage = (name: string): boolean => name.startsWith('hugepages-');
/** Whether a pod as a whole may have an amount of a resource. */
const isOfPods = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePage(name);

/** Gives the pod, whose containers have their requests, the requests and limits that it lacks as a whole. */
export function applyPodLevelDefaults(spec: JsonObject): void {
  const resources = readPointer(spec, 'resources');
  if (resources === undefined) return;
  const [limits, requests] = [amountsOf(spec, 'limits'), amountsOf(spec, 'requests')];
  if (limits.size === 0 && requests.size === 0) return;
  const counts = [limits.size, requests.size];
  for (const [name, amount] of totalOf(spec, 'limits')) if (isHugePage(name) && !requests.has(name) && !limits.has(name)) limits.set(name, amount);
  if (limits.size > 0) {
    const fallbacks = [...[...totalOf(spec, 'requests')].filter(([name]) => !isHugePage(name)), ...limits];
    for (const [name, amount] of fallbacks) if (isOfPods(name) && !requests.has(name)) requests.set(name, amount);
  }
  if (limits.size === counts[0] && requests.size === counts[1]) return;
  const sorted = (amounts: Amounts): JsonObject => Object.fromEntries([...amounts].sort(([one], [other]) => (one < other ? -1 : 1)));
  spec['resources'] = { ...resources, ...(limits.size > 0 && { limits: sorted(limits) }), ...(requests.size > 0 && { requests: sorted(requests) }) };
}
