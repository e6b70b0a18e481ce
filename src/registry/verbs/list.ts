// Lists: a snapshot and a predicate. Which snapshot is the matrix of resourceVersion, resourceVersionMatch, limit and continue:
//
//                      unset         "0"        N, no match   N, Exact   N, NotOlderThan   continue token
//   no limit           most recent   any        ≥ N           N          ≥ N               the token's (410 when it is gone)
//   limit              most recent   any, all   N             N          ≥ N               the token's
import { tooLargeResourceVersion, badRequest } from '../../apimachinery/index.ts';
import type { Snapshot } from '../../cache/index.ts';
import { type KeyRange, keyRange, prefixRange } from '../../storage/index.ts';
import type { ListOptions, ListResult, Predicate, Target } from '../contract.ts';
import { type ContinuePosition, decodeContinue, encodeContinue } from '../reads/continue.ts';
import { type Core, type RequestScope, FRESHNESS_LIMIT_MS } from '../core.ts';
import { expiredContinue, expiredRevision } from '../errors.ts';
import { awaitRevision } from './get.ts';
import { collectionPrefix, readRange } from '../objects/keys.ts';
import type { StoredRevision } from '../objects/stored-object.ts';
import { listProblems, listVersionError, parseResourceVersion, refuseOptions } from '../options.ts';
import { type Page, pageOfSnapshot, pageOfStore } from '../reads/page.ts';

/** A list that is about to be read. */
interface Query {
  readonly scope: RequestScope;
  readonly predicate: Predicate;
  /** Prefix of the list, to which continue tokens are relative. */
  readonly prefix: string;
  readonly range: KeyRange;
  readonly limit: number;
  readonly position: ContinuePosition | undefined;
}

interface Plan {
  readonly options: ListOptions;
  readonly view: View;
  readonly position: ContinuePosition | undefined;
}

/** Which state to read: the newest, any, one not older than, or exactly one. */
type View =
  | { readonly type: 'recent' }
  | { readonly type: 'any' }
  | { readonly type: 'notOlderThan' | 'exact'; readonly revision: number; readonly text: string };

function chooseView(target: Target, options: ListOptions, position: ContinuePosition | undefined): View {
  const text = options.resourceVersion ?? '';
  if (position !== undefined) {
    if (text !== '' && text !== '0') throw badRequest('specifying resource version is not allowed when using continue');
    return position.revision > 0 ? { type: 'exact', revision: position.revision, text: String(position.revision) } : { type: 'recent' };
  }
  const revision = parseResourceVersion(text, listVersionError);
  if (revision === undefined) return { type: 'recent' };
  if (revision === 0) return { type: 'any' };
  const isLimited = (options.limit ?? 0) > 0 && nameOf(target, options.predicate) === undefined;
  const exact = options.resourceVersionMatch === 'Exact' || (!options.resourceVersionMatch && isLimited);
  return { type: exact ? 'exact' : 'notOlderThan', revision, text };
}

/** The one object that a list is of. The reference reads it as such, and takes no notice of the limit. */
export function nameOf({ resource, namespace }: Target, predicate: Predicate): string | undefined {
  return !resource.namespaced || (namespace || predicate.namespace) ? predicate.name : undefined;
}

function makeQuery(core: Core, scope: RequestScope, { options, view, position }: Plan): Query {
  const { target, storage } = scope;
  const { predicate } = options;
  const namespace = target.namespace === '' && predicate.namespace !== undefined ? predicate.namespace : target.namespace;
  const prefix = collectionPrefix(core.root, storage.resource, target.namespace);
  const narrowed = collectionPrefix(core.root, storage.resource, namespace);
  const name = nameOf(target, predicate);
  const range = position === undefined ? readRange(narrowed, name) : { start: prefix + position.start, end: prefixRange(prefix).end };
  // Any state is served whole: the reference ignores the limit there, but for events, which it does not keep in memory.
  const limitsAny = core.options.limitsAnyState === true || target.resource.ttlSeconds !== undefined;
  const isWhole = (view.type === 'any' && !limitsAny) || name !== undefined;
  const limit = isWhole ? 0 : Math.max(0, options.limit ?? 0);
  return { scope, predicate, prefix, range, limit, position };
}

