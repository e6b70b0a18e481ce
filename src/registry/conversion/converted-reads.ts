// Reads of rows that a remote converter converts: objects are converted before they are returned, and selectors read the converted ones, as
// in the reference, whose caches hold the objects of each version as they were converted.
import type { ListOptions, ListResult, StoredObject, RegistryEvent, RegistryWatch, SelectedParts, Target, WatchOptions } from '../contract.ts';
import type { Core } from '../core.ts';
import { listObjects } from '../verbs/list.ts';
import { convertAhead, convertWatch } from './remote-conversion.ts';
import { everything } from '../reads/predicate.ts';
import { watchObjects } from '../verbs/watch.ts';

/** Labels and selectable fields as selectors read them, of an object in a version. */
function partsOf(object: StoredObject, version: string): SelectedParts {
  const shown = object.object(version);
  return { labels: shown.metadata.labels, fields: Object.values(object.resource.selectableFields).map((read) => read(shown)) };
}

type Test = (object: StoredObject) => boolean;

const anyObject: Test = () => true;

/** The parts of a read's predicate: for the keys, and for objects that have been converted to `version`. */
function splitPredicate({ predicate }: Pick<ListOptions, 'predicate'>, version: string): { keys: ListOptions['predicate']; matches: Test } {
  const { keys, content } = predicate.split?.() ?? { keys: everything, content: undefined };
  return { keys: predicate.split === undefined ? predicate : keys, matches: content === undefined ? anyObject : (object) => content(partsOf(object, version)) };
}

const idOf = ({ namespace, name, revision }: StoredObject): string => `${namespace}/${name}@${revision}`;

/**
 * A list by what objects are converted to: objects that have not been converted are passed over and converted together, and then it is listed
 * again, until all that were looked at had been.
 */
async function listSelected(core: Core, target: Target, { options, matches }: { readonly options: ListOptions; readonly matches: Test }): Promise<ListResult> {
  const converted = new Map<string, StoredObject>();
  for (;;) {
    const missing: StoredObject[] = [];
    const predicate: ListOptions['predicate'] = {
      ...options.predicate, everything: false,
      matches(object) {
        if (!options.predicate.matches(object)) return false;
        const known = converted.get(idOf(object));
        if (known === undefined) missing.push(object);
        return known !== undefined && matches(known);
      },
    };
    const result = await listObjects(core, target, { ...options, predicate });
    if (missing.length === 0) return { ...result, items: [...result.items].map((object) => converted.get(idOf(object)) ?? object) };
    await convertAhead(missing, target.version);
    for (const object of missing) converted.set(idOf(object), object);
  }
}

/** A list in the version of the request. It has no runs, since those would be encoded with neighbours outside the list. */
export async function listReady(core: Core, target: Target, options: ListOptions): Promise<ListResult> {
  if (target.resource.convertRemotely === undefined) return listObjects(core, target, options);
  const { keys, matches } = splitPredicate(options, target.version);
  if (matches !== anyObject) return listSelected(core, target, { options: { ...options, predicate: keys }, matches });
  const result = await listObjects(core, target, options);
  await convertAhead(result.items, target.version);
  const { runs: _runs, ...rest } = result;
  return rest;
}

/** A change as a watch sees it that selects by converted objects. */
function selectEvent(event: RegistryEvent, matches: Test): RegistryEvent | undefined {
  if (event.type === 'BOOKMARK') return event;
  const { type, object, revision, previous } = event;
  if (type !== 'MODIFIED' || previous === undefined) return matches(object) ? event : undefined;
  const matched = matches(previous);
  if (matches(object)) return { type: matched ? 'MODIFIED' : 'ADDED', object, revision };
  return matched ? { type: 'DELETED', object: previous, revision } : undefined;
}

/** A watch with its objects in the version asked for. */
export async function watchReady(core: Core, target: Target, options: WatchOptions): Promise<RegistryWatch> {
  if (target.resource.convertRemotely === undefined) return watchObjects(core, target, options);
  const { keys, matches } = splitPredicate(options, target.version);
  const selects = matches !== anyObject;
  const watch = await watchObjects(core, target, { ...options, predicate: keys, withPrevious: selects });
  return convertWatch(watch, { version: target.version, ...(selects && { select: (event) => selectEvent(event, matches) }) });
}
