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

/** Selectors as long as a request line may be, over a thousand objects: an object takes time by its labels and not by the selector. */
const longSelectors: Attack = {
  number: '13', name: 'selectors of 40,000 requirements over 1,000 objects',
  async run(victim) {
    const names = Array.from({ length: 1000 }, (_, index) => `selected${index}`);
    for (const name of names) await send(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap(name, { a: 'b' }, { labels: { app: name } }) });
    const requirements = (make: (index: number) => string, count: number): string => Array.from({ length: count }, (_, index) => make(index)).join(',');
    const queries = [`labelSelector=${requirements((index) => `!k${index}`, 40_000)}`, `labelSelector=${requirements((index) => `k${index}!%3Da`, 40_000)}`,
      `fieldSelector=${requirements((index) => `metadata.name!%3Dq${index}`, 20_000)}`];
    const answers = [];
    for (const query of queries) answers.push(await send(victim, { path: `${CONFIG_MAPS}?${query}` }));
    await send(victim, { method: 'DELETE', path: CONFIG_MAPS });
    return { holds: answers.every(({ status }) => status === 200), answer: answers.map(describe).join(', ') };
  },
};

/** Everything that comes in numbers. */
export const loadAttacks: readonly Attack[] = [longSelectors, openApiStampede, watchStorm, vanishingReaders];
