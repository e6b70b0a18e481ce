// The messages of etcd's v3 API that the Store uses, by the field numbers of its published rpc.proto, kv.proto: requests to bytes,
// responses to plain records. Unknown fields are skipped, so that all servers from 3.4 on are understood.
import type { KeyValue } from '../../store.ts';
import { MessageReader, MessageWriter } from '../../../grpc/index.ts';

/** Every key there is, as etcd spells it. */
const EVERY_KEY = '\u0000';

interface RangeCall {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

/** etcdserverpb.RangeResponse. */
export interface RangeAnswer {
  readonly revision: number;
  readonly kvs: readonly StoredKeyValue[];
  readonly more: boolean;
  readonly count: number;
}

/** A key-value with the number of writes since its creation, which compaction's agreement counts on. */
export interface StoredKeyValue extends KeyValue {
  readonly version: number;
  /** The lease under which it lives, if any. */
  readonly lease?: bigint;
}

/** One key compared and written at once: `expect` is its modRevision, or its version, or no condition. */
interface TxnCall {
  readonly key: string;
  readonly compare: { readonly target: 'modRevision' | 'version'; readonly equals: number };
  /** Absent: delete. */
  readonly value?: Uint8Array;
  readonly lease?: bigint;
}

/** etcdserverpb.TxnResponse. */
export interface TxnAnswer {
  readonly revision: number;
  readonly succeeded: boolean;
  /** What the key holds when the comparison failed. */
  readonly current: StoredKeyValue | undefined;
}

/** etcdserverpb.WatchResponse. */
export interface WatchAnswer {
  readonly revision: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** The changes continue in the next answer. */
  readonly fragment: boolean;
  readonly changes: readonly Change[];
}

/** mvccpb.Event. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly kv: StoredKeyValue;
  readonly previous: StoredKeyValue | undefined;
}

/** RangeRequest: key 1, range_end 2, limit 3, revision 4, keys_only 8, count_only 9. */
export function encodeRange(call: RangeCall): Buffer {
  return new MessageWriter().bytes(1, call.key).bytes(2, call.rangeEnd ?? '').number(3, call.limit ?? 0).number(4, call.revision ?? 0)
    .flag(8, call.keysOnly ?? false).flag(9, call.countOnly ?? false).finish();
}

const compareTargets = { version: { id: 0, field: 4 }, modRevision: { id: 2, field: 6 } } as const;

/** TxnRequest: compare 1 {target 2, key 3, version 4, mod_revision 6}, success 2, failure 3; ops are range 1, put 2, delete 3. */
export function encodeTxn({ key, compare, value, lease }: TxnCall): Buffer {
  const { id, field } = compareTargets[compare.target];
  return new MessageWriter(TXN_FRAME_BYTES + 3 * key.length + (value?.length ?? 0))
    // The value to compare with is one of a union: it is written even when it is zero.
    .message(1, (comparison) => comparison.number(2, id).bytes(3, key).oneOf(field, compare.equals))
    .message(2, (change) => {
      if (value === undefined) change.message(3, (remove) => remove.bytes(1, key));
      else change.message(2, (put) => put.bytes(1, key).bytes(2, value).long(3, lease ?? 0n));
    })
    .message(3, (read) => read.message(1, (range) => range.bytes(1, key)))
    .finish();
}

/** More than a TxnRequest takes besides its key, three times, and its value. */
const TXN_FRAME_BYTES = 200;

/** WatchRequest.create_request 1: key 1, range_end 2, start_revision 3, progress_notify 4, prev_kv 6, fragment 8. */
export function encodeWatchEverything(startRevision: number): Buffer {
  return new MessageWriter()
    .message(1, (create) => create.bytes(1, EVERY_KEY).bytes(2, EVERY_KEY).number(3, startRevision).flag(6, true).flag(8, true))
    .finish();
}

/** LeaseGrantRequest: TTL 1. */
export const encodeLeaseGrant = (ttlSeconds: number): Buffer => new MessageWriter().number(1, ttlSeconds).finish();

/** LeaseTimeToLiveRequest: ID 1. */
export const encodeLeaseQuestion = (id: bigint): Buffer => new MessageWriter().long(1, id).finish();

/** CompactionRequest: revision 1. */
export const encodeCompaction = (revision: number): Buffer => new MessageWriter().number(1, revision).finish();

/** Reads a RangeResponse. */
export function decodeRange(bytes: Buffer): RangeAnswer {
  return readRange(new MessageReader(bytes));
}

/** RangeResponse: header 1, kvs 2, more 3, count 4. */
function readRange(reader: MessageReader): RangeAnswer {
  const kvs: StoredKeyValue[] = [];
  let revision = 0;
  let more = false;
  let count = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readHeader(reader.nested());
    else if (field === 2) kvs.push(readKeyValue(reader.nested()));
    else if (field === 3) more = reader.number() !== 0;
    else if (field === 4) count = reader.number();
    else reader.skip();
  }
  return { revision, kvs, more, count };
}

