// Attacks by streams of containers: port-forward and exec with a kubelet, in this process, that does as the attack says. Alice may open streams of the
// pods in her namespace. After each attack
// the server must have closed every connection that it had for it.
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type tls from 'node:tls';
import { FakeKubelet } from '../../../src/server/proxy/testing.ts';
import { encodeDataHead, encodeSynStream } from '../../../src/server/streaming/spdy-frames.ts';
import { SpdyKubelet } from '../../../src/server/streaming/testing.ts';
import { type Attack, CONFIG_MAPS, type Outcome, type Victim, connect, describe, send } from '../attack.ts';

const POD = '/api/v1/namespaces/alice/pods/streams';
const EXEC = `${POD}/exec?command=sh&stdin=true&stdout=true`;
const FORWARD = `${POD}/portforward`;
const V5 = 'v5.channel.k8s.io';
const TUNNEL = 'SPDY/3.1+portforward.k8s.io';
const SWITCH_TO_SPDY = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';
/** What each way of a stream may hold beyond what the sockets do, and what all of an attack may take. */
const GROWN_MB = 128;
const SECONDS = 20;
/** Connections of the attacker's other requests. */
const FILES_LEFT = 8;

/** What an attack has. */
interface Stage {
  readonly victim: Victim;
  readonly kubelet: FakeKubelet;
  /** Opens a stream; resolves once the server has answered. */
  open(path: string, protocol: string): Promise<tls.TLSSocket>;
}

/** Bytes of a client's WebSocket frame; its mask is zero. */
export function encodeClientFrame(opcode: number, payload: Buffer, isLast = true): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (head.length === 2 ? payload.length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(payload.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

async function prepare(victim: Victim, kubelet: FakeKubelet): Promise<void> {
  const token = 'admin-token';
  const port = await kubelet.listen();
  await send(victim, { method: 'POST', path: '/api/v1/nodes', token, body: { kind: 'Node', apiVersion: 'v1', metadata: { name: 'streams' } } });
  const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  await send(victim, { method: 'PATCH', path: '/api/v1/nodes/streams/status', token, type: 'application/merge-patch+json', body: { status } });
  await send(victim, { method: 'POST', path: POD.replace('/streams', ''), token, body: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'streams' },
    spec: { nodeName: 'streams', automountServiceAccountToken: false, containers: [{ name: 'main', image: 'x' }] } } });
}

