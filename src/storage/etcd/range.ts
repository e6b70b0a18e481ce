// Ranges of etcd in pages at one revision, each of them far below the receive limit: the first answer fixes the revision, and the
// size of what came decides how many keys the next page asks for.
import type { RangeRequest } from '../store.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { EtcdError, statusCode } from './grpc/etcd-error.ts';
import { type RangeAnswer, type StoredKeyValue, decodeRange, encodeRange } from './grpc/messages.ts';

/** What a page should weigh: large enough to cost few calls, small enough to let others have turns. */
const PAGE_BYTES = 4 << 20;
const FIRST_PAGE_KEYS = 500;
const LONGEST_PAGE_KEYS = 10_000;
const PAGE_ATTEMPT_MS = 5_000;
const PAGE_TOTAL_MS = 12_000;

interface Page {
  readonly start: string;
  readonly end: string;
  readonly revision: number | undefined;
  readonly limit: number;
  readonly keysOnly: boolean;
}

/** All key-values of a request with etcd's revision, `more` and `count` as of the first page. */
export async function readRange(connection: EtcdConnection, request: RangeRequest & { readonly keysOnly?: boolean }): Promise<RangeAnswer> {
  const { start, end, limit = Infinity, countOnly = false, keysOnly = false } = request;
  if (countOnly) return callRange(connection, { start, end, revision: request.revision, limit: 0, keysOnly }, true);
  const kvs: StoredKeyValue[] = [];
  let first: RangeAnswer | undefined;
  let from = start;
  for (let keys = FIRST_PAGE_KEYS; ;) {
    const wanted = Math.min(keys, limit - kvs.length);
    const page = await callPage(connection, { start: from, end, limit: wanted, keysOnly, revision: request.revision ?? first?.revision });
    first ??= page;
    for (const kv of page.kvs) kvs.push(kv);
    const last = page.kvs.at(-1);
    if (!page.more || kvs.length >= limit || last === undefined) return { ...first, kvs, more: page.more };
    from = `${last.key}\u0000`;
    keys = nextPageKeys(page);
  }
}

function nextPageKeys({ kvs }: RangeAnswer): number {
  const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 1);
  return Math.max(1, Math.min(LONGEST_PAGE_KEYS, Math.floor((PAGE_BYTES * kvs.length) / bytes)));
}

/** Halves the page when its answer is larger than what may be received. */
async function callPage(connection: EtcdConnection, page: Page): Promise<RangeAnswer> {
  for (let { limit } = page; ; limit = Math.ceil(limit / 4)) {
    try {
      return await callRange(connection, { ...page, limit }, false);
    } catch (error) {
      const isTooLarge = error instanceof EtcdError && error.code === statusCode.resourceExhausted && /larger than max/.test(error.details);
      if (!isTooLarge || limit === 1) throw error;
    }
  }
}

async function callRange(connection: EtcdConnection, page: Page, countOnly: boolean): Promise<RangeAnswer> {
  const { start, end, revision, limit, keysOnly } = page;
  const bytes = encodeRange({ key: start, rangeEnd: end, countOnly, keysOnly, limit, ...(revision !== undefined && { revision }) });
  const isLarge = limit > 1 && !countOnly;
  const times = isLarge ? { attemptMs: PAGE_ATTEMPT_MS, totalMs: PAGE_TOTAL_MS } : {};
  return decodeRange(await connection.call('/etcdserverpb.KV/Range', bytes, { type: 'read', ...times }));
}