async function readPage(core: Core, query: Query, view: View): Promise<Page> {
  const { storage } = query.scope;
  const { cache, observer } = storage;
  if (view.type === 'recent') {
    const isCurrent = await cache.waitUntilCurrent(FRESHNESS_LIMIT_MS);
    if (!isCurrent) await core.assureStore(storage);
    observer?.readConsistently(!isCurrent);
    if (!isCurrent) return readStorePage(core, query, undefined);
  } else if (view.type !== 'any') await awaitRevision(query.scope, view.revision, view.text);
  if (view.type !== 'exact') return readSnapshot(core, query, { snapshot: cache.latest(), revision: Math.max(cache.latest().revision, cache.revision) });
  const snapshot = (await isCompacted(core, query, view.revision)) ? undefined : cache.at(view.revision);
  return snapshot === undefined ? readStorePage(core, query, view.revision) : readSnapshot(core, query, { snapshot, revision: view.revision });
}

async function readSnapshot(
  core: Core, query: Query, { snapshot, revision }: { readonly snapshot: Snapshot<StoredRevision>; readonly revision: number },
): Promise<Page> {
  const page = await core.readInSlices(pageOfSnapshot(snapshot, query, revision));
  query.scope.storage.observer?.listed('cache', { ...page.read, returned: page.count });
  return page;
}

/** The past ends with the store's compaction, as in the reference, though memory may reach back further. */
async function isCompacted(core: Core, { scope: { storage }, prefix }: Query, revision: number): Promise<boolean> {
  if (revision >= storage.cache.revision) return false;
  return (await core.store.range({ ...keyRange(prefix), revision, countOnly: true })).type === 'compacted';
}

async function readStorePage(core: Core, query: Query, revision: number | undefined): Promise<Page> {
  const page = await pageOfStore(core.store, { ...query, storage: query.scope.storage, pause: core.paceRead(), ...(revision !== undefined && { revision }) });
  if (page.type === 'ok') {
    query.scope.storage.observer?.listed('storage', { ...page.read, returned: page.count });
    return page;
  }
  if (page.type === 'future') throw tooLargeResourceVersion(revision ?? 0, page.revision);
  throw query.position === undefined ? expiredRevision() : expiredContinue(encodeContinue({ start: query.position.start, revision: -1 }));
}

function toResult(query: Query, page: Page): ListResult {
  const { scope, predicate, prefix } = query;
  const next = page.lastKey === undefined ? undefined : encodeContinue({ start: `${page.lastKey.slice(prefix.length)}\u0000`, revision: page.revision });
  return {
    revision: page.revision,
    items: scope.viewed ? mapItems(page.items, scope) : page.items,
    count: page.count,
    ...(page.runs !== undefined && !scope.viewed && { runs: page.runs }),
    ...(next !== undefined && { continue: next }),
    ...(predicate.shard !== undefined && { shard: predicate.shard }),
    ...(next !== undefined && predicate.everything && { remainingItemCount: page.remaining }),
  };
}

function mapItems(items: Page['items'], scope: RequestScope): ListResult['items'] {
  return { *[Symbol.iterator]() { for (const item of items) yield scope.show(item); } };
}

/** Registry.list. */
export async function listObjects(core: Core, target: Target, options: ListOptions): Promise<ListResult> {
  refuseOptions('ListOptions', listProblems(options));
  const position = options.continue ? decodeContinue(options.continue) : undefined;
  const view = chooseView(target, options, position);
  const scope = await core.readyScope(target, true);
  const query = makeQuery(core, scope, { options, view, position });
  return toResult(query, await readPage(core, query, view));
}
