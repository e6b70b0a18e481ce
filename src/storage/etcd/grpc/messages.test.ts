// Etcd's messages by their field numbers: requests byte for byte, responses with fields in any order and with fields of later servers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  decodeLeaseAnswer, decodeLeaseGrant, decodeRange, decodeStatus, decodeTxn, decodeWatch, encodeCompaction, encodeLeaseGrant, encodeLeaseQuestion,
  encodeRange, encodeTxn, encodeWatchEverything,
} from './messages.ts';
import { MessageWriter } from '../../../grpc/index.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const keyValue = (writer: MessageWriter): MessageWriter =>
  writer.bytes(1, '/k/a').number(2, 5).number(3, 9).number(4, 3).bytes(5, 'value').long(6, -7n).bytes(99, 'of a later server');
const decoded = { key: '/k/a', value: 'value', createRevision: 5, modRevision: 9, version: 3, lease: -7n };
const withText = <T extends { readonly value: Uint8Array }>(kv: T | undefined): unknown => kv && { ...kv, value: Buffer.from(kv.value).toString() };

describe('requests', () => {
  test('encodeRange writes the fields of RangeRequest and omits zeros', () => {
    assert.equal(hex(encodeRange({ key: 'a' })), '0a0161');
    const all = { key: 'a', rangeEnd: 'b', limit: 500, revision: 7, keysOnly: true, countOnly: true };
    assert.equal(hex(encodeRange(all)), '0a0161120162' + '18f403' + '2007' + '4001' + '4801');
  });

  test('encodeTxn compares modRevision also with zero, and puts, or deletes without a value', () => {
    const compare = '0a07' + '1002' + '1a0161' + '3000';
    const read = '1a05' + '0a03' + '0a0161';
    const put = encodeTxn({ key: 'a', compare: { target: 'modRevision', equals: 0 }, value: Buffer.from('v'), lease: 3n });
    assert.equal(hex(put), `${compare}120a12080a01611201761803${read}`);
    const remove = encodeTxn({ key: 'a', compare: { target: 'modRevision', equals: 0 } });
    assert.equal(hex(remove), `${compare}12051a030a0161${read}`);
    const version = encodeTxn({ key: 'a', compare: { target: 'version', equals: 4 }, value: Buffer.from('v') });
    assert.equal(hex(version), `0a051a01612004120812060a0161120176${read}`);
  });

  test('watches are of every key with previous values in fragments; leases and compactions have one number', () => {
    assert.equal(hex(encodeWatchEverything(3)), '0a0c0a01001201001803' + '3001' + '4001');
    assert.deepEqual([encodeLeaseGrant(60), encodeLeaseQuestion(-1n), encodeCompaction(300)].map(hex), ['083c', '08ffffffffffffffffff01', '08ac02']);
  });
});

describe('responses', () => {
  test('decodeRange reads key-values, the count and the revision, and skips fields that it does not know', () => {
    const bytes = new MessageWriter().number(4, 12).message(2, keyValue).number(77, 1).number(3, 1)
      .message(1, (header) => header.long(1, 5n).number(3, 40)).finish();
    const { kvs, ...rest } = decodeRange(bytes);
    assert.deepEqual(rest, { revision: 40, more: true, count: 12 });
    assert.deepEqual(kvs.map(withText), [decoded]);
  });

  test('decodeTxn has the current key-value of a failed comparison, and none of a put', () => {
    const failed = new MessageWriter().message(1, (header) => header.number(3, 40))
      .message(3, (op) => op.message(1, (range) => range.message(2, keyValue))).finish();
    const { current, ...rest } = decodeTxn(failed);
    assert.deepEqual([rest, withText(current)], [{ revision: 40, succeeded: false }, decoded]);
    const put = new MessageWriter().number(2, 1).message(3, (op) => op.message(2, () => {})).message(1, (header) => header.number(3, 41)).finish();
    assert.deepEqual(decodeTxn(put), { revision: 41, succeeded: true, current: undefined });
  });

  test('decodeWatch reads events, fragments, and the end of a watch', () => {
    const events = new MessageWriter().message(1, (header) => header.number(3, 40)).number(7, 1)
      .message(11, (event) => event.message(2, keyValue))
      .message(11, (event) => event.number(1, 1).message(2, (kv) => kv.bytes(1, '/k/a').number(3, 10)).message(3, keyValue)).finish();
    const { changes, fragment, revision } = decodeWatch(events);
    assert.deepEqual([fragment, revision], [true, 40]);
    assert.deepEqual(changes.map(({ type, kv }) => [type, kv.key, kv.modRevision]), [['put', '/k/a', 9], ['delete', '/k/a', 10]]);
    assert.deepEqual(changes.map(({ previous }) => withText(previous)), [undefined, decoded]);
    const over = decodeWatch(new MessageWriter().number(3, 1).number(4, 1).number(5, 33).bytes(6, 'compacted').finish());
    assert.deepEqual(over, { revision: 0, created: true, canceled: true, compactRevision: 33, cancelReason: 'compacted', fragment: false, changes: [] });
  });

  test('leases and the status of a server', () => {
    const grant = new MessageWriter().long(2, 2n ** 62n).number(3, 60).bytes(4, 'no').finish();
    assert.deepEqual(decodeLeaseGrant(grant), { id: 2n ** 62n, ttlSeconds: 60, error: 'no' });
    assert.equal(decodeLeaseAnswer(new MessageWriter().long(3, -1n).finish()), -1);
    const status = new MessageWriter().message(1, (header) => header.long(2, 8n)).bytes(2, '3.6.1').number(3, 4096).long(4, 8n).finish();
    assert.deepEqual(decodeStatus(status), { version: '3.6.1', sizeBytes: 4096, isLeader: true });
  });
});
