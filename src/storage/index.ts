// The door of storage: keys, bytes, revisions, durability.
export {
  type KeyRange, type KeyValue, type RangeRequest, type RangeResult, type Store, type StoreEvent, type StoreWatch,
  type TxnRequest, type TxnResult, type WatchObserver, keyRange, prefixRange,
} from './store.ts';