/** Asks for a stream and does not wait for the answer. */
async function ask(victim: Victim, path: string, protocol: string): Promise<tls.TLSSocket> {
  const socket = await connect(victim);
  const webSocket = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
    + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
  const spdy = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n`
    + 'X-Stream-Protocol-Version: portforward.k8s.io\r\nContent-Length: 0\r\n\r\n';
  socket.write(protocol === '' ? spdy : webSocket);
  return socket;
}

async function open(victim: Victim, path: string, protocol: string): Promise<tls.TLSSocket> {
  const socket = await ask(victim, path, protocol);
  const first = await new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve);
    socket.once('close', () => reject(new Error('the server closed the connection')));
  });
  if (!first.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(first.toString('latin1').slice(0, 200));
  return socket;
}

/** Ends a connection as a client does that has died: what it has written is not delivered, and the server is not asked. */
function reset(socket: tls.TLSSocket): void {
  const handle = (socket as unknown as { readonly _handle: { readonly _parent: { reset(done: () => void): void } } | null })._handle;
  handle?._parent.reset(() => {});
  socket.destroy();
}

/** Writes until so many bytes are written, the other side takes nothing for a second, or it is gone; returns the megabytes. */
async function writeMuch(socket: Duplex, piece: Buffer, bytes: number): Promise<number> {
  let written = 0;
  while (written < bytes && !socket.destroyed) {
    written += piece.length;
    if (socket.write(piece)) continue;
    const isOver = await Promise.race([new Promise<boolean>((resolve) => socket.once('drain', () => resolve(false))), sleep(1000).then(() => true)]);
    if (isOver) break;
  }
  return written / 2 ** 20;
}

async function waitUntil(holds: () => boolean): Promise<boolean> {
  for (let tenth = 0; tenth < SECONDS * 10 && !holds(); tenth++) await sleep(100);
  return holds();
}

/** An attack with a kubelet of its own; `act` returns what is to be said of it, and its clients are gone when it returns. */
function streamAttack(name: string, act: (stage: Stage) => Promise<Outcome>): Attack {
  return {
    number: '62', name,
    async run(victim) {
      const kubelet = new FakeKubelet();
      const sockets: tls.TLSSocket[] = [];
      try {
        await prepare(victim, kubelet);
        const beforeMb = victim.readMemoryMb() ?? 0;
        const filesBefore = victim.countFiles?.() ?? 0;
        let mostMb = 0;
        const meter = setInterval(() => {
          mostMb = Math.max(mostMb, (victim.readMemoryMb() ?? 0) - beforeMb);
        }, 100);
        const outcome = await act({ victim, kubelet, async open(path, protocol) {
          const socket = await open(victim, path, protocol);
          sockets.push(socket);
          return socket;
        } }).finally(() => clearInterval(meter));
        for (const socket of sockets) reset(socket);
        const leftFiles = (): number => (victim.countFiles?.() ?? 0) - filesBefore;
        const isEmpty = await waitUntil(() => leftFiles() <= FILES_LEFT);
        const answer = await send(victim, { path: CONFIG_MAPS });
        const holds = outcome.holds && isEmpty && answer.status === 200 && mostMb <= GROWN_MB;
        return { holds, answer: `${outcome.answer}; at most ${Math.round(mostMb)} MB, ${leftFiles()} files more, then ${describe(answer)}` };
      } finally {
        for (const socket of sockets) socket.destroy();
        kubelet.close();
        const token = 'admin-token';
        await send(victim, { method: 'DELETE', path: `${POD}?gracePeriodSeconds=0`, token });
        await send(victim, { method: 'DELETE', path: '/api/v1/nodes/streams', token });
      }
    },
  };
}

/** A kubelet that accepts what a port-forward is carried by, and reads it. */
const acceptForward = (kubelet: FakeKubelet, accepted: (socket: Duplex) => void): void => {
  kubelet.upgrade = (_request, socket) => {
    socket.on('error', () => {});
    socket.write(`${SWITCH_TO_SPDY}X-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n`);
    accepted(socket);
  };
};

/** Streams of one connection, each opened and never ended. */
const openings = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, (_, index) =>
  encodeSynStream(2 * index + 1, [['streamtype', index % 2 === 0 ? 'error' : 'data'], ['port', '80'], ['requestid', String(index >> 1)]], index === 0)));

const manyStreams = (name: string, protocol: string, wrap: (frames: Buffer) => Buffer): Attack => streamAttack(name, async ({ kubelet, open: openStream }) => {
  let read = 0;
  acceptForward(kubelet, (socket) => socket.on('data', (part: Buffer) => void (read += part.length)));
  const socket = await openStream(FORWARD, protocol);
  const bytes = wrap(openings(20_000));
  socket.resume();
  const writtenMb = await writeMuch(socket, bytes, bytes.length);
  await waitUntil(() => read >= 1_000_000);
  return { holds: read >= 1_000_000 && !socket.destroyed, answer: `${writtenMb.toFixed(1)} MB written, ${(read / 2 ** 20).toFixed(1)} read by the kubelet` };
});

/** One WebSocket message for each 100 bytes. */
function cutInMessages(bytes: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 100) frames.push(encodeClientFrame(2, bytes.subarray(at, at + 100)));
  return Buffer.concat(frames);
}

/** The sessions of containers, whose kubelet reads and answers as it must. */
const acceptSessions = (kubelet: FakeKubelet): SpdyKubelet[] => {
  const sessions: SpdyKubelet[] = [];
  kubelet.upgrade = (_request, socket) => void sessions.push(new SpdyKubelet(socket, 'v4.channel.k8s.io'));
  return sessions;
};

const PIECE = Buffer.alloc(64 * 1024, 0x61);

const smallInput = streamAttack('300,000 messages of one byte to a command', async ({ kubelet, open: openStream }) => {
  const sessions = acceptSessions(kubelet);
  const socket = await openStream(EXEC, V5);
  socket.resume();
  await waitUntil(() => sessions[0]?.types.includes('stdout') === true);
  await sleep(200);
  const frames = Buffer.concat(Array.from({ length: 10_000 }, () => encodeClientFrame(2, Buffer.from([0, 0x61]))));
  await writeMuch(socket, frames, 30 * frames.length);
  await waitUntil(() => (sessions[0]?.written.get('stdin')?.length ?? 0) >= 300_000);
  const read = sessions[0]?.written.get('stdin')?.length ?? 0;
  return { holds: read === 300_000, answer: `${read} came` };
});

const smallOutput = streamAttack('300,000 frames of one byte from a command', async ({ kubelet, open: openStream }) => {
  const sessions = acceptSessions(kubelet);
  const socket = await openStream(EXEC, V5);
  let read = 0;
  socket.on('data', (part: Buffer) => void (read += part.length));
  await waitUntil(() => sessions[0]?.types.includes('stdout') === true);
  await sleep(200);
  const id = 2 * (sessions[0]?.types.indexOf('stdout') ?? 0) + 1;
  const one = Buffer.concat([encodeDataHead(id, 1, false), Buffer.from('a')]);
  const frames = Buffer.concat(Array.from({ length: 10_000 }, () => one));
  const target = sessions[0]?.socket as Duplex;
  await writeMuch(target, frames, 30 * frames.length);
  await waitUntil(() => read >= 300_000);
  return { holds: read >= 300_000, answer: `${read} bytes came` };
});

/** Messages that never end: whole ones are passed on, so parts of them are what a server would have to keep. */
const endlessMessages = streamAttack('60 messages of 30 MB that never end', async ({ kubelet, open: openStream }) => {
  const sessions = acceptSessions(kubelet);
  const clients = await Promise.all(Array.from({ length: 60 }, () => openStream(EXEC, V5)));
  await waitUntil(() => sessions.length === 60 && sessions.every(({ types }) => types.includes('stdout')));
  await sleep(200);
  let writtenMb = 0;
  await Promise.all(clients.map(async (socket) => {
    socket.resume();
    socket.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x01, 0xe0, 0, 0, 0, 0, 0, 0]));
    const mb = await writeMuch(socket, PIECE, 30 * 2 ** 20);
    writtenMb += mb;
  }));
  await sleep(500);
  return { holds: true, answer: `${Math.round(writtenMb)} MB written` };
});

const endlessFragments = streamAttack('a message of 5,000,000 fragments of one byte', async ({ kubelet, open: openStream }) => {
  const sessions = acceptSessions(kubelet);
  const socket = await openStream(EXEC, V5);
  socket.resume();
  await waitUntil(() => sessions[0]?.types.includes('stdout') === true);
  await sleep(200);
  socket.write(encodeClientFrame(2, Buffer.from([0]), false));
  const fragments = Buffer.concat(Array.from({ length: 50_000 }, () => encodeClientFrame(0, Buffer.from('a'), false)));
  const writtenMb = await writeMuch(socket, fragments, 100 * fragments.length);
  await sleep(500);
  return { holds: true, answer: `${Math.round(writtenMb)} MB written, ${socket.destroyed ? 'closed' : 'open'}` };
});

const CLIENTS = 50;

/** Clients that send without end to a kubelet that reads nothing. */
function silentKubelet(name: string, path: string, protocol: string): Attack {
  return streamAttack(name, async ({ kubelet, open: openStream }) => {
    const sessions = path === EXEC ? acceptSessions(kubelet) : [];
    if (path === FORWARD) acceptForward(kubelet, (socket) => socket.pause());
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openStream(path, protocol)));
    if (path === EXEC) await waitUntil(() => sessions.length === CLIENTS && sessions.every(({ types }) => types.includes('stdout')));
    for (const { socket } of sessions) socket.pause();
    const message = protocol === '' ? PIECE : encodeClientFrame(2, Buffer.concat([Buffer.from([0]), PIECE]));
    let writtenMb = 0;
    await Promise.all(clients.map(async (socket) => {
      socket.resume();
      const mb = await writeMuch(socket, message, 20 * 2 ** 20);
      writtenMb += mb;
    }));
    return { holds: writtenMb < CLIENTS * 19, answer: `${Math.round(writtenMb)} of ${CLIENTS * 20} MB taken` };
  });
}

/** Clients that read nothing of what a kubelet sends without end. */
function silentClients(name: string, path: string, protocol: string): Attack {
  return streamAttack(name, async ({ kubelet, open: openStream }) => {
    let writtenMb = 0;
    const writing: Promise<void>[] = [];
    const write = (socket: Duplex, piece: Buffer): void => void writing.push(writeMuch(socket, piece, 20 * 2 ** 20).then((mb) => void (writtenMb += mb)));
    if (path === FORWARD) acceptForward(kubelet, (socket) => write(socket, PIECE));
    const sessions = path === EXEC ? acceptSessions(kubelet) : [];
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openStream(path, protocol)));
    for (const socket of clients) socket.pause();
    if (path === EXEC) await waitUntil(() => sessions.length === CLIENTS && sessions.every(({ types }) => types.includes('stdout')));
    for (const { socket, types } of sessions) {
      write(socket, Buffer.concat([encodeDataHead(2 * types.indexOf('stdout') + 1, PIECE.length, false), PIECE]));
    }
    await Promise.all(writing);
    return { holds: writtenMb < CLIENTS * 19, answer: `${Math.round(writtenMb)} of ${CLIENTS * 20} MB taken` };
  });
}

const hangingKubelet = streamAttack('600 streams of a kubelet that hangs before its answer', async ({ victim, kubelet }) => {
  const waiting: Duplex[] = [];
  kubelet.upgrade = (_request, socket) => void waiting.push(socket);
  const sockets: tls.TLSSocket[] = [];
  for (let count = 0; count < 600; count++) {
    const [path, protocol] = [[EXEC, ''], [FORWARD, ''], [EXEC, V5], [FORWARD, TUNNEL]][count % 4] as [string, string];
    sockets.push(await ask(victim, path, protocol));
  }
  await waitUntil(() => waiting.length >= 600);
  const answer = await send(victim, { path: CONFIG_MAPS });
  for (const socket of sockets) socket.destroy();
  return { holds: answer.status === 200, answer: `${waiting.length} asked, alice meanwhile ${describe(answer)}` };
});

const halfClosed = streamAttack('200 streams whose sides end one after the other', async ({ kubelet, open: openStream }) => {
  acceptForward(kubelet, (socket) => socket.on('data', () => {}));
  let closed = 0;
  for (let count = 0; count < 200; count++) {
    const socket = await openStream(FORWARD, count % 4 === 0 ? TUNNEL : '');
    socket.resume().on('close', () => closed++);
    // A client that ends its side and stays, and one that ends TLS but not TCP.
    socket.end();
  }
  await waitUntil(() => kubelet.connectionCount === 0 && closed === 200);
  return { holds: kubelet.connectionCount === 0 && closed === 200, answer: `${closed} closed` };
});

const rapidStreams = streamAttack('1,500 streams that are opened and dropped', async ({ victim, kubelet }) => {
  const sessions = acceptSessions(kubelet);
  for (let round = 0; round < 50; round++) {
    await Promise.all(Array.from({ length: 30 }, async (_, index) => {
      const socket = await ask(victim, index % 2 === 0 ? EXEC : FORWARD, index % 2 === 0 ? V5 : '').catch(() => undefined);
      await sleep(index);
      socket?.destroy();
    }));
  }
  return { holds: true, answer: `${sessions.length} reached the kubelet` };
});

/** Streams of containers. */
export const streamAttacks: readonly Attack[] = [
  manyStreams('20,000 SPDY streams on one connection', '', (frames) => frames),
  manyStreams('20,000 SPDY streams in WebSocket messages of 100 bytes', TUNNEL, cutInMessages),
  smallInput, smallOutput, endlessMessages, endlessFragments,
  silentKubelet('forwarded ports to a kubelet that reads nothing', FORWARD, ''),
  silentKubelet('tunnels to a kubelet that reads nothing', FORWARD, TUNNEL),
  silentKubelet('commands of a kubelet that reads nothing', EXEC, V5),
  silentClients('clients that read nothing of forwarded ports', FORWARD, ''),
  silentClients('clients that read nothing of tunnels', FORWARD, TUNNEL),
  silentClients('clients that read nothing of commands', EXEC, V5),
  hangingKubelet, halfClosed, rapidStreams,
];
