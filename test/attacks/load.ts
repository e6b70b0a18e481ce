// Attacks by number: many requests, watches or connections of one caller at once.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, CONFIG_MAPS, configMap, connect, describe, openSession, send } from './attack.ts';

/** The largest document asked for by thousands of requests that are not read. */
const openApiStampede: Attack = {
  number: '61', name: '2,000 requests for /openapi/v2 that are not read',
  async run(victim) {
    const socket = await connect(victim);
    socket.pause();
    for (let count = 0; count < 20; count++) socket.write('GET /openapi/v2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n'.repeat(100));
    await sleep(1500);
    socket.destroy();
    const answer = await send(victim, { path: '/readyz', token: null });
    return { holds: answer.status === 200 && answer.ms < 2000, answer: `readyz ${describe(answer)}` };
  },
};

/** Watches from the most recent version on one kind: the server serves others and gives everything back. */
const watchStorm: Attack = {
  number: '61', name: '2,000 watches of one kind on 20 connections',
  async run(victim) {
    const sessions = Array.from({ length: 20 }, () => openSession(victim));
    const headers = { ':path': `${CONFIG_MAPS}?watch=1`, authorization: 'Bearer alice-token' };
    const statuses = new Map<string, number>();
    for (const { session } of sessions) {
      for (let count = 0; count < 100; count++) {
        const stream = session.request(headers);
        stream.on('response', ({ ':status': status }) => statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1));
        stream.on('error', () => {});
        stream.resume();
      }
    }
    await sleep(2000);
    const write = await send(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap('seen', { a: 'b' }) });
    await sleep(500);
    for (const { session } of sessions) session.destroy();
    await send(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/seen` });
    return { holds: write.status === 201 || write.status === 429, answer: `write ${describe(write)}; watches ${JSON.stringify(Object.fromEntries(statuses))}` };
  },
};

/** Receivers of a large list that vanish in the middle of it. */
const vanishingReaders: Attack = {
  number: '61', name: '50 readers of a large list that vanish',
  async run(victim) {
    const bodies = Array.from({ length: 20 }, (_, index) => configMap(`large${index}`, { x: 'y'.repeat(500_000) }));
    for (const body of bodies) await send(victim, { method: 'POST', path: CONFIG_MAPS, body });
    for (let count = 0; count < 50; count++) {
      const socket = await connect(victim);
      socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n`);
      setTimeout(() => socket.destroy(), 20);
    }
    await sleep(1000);
    const answer = await send(victim, { method: 'DELETE', path: CONFIG_MAPS });
    return { holds: answer.status === 200, answer: describe(answer) };
  },
};

/** Everything that comes in numbers. */
export const loadAttacks: readonly Attack[] = [openApiStampede, watchStorm, vanishingReaders];
