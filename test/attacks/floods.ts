// Attacks of many small requests, each of which is cheap to send: pages of one object, tokens that are none, events, frames of one byte, and what the
// server itself has to do when much is deleted at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, type AttackAnswer, type AttackRequest, CONFIG_MAPS, type Victim, configMap, connect, describe, send } from './attack.ts';

const AT_ONCE = 30;

/** Sends requests, some at once; counts the answers by status. */
export async function sendAll(victim: Victim, requests: readonly AttackRequest[], atOnce = AT_ONCE): Promise<string> {
  const statuses = new Map<number, number>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { status } = await send(victim, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return JSON.stringify(Object.fromEntries(statuses));
}

/** So many, made by their numbers. */
export const numbered = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const isWhole = (statuses: string, allowed: readonly number[]): boolean =>
  Object.keys(JSON.parse(statuses) as object).every((one) => allowed.includes(Number(one)));

/** A caller that pages through its objects one by one, many times at once. */
const smallPages: Attack = {
  number: '61', name: '30 loops over pages of one object',
  async run(victim) {
    await sendAll(victim, numbered(200, (index) => ({ method: 'POST', path: CONFIG_MAPS, body: configMap(`page${index}`, { a: 'b' }) })));
    let pages = 0;
    const follow = async (): Promise<boolean> => {
      let token = '';
      do {
        const answer: AttackAnswer = await send(victim, { path: `${CONFIG_MAPS}?limit=1&continue=${token}` });
        if (answer.status === 429) return true;
        if (answer.status !== 200) return false;
        token = (JSON.parse(answer.text) as { metadata: { continue?: string } }).metadata.continue ?? '';
        pages++;
      } while (token !== '');
      return true;
    };
    const ended = await Promise.all(numbered(AT_ONCE, follow));
    const answer = await send(victim, { method: 'DELETE', path: CONFIG_MAPS });
    return { holds: ended.every(Boolean) && answer.status === 200, answer: `${pages} pages, then ${describe(answer)}` };
  },
};

const badTokens: Attack = {
  number: '42', name: '3,000 requests with tokens that are none',
  async run(victim) {
    const jwt = (index: number): string => `eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.${Buffer.from(`{"sub":"${index}"}`).toString('base64url')}.${'a'.repeat(300)}`;
    const statuses = await sendAll(victim, numbered(3000, (index) => ({ path: CONFIG_MAPS, token: index % 2 === 0 ? `none-${index}` : jwt(index) })));
    return { holds: isWhole(statuses, [401, 429]), answer: statuses };
  },
};

const tokenReviews: Attack = {
  number: '40', name: '3,000 reviews of tokens and of oneself',
  async run(victim) {
    const review = (kind: string, plural: string, spec?: object): AttackRequest => ({
      method: 'POST', path: `/apis/authentication.k8s.io/v1/${plural}`, body: { apiVersion: 'authentication.k8s.io/v1', kind, ...(spec && { spec }) } });
    const statuses = await sendAll(victim, numbered(3000, (index) => (index % 2 === 0 ? review('SelfSubjectReview', 'selfsubjectreviews')
      : review('TokenReview', 'tokenreviews', { token: `none-${index}` }))));
    return { holds: isWhole(statuses, [201, 403, 429]), answer: statuses };
  },
};

const events: Attack = {
  number: '61', name: '3,000 events',
  async run(victim) {
    const event = (index: number): object => ({ apiVersion: 'v1', kind: 'Event', metadata: { name: `flood${index}` }, type: 'Normal', reason: 'Flood',
      involvedObject: { kind: 'Pod', name: 'a', namespace: 'alice' }, message: 'x'.repeat(500) });
    const path = '/api/v1/namespaces/alice/events';
    const statuses = await sendAll(victim, numbered(3000, (index) => ({ method: 'POST', path, body: event(index), token: 'admin-token' })));
    const answer = await send(victim, { method: 'DELETE', path, token: 'admin-token' });
    return { holds: isWhole(statuses, [201, 429]) && answer.status === 200, answer: `${statuses}, then ${describe(answer)}` };
  },
};

/** Text frames of one byte to a watch, which reads none of them. */
const smallFrames: Attack = {
  number: '57', name: '500,000 WebSocket frames of one byte',
  async run(victim) {
    const before = victim.readMemoryMb() ?? 0;
    const socket = await connect(victim);
    let text = '';
    let isClosed = false;
    socket.on('data', (part: Buffer) => {
      if (text.length < 1000) text += part.toString('latin1');
    }).on('close', () => {
      isClosed = true;
    });
    socket.write(`GET ${CONFIG_MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
      + 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n');
    await sleep(300);
    const frames = Buffer.from([0x81, 0x81, 1, 2, 3, 4, 0x60]).toString('latin1').repeat(10_000);
    for (let round = 0; round < 50 && !isClosed; round++) {
      if (!socket.write(frames, 'latin1')) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), sleep(1000)]);
    }
    await sleep(300);
    const grownMb = Math.round((victim.readMemoryMb() ?? 0) - before);
    socket.destroy();
    const answer = await send(victim, { path: CONFIG_MAPS });
    const holds = text.startsWith('HTTP/1.1 101') && answer.status === 200 && grownMb < 64;
    return { holds, answer: `${text.slice(9, 12)}, ${isClosed ? 'closed' : 'open'}, ${grownMb} MB more, then ${describe(answer)}` };
  },
};

/** Waits until a request is answered with this status, for a minute. */
async function waitForStatus(victim: Victim, request: AttackRequest, status: number): Promise<boolean> {
  for (let second = 0; second < 60; second++) {
    if ((await send(victim, request)).status === status) return true;
    await sleep(1000);
  }
  return false;
}

const namespaces: Attack = {
  number: '54', name: '100 namespaces that are deleted at once',
  async run(victim) {
    const token = 'admin-token';
    const path = (index: number): string => `/api/v1/namespaces/flood${index}`;
    await sendAll(victim, numbered(100, (index) => ({
      method: 'POST', path: '/api/v1/namespaces', token, body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `flood${index}` } } })));
    await sendAll(victim, numbered(1000, (index) => ({ method: 'POST', path: `${path(index % 100)}/configmaps`, token, body: configMap(`a${index}`, {}) })));
    const statuses = await sendAll(victim, numbered(100, (index) => ({ method: 'DELETE', path: path(index), token })));
    const gone = await Promise.all(numbered(100, (index) => waitForStatus(victim, { path: path(index), token }, 404)));
    return { holds: gone.every(Boolean), answer: `${statuses}, ${gone.filter(Boolean).length} gone` };
  },
};

const dependents: Attack = {
  number: '46', name: '5,000 dependents of one owner that is deleted',
  async run(victim) {
    const owner = await send(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap('owner', {}) });
    const { uid } = (JSON.parse(owner.text) as { metadata: { uid: string } }).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    const statuses = await sendAll(victim, numbered(5000, (index) => ({
      method: 'POST', path: CONFIG_MAPS, body: configMap(`dependent${index}`, {}, { ownerReferences }) })));
    await send(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/owner` });
    const isGone = await waitForStatus(victim, { path: `${CONFIG_MAPS}/dependent4999` }, 404);
    const left = (JSON.parse((await send(victim, { path: CONFIG_MAPS })).text) as { items: unknown[] }).items.length;
    return { holds: isWhole(statuses, [201, 429]) && isGone && left < 5000, answer: `${statuses}, ${left} objects left` };
  },
};

/** Floods of small requests. */
export const floodAttacks: readonly Attack[] = [smallPages, badTokens, tokenReviews, events, smallFrames, namespaces, dependents];
