// Ranges of etcd, each page far below the receive limit.
import { type Page, readInPages } from '../remote/pages.ts';
import type { RangeRequest } from '../store.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { GrpcError, statusCode } from '../../grpc/index.ts';
import { type RangeAnswer, type StoredKeyValue, decodeRange, encodeRange } from './grpc/messages.ts';

const PAGE_ATTEMPT_MS = 5_000;
const PAGE_TOTAL_MS = 12_000;

type EtcdPage = Omit<Page, 'isFirst'> & { readonly keysOnly: boolean };

/** All key-values of a request with etcd's revision, `more` and `count` as of the first page. */
export async function readRange(connection: EtcdConnection, request: RangeRequest & { readonly keysOnly?: boolean }): Promise<RangeAnswer> {
  const { start, end, revision, countOnly = false, keysOnly = false } = request;
  if (countOnly) return callRange(connection, { start, end, revision, limit: 0, keysOnly }, true);
  return readInPages<StoredKeyValue>(request, (page) => callPage(connection, { ...page, keysOnly }));
}

/** Halves the page when its answer is larger than what may be received. */
async function callPage(connection: EtcdConnection, page: EtcdPage): Promise<RangeAnswer> {
  for (let { limit } = page; ; limit = Math.ceil(limit / 4)) {
    try {
      return await callRange(connection, { ...page, limit }, false);
    } catch (error) {
      const isTooLarge = error instanceof GrpcError && error.code === statusCode.resourceExhausted && /larger than max/.test(error.details);
      if (!isTooLarge || limit === 1) throw error;
    }
  }
}

async function callRange(connection: EtcdConnection, page: EtcdPage, countOnly: boolean): Promise<RangeAnswer> {
  const { start, end, revision, limit, keysOnly } = page;
  const bytes = encodeRange({ key: start, rangeEnd: end, countOnly, keysOnly, limit, ...(revision !== undefined && { revision }) });
  const isLarge = limit > 1 && !countOnly;
  const times = isLarge ? { attemptMs: PAGE_ATTEMPT_MS, totalMs: PAGE_TOTAL_MS } : {};
  return decodeRange(await connection.call('/etcdserverpb.KV/Range', bytes, { type: 'read', ...times }));
}
