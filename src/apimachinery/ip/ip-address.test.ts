// Addresses and ranges against texts with known values, and there and back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containsAddress, formatIpAddress, parseIpAddress, parseIpRange } from './ip-address.ts';

test('parseIpAddress refuses what is no strict address', () => {
  for (const text of ['', '1.2.3', '01.2.3.4', '256.1.1.1', '1.2.3.4 ', ':::', '1::2::3', '12345::', '1:2:3:4:5:6:7:8:9', 'fe80::1%eth0', '::1.2.3']) {
    assert.equal(parseIpAddress(text), undefined, text);
  }
});

test('formatIpAddress writes the canonical form of what parseIpAddress reads', () => {
  const forms = [['10.0.0.1', '10.0.0.1'], ['::', '::'], ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'], ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::ffff:1.2.3.4', '::ffff:102:304']];
  for (const [text, form] of forms as [string, string][]) assert.equal(formatIpAddress(parseIpAddress(text)!), form);
  fc.assert(fc.property(fc.bigInt(0n, (1n << 128n) - 1n), (value) => {
    assert.deepEqual(parseIpAddress(formatIpAddress({ family: 'IPv6', value })), { family: 'IPv6', value });
  }));
});

test('parseIpRange knows the network, its size and stray bits', () => {
  assert.deepEqual(parseIpRange('10.0.0.0/24'), { family: 'IPv4', base: 0x0a000000n, size: 256n, exact: true });
  assert.equal(parseIpRange('10.0.0.1/24')?.exact, false);
  for (const text of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/024', '::/129', 'x/8']) assert.equal(parseIpRange(text), undefined, text);
  const range = parseIpRange('fd00::/120')!;
  assert.equal(containsAddress(range, parseIpAddress('fd00::ff')!), true);
  assert.equal(containsAddress(range, parseIpAddress('fd00::100')!), false);
  assert.equal(containsAddress(parseIpRange('0.0.0.0/0')!, parseIpAddress('::1')!), false);
});
