// Keys of labels beside a selector of pods: a new pod's selectors gain what its own labels say for them, which schedulers read.
import type { JsonObject, KubeObject } from '../../../apimachinery/index.ts';
import { readPointer, readStructs } from '../../common/defaults.ts';
import { toList, toText } from '../../common/values.ts';

/** Adds a requirement for each key that the pod has a label of. A selector that is absent selects nothing and stays so. */
function extendSelector(holder: JsonObject, field: string, operator: 'In' | 'NotIn', labels: Readonly<Record<string, string>>): void {
  const selector = readPointer(holder, 'labelSelector');
  if (selector === undefined) return;
  const keys = toList(holder[field]).map(toText).filter((key) => Object.hasOwn(labels, key));
  const added = keys.map((key) => ({ key, operator, values: [labels[key] as string] }));
  if (added.length > 0) selector['matchExpressions'] = [...readStructs(selector, 'matchExpressions'), ...added];
}

/** Extends the selectors of a new pod's affinities and spread constraints (upstream's mutatePodAffinity and mutateTopologySpreadConstraints). */
export function applyLabelKeys({ metadata: { labels = {} }, spec }: KubeObject): void {
  const affinity = readPointer(spec, 'affinity');
  for (const one of ['podAffinity', 'podAntiAffinity']) {
    const terms = readPointer(affinity, one);
    const preferred = readStructs(terms, 'preferredDuringSchedulingIgnoredDuringExecution').map((weighted) => readPointer(weighted, 'podAffinityTerm'));
    for (const term of [...preferred, ...readStructs(terms, 'requiredDuringSchedulingIgnoredDuringExecution')]) {
      if (term === undefined) continue;
      extendSelector(term, 'matchLabelKeys', 'In', labels);
      extendSelector(term, 'mismatchLabelKeys', 'NotIn', labels);
    }
  }
  for (const constraint of readStructs(spec, 'topologySpreadConstraints')) extendSelector(constraint, 'matchLabelKeys', 'In', labels);
}
