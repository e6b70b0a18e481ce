// What differs between two states of an object, field by field, with the managers that held each field. Items of lists are matched as apply
// matches them: by the keys that managed fields show.
import { isJsonObject } from '../../base/index.ts';
import type { KubernetesObject } from '../../client/index.ts';
import type { Change } from './verdict.ts';

type Fields = { readonly [name: string]: Fields };

/** A manager and what it holds at the place that is compared. */
interface Holder {
  readonly manager: string;
  readonly fields: Fields;
}

interface Sides {
  readonly before: unknown;
  readonly after: unknown;
}

interface ListSides {
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

interface ComparedPath {
  readonly path: string;
  /** Holders before, and those of either side: the latter show the keys of lists. */
  readonly holders: readonly Holder[];
  readonly shapes: readonly Fields[];
}

/** The annotation in which kubectl keeps what it has applied. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Fields of metadata that the server keeps. */
const ownMetadata = new Set(['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink', 'deletionTimestamp',
  'deletionGracePeriodSeconds']);

/** The changes from one state to the other. Values of Secrets are not shown. */
export function findChanges(before: KubernetesObject, after: KubernetesObject): Change[] {
  const holders = holdersOf(before);
  const place: ComparedPath = { path: '', holders, shapes: [...holders, ...holdersOf(after)].map(({ fields }) => fields) };
  const changes = [...compare({ before: strip(before), after: strip(after) }, place)];
  return after.kind === 'Secret' ? changes.map(hideValues) : changes;
}

function holdersOf({ metadata }: KubernetesObject): Holder[] {
  const entries = (metadata?.['managedFields'] ?? []) as { readonly manager?: string; readonly fieldsV1?: Fields }[];
  return entries.map(({ manager = '', fieldsV1 = {} }) => ({ manager, fields: fieldsV1 }));
}

/** Without what the server keeps, and without the copy of the manifest that it keeps for client-side apply. */
function strip({ metadata = {}, ...rest }: KubernetesObject): unknown {
  const { [LAST_APPLIED]: _copy, ...annotations } = metadata.annotations ?? {};
  const kept = Object.entries(metadata).filter(([name]) => !ownMetadata.has(name) && name !== 'annotations');
  return { ...rest, metadata: { ...Object.fromEntries(kept), ...(Object.keys(annotations).length > 0 && { annotations }) } };
}

function hideValues(change: Change): Change {
  if (!/^(?:data|stringData)\b/.test(change.path)) return change;
  return { ...change, ...('before' in change && { before: '*** (before)' }), ...('after' in change && { after: '*** (after)' }) };
}


function* compare({ before, after }: Sides, place: ComparedPath): Generator<Change> {
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const path = place.path === '' ? name : /^[A-Za-z_][\w-]*$/.test(name) ? `${place.path}.${name}` : `${place.path}[${name}]`;
      yield* compare({ before: ownOf(before, name), after: ownOf(after, name) }, enter(place, path, `f:${name}`));
    }
  } else if (Array.isArray(before) && Array.isArray(after)) yield* compareLists(before, after, place);
  else if (JSON.stringify(before) !== JSON.stringify(after)) yield describe({ before, after }, place);
}

const ownOf = (map: Record<string, unknown>, name: string): unknown => (Object.hasOwn(map, name) ? map[name] : undefined);

const describe = ({ before, after }: Sides, { path, holders }: ComparedPath): Change => ({
  path, ...(before !== undefined && { before }), ...(after !== undefined && { after }), owners: [...new Set(holders.map(({ manager }) => manager))],
});

function enter({ holders, shapes }: ComparedPath, path: string, segment: string): ComparedPath {
  return {
    path, shapes: shapes.flatMap((fields) => fields[segment] ?? []),
    holders: holders.flatMap(({ manager, fields }) => (fields[segment] === undefined ? [] : [{ manager, fields: fields[segment] }])),
  };
}

function* compareLists(before: readonly unknown[], after: readonly unknown[], place: ComparedPath): Generator<Change> {
  const segment = place.shapes.flatMap((fields) => Object.keys(fields)).find((name) => /^[kv]:/.test(name));
  if (segment?.startsWith('k:') === true) return yield* compareItems({ before, after }, place, Object.keys(JSON.parse(segment.slice(2)) as object));
  if (segment?.startsWith('v:') === true) return yield* compareSets(before, after, place);
  if (before.length !== after.length) {
    yield describe({ before, after }, place);
    return;
  }
  for (const [index, item] of before.entries()) {
    yield* compare({ before: item, after: after[index] }, { ...place, path: `${place.path}[${index}]`, shapes: [] });
  }
}

/** Items with keys, wherever in the list they stand. */
function* compareItems(sides: ListSides, place: ComparedPath, keys: readonly string[]): Generator<Change> {
  const keyOf = (item: unknown): string => JSON.stringify(Object.fromEntries([...keys].sort().map((key) => [key, isJsonObject(item) ? item[key] : undefined])));
  const byKey = (items: readonly unknown[]): Map<string, unknown> => new Map(items.map((item) => [keyOf(item), item]));
  const [before, after] = [byKey(sides.before), byKey(sides.after)];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const shown = Object.entries(JSON.parse(key) as object).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
    yield* compare({ before: before.get(key), after: after.get(key) }, enter(place, `${place.path}[${shown}]`, `k:${key}`));
  }
}

function* compareSets(before: readonly unknown[], after: readonly unknown[], place: ComparedPath): Generator<Change> {
  const [old, now] = [before, after].map((items) => new Set(items.map((item) => JSON.stringify(item)))) as [Set<string>, Set<string>];
  for (const item of new Set([...old, ...now])) {
    if (old.has(item) && now.has(item)) continue;
    const at = enter(place, `${place.path}[=${item}]`, `v:${item}`);
    yield describe({ before: old.has(item) ? JSON.parse(item) : undefined, after: now.has(item) ? JSON.parse(item) : undefined }, at);
  }
}
