// Attacks on the protocols below the API: HTTP/1.1 framing, HTTP/2 floods, TLS, connections that never finish.
import https from 'node:https';
import http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, CONFIG_MAPS, configMap, connect, describe, exchangeBytes, openSession, send } from '../attack.ts';
import { handshakeAttacks } from './handshakes.ts';
import { encodeFrame, http2Preface } from './http2-frame.ts';

const statusOf = (text: string): number => Number(/^HTTP\/1\.[01] (\d+)/.exec(text)?.[1] ?? 0);

/** Bytes of HTTP/1.1 whose framing is ambiguous: refused with 400 (or another 4xx), or the connection is closed, never served. */
function framingAttack(name: string, bytes: string): Attack {
  return {
    number: '58', name,
    async run(victim) {
      const { text, closed } = await exchangeBytes(victim, bytes, 1500);
      const status = statusOf(text);
      const isRefused = status >= 400 && status < 500 && !/\r\nHTTP\/1\.1 2/.test(text);
      return { holds: isRefused || (status === 0 && closed), answer: `${status === 0 ? 'closed' : status}` };
    },
  };
}

const request = (more: string, body = ''): string => `POST /version HTTP/1.1\r\nHost: x\r\n${more}\r\n${body}`;

const framing: readonly Attack[] = [
  framingAttack('Content-Length and Transfer-Encoding', request('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')),
  framingAttack('two Content-Lengths', request('Content-Length: 3\r\nContent-Length: 4\r\n', 'abcd')),
  framingAttack('a folded header', request('X-A: b\r\n c\r\nContent-Length: 0\r\n')),
  framingAttack('bare line feeds', 'GET /version HTTP/1.1\nHost: x\nX: \n\n'),
  framingAttack('two Hosts', 'GET /version HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'),
  framingAttack('a chunk extension of 100 kB', request('Transfer-Encoding: chunked\r\n', `1;${'x'.repeat(100_000)}\r\na\r\n0\r\n\r\n`)),
  framingAttack('TRACE', 'TRACE /version HTTP/1.1\r\nHost: x\r\n\r\n'),
];

