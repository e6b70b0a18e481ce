// W15: what passes through the server to a kubelet: commands in containers whose sessions are held open and do nothing, and bytes through a forwarded
// port. Clients speak WebSocket, as kubectl does; the kubelet of the bench speaks SPDY.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { FakeKubelet, createNode, createPod } from '../../src/server/proxy/testing.ts';
import { SpdyKubelet } from '../../src/server/streaming/testing.ts';
import { openSocket } from '../load/connection.ts';
import { callOnce, makeRow, type Row, round, type Scale } from '../load/measure.ts';
import { type Target, readCpuMs, readMemoryMb } from '../load/target.ts';

const POD = '/api/v1/namespaces/default/pods/sessions';
const EXEC = { path: `${POD}/exec?command=sh&stdin=1&stdout=1&stderr=1`, protocol: 'v5.channel.k8s.io' };
const FORWARD = { path: `${POD}/portforward`, protocol: 'SPDY/3.1+portforward.k8s.io' };
/** Sessions that are opened at a time. */
const OPENING = 20;
/** Sessions that are closed again before any is counted, so that what the server makes once is there. */
const FIRST_SESSIONS = 50;
const PIECE = Buffer.alloc(64 * 1024);

type Session = typeof EXEC;

/** A session of a client; resolves when the server has accepted it. */
async function openSession(target: Target, { path, protocol }: Session): Promise<TLSSocket> {
  const socket = await openSocket(target);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${target.token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
    + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`);
  const [answer] = await once(socket, 'data') as [Buffer];
  if (!answer.toString('latin1').startsWith('HTTP/1.1 101 ')) throw new Error(`the server answered ${answer.toString('latin1')}`);
  socket.on('error', () => {});
  return socket;
}

async function openSessions(target: Target, count: number): Promise<TLSSocket[]> {
  const opened: TLSSocket[] = [];
  while (opened.length < count) {
    const batch = Math.min(OPENING, count - opened.length);
    opened.push(...await Promise.all(Array.from({ length: batch }, () => openSession(target, EXEC))));
  }
  for (const socket of opened) socket.resume();
  return opened;
}

/** Waits for the kubelet: the server accepts a client before it connects to it. */
async function untilConnected(kubelet: FakeKubelet, count: number): Promise<void> {
  while (kubelet.connectionCount < count) await sleep(20);
}

async function measureHeld(target: Target, kubelet: FakeKubelet, { watchers: count, idleMs }: Scale): Promise<Row> {
  kubelet.upgrade = (_request, socket) => void new SpdyKubelet(socket, 'v4.channel.k8s.io');
  const first = await openSessions(target, Math.min(FIRST_SESSIONS, count));
  await untilConnected(kubelet, first.length);
  // Not until the kubelet has none: kube-apiserver keeps one in some hundred whose clients have left.
  for (const socket of first) socket.destroy();
  await sleep(idleMs);
  const before = readMemoryMb(target).nowMb;
  const held = await openSessions(target, count);
  await untilConnected(kubelet, count);
  await sleep(idleMs);
  const kbPerSession = round(((readMemoryMb(target).nowMb - before) * 1024) / count);
  for (const socket of held) socket.destroy();
  // The end of so many takes the server a while, which is not the forwarded port's.
  await sleep(idleMs);
  return makeRow(target, { workload: `W15 ${count} exec sessions held`, latencies: [], elapsedMs: 1, usedMs: Number.NaN, extra: { kbPerSession } });
}

/** Bytes from the pod to the client, as fast as they are taken. */
async function measureForward(target: Target, kubelet: FakeKubelet, seconds: number): Promise<Row> {
  let isOver = false;
  kubelet.upgrade = (_request, socket) => {
    const pump = (): void => {
      while (!isOver && !socket.destroyed) if (!socket.write(PIECE)) return;
    };
    socket.on('error', () => {}).on('drain', pump);
    socket.resume();
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n');
    pump();
  };
  const socket = await openSession(target, FORWARD);
  let bytes = 0;
  const [startedMs, cpuMs] = [performance.now(), readCpuMs(target)];
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await sleep(seconds * 1000);
  const [elapsedMs, usedMs, megabytes] = [performance.now() - startedMs, readCpuMs(target) - cpuMs, bytes / 1e6];
  isOver = true;
  socket.destroy();
  const extra = { mbPerSecond: round((megabytes * 1000) / elapsedMs), cpuMsPerMb: round(usedMs / megabytes) };
  return makeRow(target, { workload: 'W15 port-forward', latencies: [], elapsedMs, usedMs: Number.NaN, extra });
}

/** Memory of sessions, and the rate of a forwarded port. */
export async function measureSessions(target: Target, scale: Scale): Promise<Row[]> {
  const kubelet = new FakeKubelet();
  const api = { request: ({ method, path, body }: { readonly method: string; readonly path: string; readonly body: object }) =>
    callOnce(target, { method, path, body: JSON.stringify(body), ...(method === 'PATCH' && { contentType: 'application/merge-patch+json' }) }) };
  try {
    await createNode(api, { name: 'sessions', address: '127.0.0.1', port: await kubelet.listen() });
    await api.request({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts', body: { metadata: { name: 'default' } } });
    await createPod(api, { name: 'sessions', node: 'sessions' });
    return [await measureHeld(target, kubelet, scale), await measureForward(target, kubelet, scale.seconds)];
  } finally {
    kubelet.close();
  }
}
