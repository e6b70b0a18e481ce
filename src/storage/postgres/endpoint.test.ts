// URLs of PostgreSQL, what is read out of them and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEndpoint } from './endpoint.ts';
import { redactPostgresUrl } from './url.ts';

test('parseEndpoint reads what libpq reads', () => {
  const { hosts, user, password, database, schema, sslMode } = parseEndpoint('postgres://me:p%40ss:w@one:5433,two,[::1]:6/my%20db?sslmode=require&schema=cluster_a');
  assert.deepEqual(hosts, [{ host: 'one', port: 5433 }, { host: 'two', port: 5432 }, { host: '::1', port: 6 }]);
  assert.deepEqual([user, password, database, schema, sslMode], ['me', 'p@ss:w', 'my db', 'cluster_a', 'require']);
  assert.deepEqual(parseEndpoint('postgresql:///db?host=/run/postgresql').hosts, [{ host: '/run/postgresql', port: 5432 }]);
  assert.equal(parseEndpoint('postgres://h/d?application_name=a@b').applicationName, 'a@b');
});

test('parseEndpoint checks certificates when there is an authority, and never less than it is asked to', () => {
  const tlsOf = (query: string, ca?: string) => {
    const { sslMode, tls } = parseEndpoint(`postgres://h/d${query}`, ca === undefined ? {} : { ca });
    return [sslMode, tls.rejectUnauthorized, tls.checkServerIdentity === undefined];
  };
  assert.deepEqual(tlsOf(''), ['prefer', false, false]);
  assert.deepEqual(tlsOf('', 'PEM'), ['verify-full', true, true]);
  assert.deepEqual(tlsOf('?sslmode=require', 'PEM'), ['require', true, false]);
  assert.deepEqual(tlsOf('?sslmode=verify-ca', 'PEM'), ['verify-ca', true, false]);
  assert.deepEqual(tlsOf('?sslmode=verify-full'), ['verify-full', true, true]);
});

test('parseEndpoint refuses what it would have to ignore, and shows no password', () => {
  for (const [text, message] of [
    ['mysql://h/d', /does not begin with postgres/], ['postgres://u:pw@h/d?pool_mode=x', /u:\*\*\*@h.*pool_mode is not known/],
    ['postgres://h/d?schema=a;b', /not a name/],
    ['postgres://h/d?sslmode=maybe', /sslmode is one of/], ['postgres://u:pw@h:x/d', /h:x is not a host/],
    ['postgres://u:a?pw@h/d', /^postgres:\/\/u:\*\*\*@h\/d: a password with "\?" has it encoded, as %3F$/], ['postgres://u:pw?sslmode=pw@h/d', /as %3F$/],
    ['postgres://u:%pw@h/d', /^postgres:\/\/u:\*\*\*@h\/d: a password with "%" has it encoded, as %25$/], ['u:pw@h/d', /^u:\*\*\*@h\/d does not begin/],
  ] as const) {
    assert.throws(() => parseEndpoint(text), (error: Error) => error instanceof RangeError && message.test(error.message) && !error.message.includes('pw'));
  }
  assert.throws(() => parseEndpoint('postgres://h/d?sslmode=disable', { ca: 'PEM' }), /uses no certificates/);
  assert.equal(redactPostgresUrl('postgres://u:p@w@h/d?password=pw'), 'postgres://u:***@h/d');
  assert.equal(redactPostgresUrl('postgres://u:p?w@h/d'), 'postgres://u:***@h/d');
  assert.throws(() => parseEndpoint('postgres://h/d?password=pw'), (error: Error) => /password is not known/.test(error.message) && !error.message.includes('pw'));
});