/** ResponseHeader: revision 3 (the ids of cluster and member are of no use here). */
function readHeader(reader: MessageReader): number {
  let revision = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) revision = reader.number();
    else reader.skip();
  }
  return revision;
}

const noValue = new Uint8Array(0);

/** KeyValue: key 1, create_revision 2, mod_revision 3, version 4, value 5, lease 6. */
function readKeyValue(reader: MessageReader): StoredKeyValue {
  let key = '';
  let createRevision = 0;
  let modRevision = 0;
  let version = 0;
  let value: Uint8Array = noValue;
  let lease = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = reader.text();
    else if (field === 2) createRevision = reader.number();
    else if (field === 3) modRevision = reader.number();
    else if (field === 4) version = reader.number();
    else if (field === 5) value = reader.bytes();
    else if (field === 6) lease = reader.long();
    else reader.skip();
  }
  return lease === 0n ? { key, value, createRevision, modRevision, version } : { key, value, createRevision, modRevision, version, lease };
}

/** TxnResponse: header 1, succeeded 2, responses 3 (of which the range, 1, is read). */
export function decodeTxn(bytes: Buffer): TxnAnswer {
  const reader = new MessageReader(bytes);
  let revision = 0;
  let succeeded = false;
  let current: StoredKeyValue | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readHeader(reader.nested());
    else if (field === 2) succeeded = reader.number() !== 0;
    else if (field === 3) current = readRangeOp(reader.nested()) ?? current;
    else reader.skip();
  }
  return { revision, succeeded, current };
}

function readRangeOp(reader: MessageReader): StoredKeyValue | undefined {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) return readRange(reader.nested()).kvs[0];
    reader.skip();
  }
  return undefined;
}

/** WatchResponse: header 1, created 3, canceled 4, compact_revision 5, cancel_reason 6, fragment 7, events 11. */
export function decodeWatch(bytes: Buffer): WatchAnswer {
  const reader = new MessageReader(bytes);
  const changes: Change[] = [];
  let [revision, compactRevision, cancelReason] = [0, 0, ''];
  let [created, canceled, fragment] = [false, false, false];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readHeader(reader.nested());
    else if (field === 3) created = reader.number() !== 0;
    else if (field === 4) canceled = reader.number() !== 0;
    else if (field === 5) compactRevision = reader.number();
    else if (field === 6) cancelReason = reader.text();
    else if (field === 7) fragment = reader.number() !== 0;
    else if (field === 11) changes.push(readChange(reader.nested()));
    else reader.skip();
  }
  return { revision, created, canceled, compactRevision, cancelReason, fragment, changes };
}

/** Event: type 1 (put 0, delete 1), kv 2, prev_kv 3. */
function readChange(reader: MessageReader): Change {
  let type: Change['type'] = 'put';
  let kv: StoredKeyValue = { key: '', value: noValue, createRevision: 0, modRevision: 0, version: 0 };
  let previous: StoredKeyValue | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) type = reader.number() === 1 ? 'delete' : 'put';
    else if (field === 2) kv = readKeyValue(reader.nested());
    else if (field === 3) previous = readKeyValue(reader.nested());
    else reader.skip();
  }
  return { type, kv, previous };
}

/** LeaseGrantResponse: ID 2, TTL 3, error 4. */
export function decodeLeaseGrant(bytes: Buffer): { readonly id: bigint; readonly ttlSeconds: number; readonly error: string } {
  const reader = new MessageReader(bytes);
  let id = 0n;
  let ttlSeconds = 0;
  let error = '';
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) id = reader.long();
    else if (field === 3) ttlSeconds = reader.number();
    else if (field === 4) error = reader.text();
    else reader.skip();
  }
  return { id, ttlSeconds, error };
}

/** LeaseTimeToLiveResponse: TTL 3, in seconds; below zero for a lease that is over. */
export function decodeLeaseAnswer(bytes: Buffer): number {
  const reader = new MessageReader(bytes);
  let seconds = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) seconds = Number(reader.long());
    else reader.skip();
  }
  return seconds;
}

/** What a server says of itself. */
export interface StatusAnswer {
  readonly version: string;
  readonly sizeBytes: number;
  readonly isLeader: boolean;
}

/** StatusResponse: header 1 {member_id 2}, version 2, dbSize 3, leader 4. */
export function decodeStatus(bytes: Buffer): StatusAnswer {
  const reader = new MessageReader(bytes);
  let [member, leader] = [0n, 0n];
  let version = '';
  let sizeBytes = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) member = readMember(reader.nested());
    else if (field === 2) version = reader.text();
    else if (field === 3) sizeBytes = reader.number();
    else if (field === 4) leader = reader.long();
    else reader.skip();
  }
  return { version, sizeBytes, isLeader: leader !== 0n && leader === member };
}

function readMember(reader: MessageReader): bigint {
  let member = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) member = reader.long();
    else reader.skip();
  }
  return member;
}
