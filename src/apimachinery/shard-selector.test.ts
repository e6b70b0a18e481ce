// Shard selectors: the hash, ranges, and texts that are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashShardKey, parseShardSelector, ShardSelectorError } from './shard-selector.ts';

test('hashShardKey is FNV-1a with 64 bits', () => {
  assert.equal(hashShardKey(''), 'cbf29ce484222325');
  assert.equal(hashShardKey('a'), 'af63dc4c8601ec8c');
  assert.equal(hashShardKey('foobar'), '85944171f73967e8');
});

const half = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const rest = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

test('parseShardSelector splits objects by the hash of their field', () => {
  const [first, second, both] = [half, rest, `${half}||${rest}`].map(parseShardSelector);
  for (const uid of ['', 'a', 'foobar', '7c5d1d6e-9c66-4a5e-8f3a-6a1f2a3b4c5d']) {
    const object = { uid, namespace: 'n' };
    assert.notEqual(first?.matches(object), second?.matches(object), uid);
    assert.equal(both?.matches(object), true);
  }
  assert.equal(second?.matches({ uid: 'foobar', namespace: '' }), true);
  assert.equal(both?.text, `${half} || ${rest}`);
});

test('parseShardSelector refuses other texts in the words of the reference', () => {
  const uid = 'object.metadata.uid';
  const cases: [string, string][] = [
    [' ', 'empty shard selector is not allowed; omit the parameter for unfiltered lists'],
    [`${half} && ${rest}`, 'unsupported function "_&&_"; only shardRange() and || are allowed'],
    ['true', 'unexpected expression kind 5; expected shardRange() call or || operator'],
    [`shardRange(${uid})`, 'shardRange() requires exactly 3 arguments, got 1'],
    [half.replace('uid', 'name'), 'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace'],
    [`${half} || ${rest.replace('uid', 'namespace')}`, 'all shard ranges must use the same field, got "object.metadata.namespace" and "object.metadata.uid"'],
    [`shardRange(${uid}, '0x0', '0x8000000000000000')`,
      'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)'],
    [`shardRange(${uid}, '0x8000000000000000', '0x0000000000000000')`, 'shard range start 0x8000000000000000 must be less than end 0x0000000000000000'],
    [`shardRange(${uid}, '0x000000000000000G', '0x8000000000000000')`, 'hexStart: invalid hex character "G" in "0x000000000000000G"'],
    [`shardRange(${uid}, '1', '2')`, 'hexStart must have \'0x\' prefix, got "1"'],
  ];
  for (const [text, message] of cases) assert.throws(() => parseShardSelector(text), new ShardSelectorError(message), text);
});
