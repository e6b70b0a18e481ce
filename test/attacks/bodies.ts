// Attacks by the bodies of requests: many large ones at once, and those whose end never comes.
import http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { type Attack, CONFIG_MAPS, type Victim, configMap, connect, describe, ignoreErrorsBelow, send } from './attack.ts';

const BODY_BYTES = 3_000_000;
const large = Buffer.from(JSON.stringify(configMap('large', { x: 'y'.repeat(1_000_000) })).padEnd(BODY_BYTES));

const headOf = (length: number): string => `POST ${CONFIG_MAPS}?dryRun=All HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n`
  + `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

/** Opens connections, some at a time: the system refuses those of thousands that it cannot queue. */
async function connectAll(victim: Victim, count: number): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  while (sockets.length < count) sockets.push(...await Promise.all(Array.from({ length: Math.min(100, count - sockets.length) }, () => connect(victim))));
  return sockets;
}

/** Counts the answers of connections by status. */
function countAnswers(sockets: readonly TLSSocket[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const socket of sockets) {
    socket.on('data', (part: Buffer) => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(part.toString('latin1'))?.[1];
      if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
    });
  }
  return counts;
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((total, count) => total + count, 0);

const ANSWERED_WITHIN_SECONDS = 60;
const MOST_MB = 320;

/** Follows the memory of the server; what it returns is the most that it grew. */
function followMemory(victim: Victim): () => number {
  const before = victim.readMemoryMb() ?? 0;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, victim.readMemoryMb() ?? 0);
  }, 50);
  return () => {
    clearInterval(timer);
    return Math.round(most - before);
  };
}

const largeBodies: Attack = {
  number: '2', name: '100 bodies of 3 MB at once',
  async run(victim) {
    const endMemory = followMemory(victim);
    const sockets = await connectAll(victim, 100);
    const counts = countAnswers(sockets);
    for (const socket of sockets) socket.write(headOf(large.length) + large.toString('latin1'), 'latin1');
    for (let second = 0; second < ANSWERED_WITHIN_SECONDS && sum(counts) < sockets.length; second++) await sleep(1000);
    for (const socket of sockets) socket.destroy();
    const most = endMemory();
    return { holds: counts.get('201') === sockets.length && most < MOST_MB, answer: `${JSON.stringify(Object.fromEntries(counts))}, ${most} MB more at most` };
  },
};

/** Bodies that lack their last byte hold neither seats nor much memory: others are served, and so is another request of the same user. */
function endlessBodies(bytes: number, count: number): Attack {
  return {
    number: '2', name: `${count} bodies of ${bytes} bytes without their end`,
    async run(victim) {
      const endMemory = followMemory(victim);
      const sockets = await connectAll(victim, count);
      const part = headOf(bytes) + large.subarray(0, bytes - 1).toString('latin1');
      for (const socket of sockets) socket.resume().write(part, 'latin1');
      await sleep(3000);
      const body = configMap('mine', { a: 'b' });
      const own = await send(victim, { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body });
      const other = await send(victim, { method: 'PUT', path: '/api/v1/namespaces/bob/configmaps/mine?dryRun=All', token: 'bob-token', body });
      for (const socket of sockets) socket.destroy();
      const most = endMemory();
      return { holds: own.status === 201 && [200, 201].includes(other.status) && most < MOST_MB,
        answer: `${describe(own)}, for bob ${describe(other)}; ${most} MB more at most` };
    },
  };
}

const streamedBodies: Attack = {
  number: '2', name: '60 bodies of 3 MB on 4 connections',
  async run(victim) {
    const endMemory = followMemory(victim);
    // Node's client resets streams once 10 MB wait to be sent.
    const sessions = Array.from({ length: 4 }, () => http2.connect(victim.url, { rejectUnauthorized: false, maxSessionMemory: 200 }));
    const counts = new Map<string, number>();
    for (const session of sessions) {
      session.on('error', () => {}).on('connect', ignoreErrorsBelow);
      for (let at = 0; at < 15; at++) {
        const stream = session.request({
          ':method': 'POST', ':path': `${CONFIG_MAPS}?dryRun=All`, authorization: 'Bearer alice-token', 'content-type': 'application/json',
          'content-length': large.length });
        stream.on('error', () => {}).on('response', (headers) => {
          const status = String(headers[':status']);
          counts.set(status, (counts.get(status) ?? 0) + 1);
        });
        stream.resume().end(large);
      }
    }
    for (let second = 0; second < ANSWERED_WITHIN_SECONDS && sum(counts) < 60; second++) await sleep(1000);
    for (const session of sessions) session.destroy();
    const most = endMemory();
    const answer = await send(victim, { path: CONFIG_MAPS });
    return { holds: counts.get('201') === 60 && answer.status === 200 && most < MOST_MB,
      answer: `${JSON.stringify(Object.fromEntries(counts))}, ${most} MB more at most, then ${describe(answer)}` };
  },
};

/** Attacks by bodies. */
export const bodyAttacks: readonly Attack[] = [largeBodies, streamedBodies, endlessBodies(3_000_000, 800), endlessBodies(100, 2000)];
