// The spans of calls to the store, under the names that the reference has for those to etcd.
import type { KeyRange, Store, WatchObserver } from '../../storage/index.ts';
import { findKeyResource } from '../metrics/loop-metrics.ts';
import { type SpanDescription, currentSpan, inSpan } from './spans.ts';

interface StoreTracing {
  /** Where the keys of all objects begin. */
  readonly root: string;
  /** Whether calls go to etcd by gRPC. */
  readonly isEtcd: boolean;
}

type RangeRequest = Parameters<Store['range']>[0];
type TxnRequest = Parameters<Store['txn']>[0];

/** A Store that has its calls in the trace of the request that makes them. */
export function traceStore(store: Store, { root, isEtcd }: StoreTracing): Store {
  const kind = isEtcd ? 'etcd3' : 'store';
  const describe = (name: string, key: string): SpanDescription =>
    ({ name: `${name} ${kind}`, attributes: { key: key.startsWith(root) ? key.slice(root.length) : key, ...findKeyResource(root, key) } });
  const call = <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const rpc = isEtcd ? { name: `etcdserverpb.KV/${name}`, attributes: { 'rpc.system.name': 'grpc', 'rpc.method': `etcdserverpb.KV/${name}` } } : { name };
    return inSpan(() => ({ ...rpc, kind: 'client' }), run);
  };
  const range = (request: RangeRequest) => call('Range', () => store.range(request));
  const txn = (request: TxnRequest) => call('Txn', () => store.txn(request));
  return {
    range: (request) => (currentSpan() === undefined ? store.range(request) : isList(request)
      ? inSpan(() => describe('List(recursive=true)', request.start), () => range(request)) : range(request)),
    txn(request) {
      if (currentSpan() === undefined) return store.txn(request);
      if (request.value === undefined) return txn(request);
      const name = request.expect === 0 ? 'Create' : 'GuaranteedUpdate';
      return inSpan(() => describe(name, request.key), async () => {
        const result = await txn(request);
        currentSpan()?.event('Txn call succeeded');
        return result;
      });
    },
    watch: (keys: KeyRange, from: number, observer: WatchObserver) => store.watch(keys, from, observer),
    compact: (revision) => store.compact(revision),
    timesToLive: () => store.timesToLive(),
    revision: (key) => (currentSpan() === undefined ? store.revision(key) : call('Range', () => store.revision(key))),
    ...(store.recall !== undefined && { recall: (key: string, revision: number) => store.recall?.(key, revision) }),
    close: () => store.close(),
  };
}

const isList = ({ start, end }: RangeRequest): boolean => end !== `${start}\u0000`;
