// Sessions of the console: codes, both halves of the secret, requests of other sites, bounds.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock, systemRandom } from '../../base/index.ts';
import { SESSION_HEADER, Sessions } from './sessions.ts';

const login = { user: 'jane', credentials: 'secret' };
const MINUTE_MS = 60_000;

function setUp({ isSecure = true } = {}) {
  const clock = createManualClock();
  const sessions = new Sessions<string>({ clock, random: systemRandom, isSecure });
  return { clock, sessions };
}

const show = ({ key, cookie }: { key: string; cookie: string }, more: Readonly<Record<string, string>> = {}) =>
  ({ headers: { [SESSION_HEADER]: key, cookie: cookie.split(';')[0] as string, host: 'localhost:6443', ...more } });

describe('Sessions', () => {
  test('useCode answers a code once, within a minute', () => {
    const { clock, sessions } = setUp();
    const { code } = sessions.issueCode(login);
    assert.equal(sessions.useCode(code)?.credentials, 'secret');
    assert.equal(sessions.useCode(code), undefined);
    const late = sessions.issueCode(login).code;
    clock.advance(MINUTE_MS);
    assert.equal(sessions.useCode(late), undefined);
    assert.equal(sessions.useCode(''), undefined);
  });

  test('issueCode keeps a bounded number of codes', () => {
    const { sessions } = setUp();
    const { code } = sessions.issueCode(login);
    for (let count = 0; count < 100; count += 1) sessions.issueCode(login);
    assert.equal(sessions.useCode(code), undefined);
  });

  test('issueCode keeps the codes of a user however many another asks for', () => {
    const { sessions } = setUp();
    const { code } = sessions.issueCode({ ...login, user: 'joe' });
    for (let count = 0; count < 200; count += 1) sessions.issueCode(login);
    assert.equal(sessions.useCode(code)?.user, 'joe');
  });

  test('endAll ends the sessions and codes of the logins that are chosen', () => {
    const { sessions } = setUp();
    const [jane, joe] = [sessions.begin(login), sessions.begin({ ...login, user: 'joe' })];
    const { code } = sessions.issueCode(login);
    sessions.endAll(({ user }) => user === 'jane');
    assert.deepEqual([sessions.find(show(jane)), sessions.useCode(code), sessions.find(show(joe))?.user], [undefined, undefined, 'joe']);
  });

  test('find needs both halves of the secret, of the same session', () => {
    const { sessions } = setUp();
    const [one, other] = [sessions.begin(login), sessions.begin({ ...login, user: 'joe' })];
    assert.equal(sessions.find(show(one))?.user, 'jane');
    assert.equal(sessions.find(show({ ...one, cookie: 'a=b' })), undefined);
    assert.equal(sessions.find(show({ ...one, key: '' })), undefined);
    assert.equal(sessions.find(show({ ...one, key: other.key })), undefined);
    assert.equal(sessions.find(show({ ...one, key: `${one.key}x` })), undefined);
    assert.equal(sessions.find(show({ ...one, cookie: `${one.cookie.split(';')[0]}x` })), undefined);
    assert.equal(sessions.find(show({ ...one, cookie: `other=1, ${one.cookie.split(';')[0]}` }))?.user, 'jane');
  });

  test('find refuses requests that a browser makes for another site', () => {
    const { sessions } = setUp();
    const session = sessions.begin(login);
    assert.equal(sessions.find(show(session, { 'sec-fetch-site': 'same-origin', origin: 'https://localhost:6443' }))?.user, 'jane');
    const others = [['sec-fetch-site', 'cross-site'], ['sec-fetch-site', 'same-site'], ['origin', 'https://localhost:9'], ['origin', 'null']] as const;
    for (const [name, value] of others) assert.equal(sessions.find(show(session, { [name]: value })), undefined, value);
  });

  test('begin makes a cookie that scripts cannot read and other sites do not send', () => {
    assert.match(setUp().sessions.begin(login).cookie, /^__Host-pintle-[\w-]+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/);
    assert.doesNotMatch(setUp({ isSecure: false }).sessions.begin(login).cookie, /__Host-|Secure/);
  });

  test('a session ends after twelve hours, and when it is ended', () => {
    const { clock, sessions } = setUp();
    const session = sessions.begin(login);
    clock.advance(12 * 60 * MINUTE_MS - 1);
    assert.ok(sessions.find(show(session)));
    clock.advance(1);
    assert.equal(sessions.find(show(session)), undefined);
    const ended = sessions.begin(login);
    assert.match(sessions.end(show(ended)) ?? '', /=; Path=\/; Max-Age=0;/);
    assert.equal(sessions.find(show(ended)), undefined);
    assert.equal(sessions.end(show(ended)), undefined);
  });

  test('begin keeps sixteen sessions of a user', () => {
    const { sessions } = setUp();
    const joe = sessions.begin({ ...login, user: 'joe' });
    const made = Array.from({ length: 17 }, () => sessions.begin(login));
    assert.equal(sessions.find(show(made[0] as (typeof made)[0])), undefined);
    for (const session of [joe, ...made.slice(1)]) assert.ok(sessions.find(show(session)));
  });
});
