// Ranges of a Store elsewhere in pages at one revision: the first answer fixes the revision, and the size of what came decides how many keys
// the next page asks for.
import type { KeyRange, KeyValue, RangeRequest } from '../store.ts';

/** What a page should weigh: large enough to cost few calls, small enough to let others have turns. */
const PAGE_BYTES = 4 << 20;
const FIRST_PAGE_KEYS = 500;
const LONGEST_PAGE_KEYS = 10_000;

/** A part of a range. Only the first page is asked for without a revision, and only its count is used. */
export interface Page extends KeyRange {
  readonly revision: number | undefined;
  readonly limit: number;
  readonly isFirst: boolean;
}

/** What a page holds, with the store's revision. */
export interface PageAnswer<K extends KeyValue> {
  readonly revision: number;
  readonly kvs: readonly K[];
  readonly more: boolean;
  readonly count: number;
}

/** All key-values of a request with the store's revision, `more` and `count` as of the first page. */
export async function readInPages<K extends KeyValue>(
  { start, end, revision, limit = Infinity }: RangeRequest, read: (page: Page) => Promise<PageAnswer<K>>,
): Promise<PageAnswer<K>> {
  const kvs: K[] = [];
  let first: PageAnswer<K> | undefined;
  let from = start;
  for (let keys = FIRST_PAGE_KEYS; ;) {
    const wanted = Math.min(keys, limit - kvs.length);
    const page = await read({ start: from, end, limit: wanted, revision: revision ?? first?.revision, isFirst: first === undefined });
    first ??= page;
    for (const kv of page.kvs) kvs.push(kv);
    const last = page.kvs.at(-1);
    if (!page.more || kvs.length >= limit || last === undefined) return { ...first, kvs, more: page.more };
    from = `${last.key}\u0000`;
    keys = nextPageKeys(page.kvs);
  }
}

function nextPageKeys(kvs: readonly KeyValue[]): number {
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 1);
  return Math.max(1, Math.min(LONGEST_PAGE_KEYS, Math.floor((PAGE_BYTES * kvs.length) / bytes)));
}