/** Pipelined requests on connections that read nothing and close: every seat comes back. */
const seatLeak: Attack = {
  number: '57', name: 'pipelined requests that are never read',
  async run(victim) {
    const floods: readonly (readonly [string, string, number])[] = [
      ['', '/version', 3000], ['Authorization: Bearer alice-token\r\n', CONFIG_MAPS, 600], ['', '/openapi/v2', 600]];
    for (const [authorization, path, count] of floods) {
      for (let connection = 0; connection < 3; connection++) {
        const socket = await connect(victim);
        socket.pause();
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`.repeat(count));
        await sleep(500);
        socket.destroy();
      }
    }
    await sleep(1500);
    const metrics = (await send(victim, { path: '/metrics', token: 'admin-token' })).text;
    const seats = metrics.match(/current_executing_requests\{[^}]*\} \d+/g) ?? [];
    const taken = seats.filter((line) => !line.includes('exempt') && Number(line.split(' ').at(-1)) > 2);
    const answer = await send(victim, { path: CONFIG_MAPS, timeoutMs: 5000 });
    return { holds: taken.length === 0 && answer.status === 200, answer: `${describe(answer)}, seats taken: ${taken.join(' ') || 'none'}` };
  },
};

/** Many connections that send as many small requests as a read takes, all at once, and go away. */
function pipelineFlood(name: string, one: string): Attack {
  return {
    number: '57', name: `200 connections of pipelined ${name}`,
    async run(victim) {
      const before = victim.readMemoryMb() ?? 0;
      const sockets = [];
      for (let count = 0; count < 200; count++) sockets.push(await connect(victim));
      const bytes = one.repeat(60_000 / one.length);
      for (const socket of sockets) socket.resume().write(bytes);
      await sleep(3000);
      const grownMb = Math.round((victim.readMemoryMb() ?? 0) - before);
      for (const socket of sockets) socket.destroy();
      const answer = await send(victim, { path: CONFIG_MAPS });
      return { holds: answer.status === 200 && grownMb < 256, answer: `${describe(answer)}, ${grownMb} MB more` };
    },
  };
}

/** Many connections of one user that always have as many requests waiting as the server bears: as it answers, they send. */
const pipelineStream: Attack = {
  number: '57', name: '200 connections that keep 30 pipelined requests waiting',
  async run(victim) {
    const one = `GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n`;
    const sockets = [];
    for (let count = 0; count < 200; count++) sockets.push(await connect(victim));
    let answers = 0;
    for (const socket of sockets) {
      let waiting = 30;
      socket.on('data', (part: Buffer) => {
        const count = part.toString('latin1').split('HTTP/1.1 ').length - 1;
        answers += count;
        waiting -= count;
        if (waiting > 0) return;
        waiting += 30;
        socket.write(one.repeat(30));
      });
      socket.write(one.repeat(30));
    }
    await sleep(3000);
    for (const socket of sockets) socket.destroy();
    const answer = await send(victim, { path: CONFIG_MAPS });
    return { holds: answer.status === 200, answer: `${answers} answers, then ${describe(answer)}` };
  },
};

/** Thousands of headers before the one that restricts the request: refused whole, or served with all of them. */
const headerCount: Attack = {
  number: '60', name: 'Impersonate-User behind thousands of headers',
  async run(victim) {
    const body = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}';
    const seen: string[] = [];
    let holds = true;
    for (const count of [10, 1900, 2100, 5000]) {
      const junk = Array.from({ length: count }, (_, index) => `x${index}: 1\r\n`).join('');
      const { text } = await exchangeBytes(victim, 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n'
        + `${junk}Impersonate-User: alice\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`, 1500);
      const user = /"username":\s*"([^"]*)"/.exec(text)?.[1];
      holds &&= user === undefined || user === 'alice';
      seen.push(`${count}: ${statusOf(text)} ${user ?? ''}`.trim());
    }
    return { holds, answer: seen.join(', ') };
  },
};

/** Large bodies on one kept connection: every one is answered. */
const keepAliveBodies: Attack = {
  number: '57', name: 'large bodies on one kept connection',
  async run(victim) {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    const lost: string[] = [];
    let sent = 0;
    for (const kilobytes of [26, 60, 200]) {
      for (let count = 0; count < 150; count++) {
        sent++;
        const body = configMap('big', { x: 'y'.repeat(kilobytes * 1024) });
        const answer = await send(victim, { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, agent, body });
        if (answer.status !== 201) lost.push(answer.error ?? String(answer.status));
      }
    }
    agent.destroy();
    return { holds: lost.length === 0, answer: `${sent} sent, ${lost.length} lost ${[...new Set(lost)].join(' ')}` };
  },
};

/** Streams that are reset as soon as they are opened. */
const rapidReset: Attack = {
  number: '59', name: '20,000 streams that are reset at once',
  async run(victim) {
    const { session, isClosed } = openSession(victim);
    for (let count = 0; count < 20_000 && !isClosed(); count++) {
      try {
        const stream = session.request({ ':path': '/version' });
        stream.on('error', () => {});
        stream.close(http2.constants.NGHTTP2_CANCEL);
      } catch {
        break;
      }
      if (count % 500 === 0) await sleep(0);
    }
    await sleep(1000);
    const holds = isClosed();
    session.destroy();
    return { holds, answer: holds ? 'the server closed the connection' : 'the connection is still open' };
  },
};

/** Frames that cost the server an answer or memory each, sent without reading; the memory stays bounded. */
function frameFlood(name: string, frames: Buffer): Attack {
  return {
    number: '59', name,
    async run(victim) {
      const before = victim.readMemoryMb();
      const socket = await connect(victim, 'h2');
      let closed = false;
      socket.on('close', () => {
        closed = true;
      });
      socket.pause();
      socket.write(Buffer.concat([http2Preface, encodeFrame(4, 0)]));
      for (let round = 0; round < 40 && !closed; round++) {
        socket.write(frames);
        await sleep(10);
      }
      await sleep(300);
      const grownMb = (victim.readMemoryMb() ?? 0) - (before ?? 0);
      socket.destroy();
      return { holds: grownMb < 64, answer: `${closed ? 'closed' : 'open'}, ${Math.round(grownMb)} MB more` };
    },
  };
}

const repeatFrame = (one: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => one));

const floods: readonly Attack[] = [
  frameFlood('80,000 PINGs', repeatFrame(encodeFrame(6, 0, { payload: Buffer.alloc(8) }), 2000)),
  frameFlood('80,000 SETTINGS', repeatFrame(encodeFrame(4, 0), 2000)),
  frameFlood('endless CONTINUATION', Buffer.concat([encodeFrame(1, 1, { stream: 1, payload: Buffer.from([0x82]) }),
    repeatFrame(encodeFrame(9, 0, { stream: 1, payload: Buffer.concat([Buffer.from([0x00, 0x7f, 0x81, 0x3f]), Buffer.alloc(16_000, 0x61)]) }), 10)])),
];

/** Headers that come one a second. */
const slowHeaders: Attack = {
  number: '59', name: 'headers that come one a second',
  async run(victim) {
    const socket = await connect(victim);
    const began = performance.now();
    let closedMs: number | undefined;
    socket.on('close', () => {
      closedMs ??= performance.now() - began;
    });
    socket.resume();
    socket.write('GET /version HTTP/1.1\r\nHost: x\r\n');
    for (let second = 0; second < 45 && closedMs === undefined; second++) {
      await sleep(1000);
      if (closedMs === undefined) socket.write(`x${second}: 1\r\n`);
    }
    socket.destroy();
    const answer = closedMs === undefined ? 'open after 45 s' : `closed after ${Math.round(closedMs / 1000)} s`;
    return { holds: closedMs !== undefined && closedMs <= 34_000, answer };
  },
};

/** Everything below the API. */
export const protocolAttacks: readonly Attack[] = [
  ...framing, seatLeak, pipelineFlood('lists', `GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n`),
  pipelineFlood('requests without a host', 'GET / HTTP/1.1\r\n\r\n'), pipelineStream, headerCount,
  keepAliveBodies, rapidReset,
  ...floods, ...handshakeAttacks, slowHeaders,
];
