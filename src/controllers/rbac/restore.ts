// RBAC's objects as these controllers compare them.
import { type KubeObject, equalJson } from '../../apimachinery/index.ts';
import { type PolicyRule, findUncovered, readRules } from '../../auth/index.ts';

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

type Entries = Record<string, string>;

const mergeEntries = (current: Entries | undefined, wanted: Entries | undefined): Entries => ({ ...current, ...wanted });

/** Appends what is missing; what is there stays. */
function mergeSubjects(current: KubeObject, wanted: KubeObject): unknown[] {
  const kept = (current['subjects'] ?? []) as unknown[];
  const missing = ((wanted['subjects'] ?? []) as unknown[]).filter((subject) => !kept.some((one) => equalJson(one, subject)));
  return [...kept, ...missing];
}

function mergeRules(current: KubeObject, wanted: KubeObject): readonly PolicyRule[] {
  return [...readRules(current), ...findUncovered(readRules(current), readRules(wanted))];
}

/** A role or binding of the bootstrap policy with everything that it lost restored; `current` itself when it lost nothing or opted out. */
export function restoreObject(current: KubeObject, wanted: KubeObject): KubeObject {
  if (current.metadata.annotations?.[AUTOUPDATE] === 'false') return current;
  const restored: KubeObject = {
    ...current,
    metadata: {
      ...current.metadata, labels: mergeEntries(current.metadata.labels, wanted.metadata.labels),
      annotations: mergeEntries(current.metadata.annotations, wanted.metadata.annotations),
    },
  };
  if (wanted['aggregationRule'] !== undefined) restored['aggregationRule'] = wanted['aggregationRule'];
  else if (wanted['rules'] !== undefined) restored['rules'] = mergeRules(current, wanted);
  if (wanted['subjects'] !== undefined) restored['subjects'] = mergeSubjects(current, wanted);
  return equalJson(restored, current) ? current : restored;
}

/** Whether a binding grants another role than it should; roleRef cannot be changed, so such a binding is replaced. */
export function grantsOtherRole(current: KubeObject, wanted: KubeObject): boolean {
  return wanted['roleRef'] !== undefined && !equalJson(current['roleRef'], wanted['roleRef']) && current.metadata.annotations?.[AUTOUPDATE] !== 'false';
}

/** Bindings that were split from another one. */
const splitFrom: ReadonlyMap<string, string> = new Map([['system:public-info-viewer', 'system:discovery']]);

/**
 * `wanted` as it is made in a cluster that has the binding it was split from and not the binding itself: with the subjects, labels and annotations
 * of that one, so that a subject which was taken from or given to the one is taken from or given to both. Any other object is returned as it is.
 * `present` has the objects of the row by their keys, `/NAME` for those of no namespace.
 */
export function inheritSubjects(wanted: KubeObject, present: ReadonlyMap<string, KubeObject>): KubeObject {
  const { name = '', namespace } = wanted.metadata;
  const source = wanted['subjects'] === undefined || namespace !== undefined ? undefined : present.get(`/${splitFrom.get(name) ?? ''}`);
  if (source === undefined || present.has(`/${name}`)) return wanted;
  const { labels, annotations } = source.metadata;
  const copy: KubeObject = {
    ...wanted, subjects: source['subjects'] ?? [],
    metadata: { name, ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) },
  };
  return restoreObject(copy, wanted);
}
