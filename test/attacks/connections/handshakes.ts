// Attacks on the handshakes of TLS: many at once, those that bring requests with them, those that must be refused.
import { once } from 'node:events';
import net from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { type Attack, CONFIG_MAPS, type Victim, describe, send } from '../attack.ts';
import { encodeFrame, http2Preface } from './http2-frame.ts';

/** Connections that all begin their handshake at once, and end at once. */
const handshakeFlood: Attack = {
  number: '59', name: '1,000 handshakes at once',
  async run(victim) {
    const { hostname: host, port } = new URL(victim.url);
    const open = (): tls.TLSSocket => tls.connect({ host, port: Number(port), rejectUnauthorized: false }).on('error', () => {});
    const sockets = Array.from({ length: 1000 }, open);
    let secure = 0;
    for (const socket of sockets) socket.on('secureConnect', () => secure++);
    for (let second = 0; second < 20 && secure < sockets.length; second++) await sleep(1000);
    for (const socket of sockets) socket.destroy();
    const answer = await send(victim, { path: CONFIG_MAPS });
    return { holds: answer.status === 200, answer: `${secure} of them secure, then ${describe(answer)}` };
  },
};

/** A connection whose client holds back the last part of its handshake together with `bytes`; what it returns sends both. */
async function holdHandshake({ url }: Victim, bytes: Buffer, alpn: string): Promise<{ send(): void; destroy(): void }> {
  const { hostname: host, port } = new URL(url);
  const socket = net.connect(Number(port), host).on('error', () => {});
  const held: Buffer[] = [];
  let isHeld = false;
  const below = new Duplex({
    read() {},
    write(part: Buffer, _, done) {
      if (isHeld) held.push(part);
      else socket.write(part);
      // The hello is the first thing that is written.
      isHeld = true;
      done();
    },
  });
  socket.on('data', (part) => below.push(part));
  const secure = tls.connect({ socket: below, host, rejectUnauthorized: false, ALPNProtocols: [alpn] }).on('error', () => {});
  await once(secure, 'secureConnect');
  await new Promise((resolve) => secure.write(bytes, resolve));
  return { send: () => void socket.write(Buffer.concat(held)), destroy: () => socket.destroy() };
}

/** Handshakes whose last parts come at once, each with as many requests as one read takes. */
function requestsInHandshakes(name: string, bytes: Buffer, alpn: string): Attack {
  return {
    number: '59', name: `40 handshakes that end with ${name}`,
    async run(victim) {
      for (let round = 0; round < 3; round++) {
        const connections = await Promise.all(Array.from({ length: 40 }, () => holdHandshake(victim, bytes, alpn)));
        for (const connection of connections) connection.send();
        await sleep(1500);
        for (const connection of connections) connection.destroy();
      }
      const answer = await send(victim, { path: CONFIG_MAPS });
      return { holds: answer.status === 200, answer: describe(answer) };
    },
  };
}

const READ_BYTES = 16_000;
const getVersion = Buffer.from('GET /version HTTP/1.1\r\nHost: x\r\n\r\n');
/** GET of `/` with the authority x, as indexed fields of HPACK; the number of the stream is set by the sender. */
const getRoot = Buffer.from([0x82, 0x87, 0x84, 0x41, 1, 0x78]);
const END_STREAM_AND_HEADERS = 5;

const pipelined = Buffer.concat(Array.from({ length: Math.floor(READ_BYTES / getVersion.length) }, () => getVersion));
const streams = Buffer.concat([http2Preface, encodeFrame(4, 0), ...Array.from({ length: 1000 }, (_, at) => (
  encodeFrame(1, END_STREAM_AND_HEADERS, { stream: 2 * at + 1, payload: getRoot })))]);

/** A handshake that the server must refuse. */
function tlsAttack(name: string, options: tls.ConnectionOptions): Attack {
  return {
    number: '63', name,
    run: ({ url }: Victim) => new Promise((resolve) => {
      const { hostname: host, port } = new URL(url);
      const socket = tls.connect({ host, port: Number(port), rejectUnauthorized: false, ...options }, () => {
        resolve({ holds: false, answer: `connected with ${socket.getCipher().name}` });
        socket.destroy();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve({ holds: true, answer: `refused (${error.code ?? error.message})` }));
    }),
  };
}

/** Handshakes. */
export const handshakeAttacks: readonly Attack[] = [
  handshakeFlood, requestsInHandshakes('pipelined requests', pipelined, 'http/1.1'), requestsInHandshakes('a thousand streams', streams, 'h2'),
  tlsAttack('TLS 1.1', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  tlsAttack('a CBC cipher suite', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:AES128-SHA' }),
];
