// Attacks by number: thousands of watches that say nothing, readers that do not read, connections that never speak.
import http2 from 'node:http2';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, CONFIG_MAPS, type Victim, configMap, connect, describe, ignoreErrorsBelow, send } from './attack.ts';

const WATCHES_A_CONNECTION = 100;
/** What an idle watch may take, its HTTP/2 stream included. */
const WATCH_KB = 32;

const grownMb = ({ readMemoryMb }: Victim, beforeMb: number | undefined): number => Math.round((readMemoryMb() ?? 0) - (beforeMb ?? 0));

interface Watches {
  readonly sessions: http2.ClientHttp2Session[];
  seen: number;
  opened: number;
}

/** Opens watches from the most recent version; `seen` counts the events that came. */
function openWatches({ url }: Victim, count: number): Watches {
  const state: Watches = { sessions: [], seen: 0, opened: 0 };
  for (let at = 0; at < count; at += WATCHES_A_CONNECTION) {
    const session = http2.connect(url, { rejectUnauthorized: false });
    session.on('error', () => {}).on('connect', ignoreErrorsBelow);
    state.sessions.push(session);
    for (let i = 0; i < WATCHES_A_CONNECTION; i++) {
      const stream = session.request({ ':path': `${CONFIG_MAPS}?watch=1`, authorization: 'Bearer alice-token' });
      stream.on('response', ({ ':status': status }) => void (state.opened += status === 200 ? 1 : 0));
      stream.on('data', (part: Buffer) => void (state.seen += part.includes('seen-by-all') ? 1 : 0));
      stream.on('error', () => {});
    }
  }
  return state;
}

/** Waits until it holds, for so many seconds at most. */
async function waitUntil(holds: () => boolean, seconds: number): Promise<void> {
  for (let tenth = 0; tenth < seconds * 10 && !holds(); tenth++) await sleep(100);
}

/** Watches that wait: they are opened slowly, cost little, all of them see a change, and all of it is given back. */
function idleWatches(count: number): Attack {
  return {
    number: '61', name: `${count} idle watches`,
    async run(victim) {
      const beforeMb = victim.readMemoryMb();
      const batches: Watches[] = [];
      for (let opened = 0; opened < count; opened += 500) {
        batches.push(openWatches(victim, 500));
        await sleep(100);
      }
      const total = (pick: 'seen' | 'opened'): number => batches.reduce((sum, batch) => sum + batch[pick], 0);
      await waitUntil(() => total('opened') === count, 30);
      const takenMb = grownMb(victim, beforeMb);
      const write = await send(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap('seen-by-all', { a: 'b' }) });
      await waitUntil(() => total('seen') === count, 20);
      const answer = `${total('opened')} open in ${takenMb} MB, write ${describe(write)}, seen by ${total('seen')}`;
      for (const { sessions } of batches) for (const session of sessions) session.destroy();
      await send(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/seen-by-all` });
      return { holds: total('seen') === count && takenMb * 1024 <= count * WATCH_KB, answer };
    },
  };
}

/** Connections that ask for a list of 10 MB each and read nothing of it: what is kept for them is bounded. */
const slowReaders: Attack = {
  number: '61', name: '500 readers that do not read',
  async run(victim) {
    const data = { x: 'y'.repeat(500_000) };
    for (let count = 0; count < 20; count++) await send(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap(`large${count}`, data) });
    const beforeMb = victim.readMemoryMb();
    const sockets = [];
    for (let count = 0; count < 500; count++) {
      const socket = await connect(victim);
      socket.pause();
      socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n`);
      sockets.push(socket);
    }
    await sleep(3000);
    const takenMb = grownMb(victim, beforeMb);
    for (const socket of sockets) socket.destroy();
    const answer = await send(victim, { method: 'DELETE', path: CONFIG_MAPS });
    return { holds: takenMb <= 128 && answer.status === 200, answer: `${takenMb} MB for them, then ${describe(answer)}` };
  },
};

/** Connections that are opened and never speak, and TLS connections that never ask: closed in time, and cheap until then. */
const silentConnections: Attack = {
  number: '59', name: '1,000 connections that say nothing',
  async run(victim) {
    const { hostname: host, port } = new URL(victim.url);
    const beforeMb = victim.readMemoryMb();
    let closed = 0;
    const sockets: net.Socket[] = [];
    for (let count = 0; count < 1000; count++) {
      const socket = count % 5 === 0 ? await connect(victim) : net.connect(Number(port), host);
      sockets.push(socket);
      socket.on('error', () => {}).on('close', () => closed++).resume();
    }
    await sleep(1000);
    const takenMb = grownMb(victim, beforeMb);
    const began = performance.now();
    await waitUntil(() => closed === sockets.length, 40);
    const seconds = Math.round((performance.now() - began) / 1000);
    for (const socket of sockets) socket.destroy();
    return { holds: closed >= 1000 && takenMb <= 64, answer: `${closed} closed after ${seconds} s, ${takenMb} MB until then` };
  },
};

/** What holds for thousands. */
export const faultAttacks: readonly Attack[] = [idleWatches(5000), idleWatches(10_000), slowReaders, silentConnections];
