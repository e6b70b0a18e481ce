// Queries of requests, as Go reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../base/index.ts';
import { type Wire, createExchange } from './exchange.ts';

const queryOf = (search: string): URLSearchParams | undefined => createExchange({
  method: 'GET', target: `/version?${search}`, headers: {}, remoteAddress: '', clientCertificate: undefined, connection: {}, auditId: '',
}, {} as Wire, systemClock)?.query;

test('parameters with a semicolon or a broken escape do not count', () => {
  assert.deepEqual([...queryOf('a=1&b=2;c=3&d=%zz&e=%20') ?? []], [['a', '1'], ['e', ' ']]);
});

test('of more than 10,000 parameters none counts', () => {
  const junk = (count: number): string => Array.from({ length: count }, (_, i) => `x${i}=1`).join('&');
  assert.equal(queryOf(`limit=1&${junk(9_999)}`)?.get('limit'), '1');
  assert.deepEqual([...queryOf(`limit=1&${junk(10_000)}`) ?? []], []);
});
