// Requests on their way to another server: parts that are encoded again, removed and added.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeUser, encodePath, encodeQuery, forwardHeaders } from './forwarded-request.ts';

const headersOf = (headers: Record<string, string>) => new Map(Object.entries(headers).map(([name, value]) => [name, [value]]));

describe('encodePath and encodeQuery', () => {
  it('encodePath escapes what Go escapes', () => {
    assert.equal(encodePath("/a b/ü/%2/x:y@z,;=&$+!*'()[]~"), '/a%20b/%C3%BC/%252/x:y@z,;=&$+%21%2A%27%28%29%5B%5D~');
  });

  it('encodeQuery sorts by name and keeps the order of values', () => {
    assert.equal(encodeQuery(new URLSearchParams('z=1&a=2&z=0&flag&sp=a+b%20c&b=%2F~*')), 'a=2&b=%2F~%2A&flag=&sp=a+b+c&z=1&z=0');
  });
});

describe('forwardHeaders', () => {
  const forward = (headers: Record<string, string>) => Object.fromEntries(forwardHeaders({
    headers: headersOf(headers), path: '/p', remoteAddress: '::ffff:192.0.2.1', isSecure: true, host: 'h:443',
  }));
  const added = { 'x-forwarded-for': ['192.0.2.1'], 'x-forwarded-host': ['h:443'], 'x-forwarded-proto': ['https'], 'x-forwarded-uri': ['/p'] };

  it('removes identities, headers of the connection and those that Connection names', () => {
    assert.deepEqual(forward({
      authorization: 'Bearer x', 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-remote-uid': '0', 'x-remote-extra-a': 'b',
      'impersonate-user': 'root', connection: 'close, x-mine', 'x-mine': '1', 'transfer-encoding': 'chunked', te: 'gzip', ':path': '/p', 'x-own': 'kept',
    }), { 'x-own': ['kept'], ...added });
  });

  it('removes the session of the console, and leaves other cookies and protocols', () => {
    const sent = forward({
      'x-pintle-console': 'a.b', cookie: '__Host-pintle-a=1; mine=2; pintle-b=3', 'sec-websocket-protocol': 'v5.channel.k8s.io, session.console.pintle.a.b',
    });
    assert.deepEqual(sent, { cookie: ['mine=2'], 'sec-websocket-protocol': ['v5.channel.k8s.io'], ...added });
    assert.deepEqual(forward({ cookie: 'pintle-a=1' }), added);
  });

  it('adds the client to those that the request has passed, and replaces what the client says of the host', () => {
    const sent = forward({ 'x-forwarded-for': '198.51.100.1', 'x-forwarded-host': 'forged', te: 'trailers' });
    assert.deepEqual(sent, { te: ['trailers'], ...added, 'x-forwarded-for': ['198.51.100.1, 192.0.2.1'] });
  });
});

describe('describeUser', () => {
  it('encodes keys of extra fields, and sends names as UTF-8', () => {
    const headers = Object.fromEntries(describeUser({ name: 'jürgen', uid: 'u', groups: ['a', 'b'], extra: { 'A.b/C d%': ['x'] } }));
    assert.deepEqual(headers, {
      'x-remote-user': [Buffer.from('jürgen').toString('latin1')], 'x-remote-uid': ['u'], 'x-remote-group': ['a', 'b'], 'x-remote-extra-a.b%2Fc%20d%25': ['x'],
    });
  });
});
