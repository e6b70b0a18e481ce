// One port, TLS with HTTP/2 and HTTP/1.1 side by side (or plain HTTP/1.1 when asked): opened, and closed without losing an answer.
import type { Server as HttpServer } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import { LinkedList, delay } from '../../base/index.ts';
import { describeError } from '../observability/logger.ts';
import type { TlsIdentity } from '../tls/tls-options.ts';
import { BodyReader } from './bodies.ts';
import type { HttpExchange } from './exchange.ts';
import { createHttp1 } from './http1.ts';
import { type Http2, createHttp2 } from './http2.ts';
import type { ListenerState, ProtocolOptions } from './listener-state.ts';
import { Callers, ConnectionEnds, RequestIntake, RequestTurns } from './turns.ts';
import { ResponseBatcher } from './response-batcher.ts';
import { type TlsFront, createTlsFront } from './tls-front.ts';

/** What a listener is made of. */
interface ListenerOptions extends ProtocolOptions {
  /** Absent: plain HTTP/1.1. */
  readonly tls?: TlsIdentity;
}

/** An open port. */
export interface Listener {
  /** Resolves with the port when connections are accepted; rejects when the address is taken or not ours. */
  listen(port: number, address: string): Promise<number>;
  /** Takes a connection that another process has accepted. Nothing has been read from it. */
  accept(socket: Socket): void;
  /** Waits up to `graceMs` until no request but long-running ones is in progress; those that come meanwhile are not waited for. */
  drain(graceMs: number): Promise<void>;
  /** Ends long-running requests, evenly over `graceMs`. */
  endWatches(graceMs: number): Promise<void>;
  /** Stops accepting, ends long-running requests at once, waits up to `graceMs` for the others, then closes every connection. */
  close(graceMs: number): Promise<void>;
  /** Other certificates and authorities, for a listener with TLS. */
  useIdentity(identity: TlsIdentity): void;
  /** Requests whose response is not finished. */
  readonly active: Iterable<HttpExchange> & { readonly size: number };
}

/** How long what was answered may take to leave once every request is over. */
const FLUSH_MS = 500;

/** Makes a listener that accepts nothing until `listen`. */
export function createListener(options: ListenerOptions): Listener {
  const responseBatcher = new ResponseBatcher((error) => options.logger.error('an answer could not be written', describeError(error)),
    options.beforeAnswer);
  const callers = new Callers();
  const [turns, intake] = [new RequestTurns(options.clock, callers), new RequestIntake(callers)];
  const state: ListenerState = {
    options, responseBatcher, callers, turns, intake, bodies: new BodyReader({ turns, intake, callers }), ends: new ConnectionEnds(), pipelined: 0,
    active: new LinkedList(), sockets: new Set(), secureSockets: new Set(), sessions: new Set(), stopping: false, onIdle: undefined, onEmpty: undefined,
  };
  const http1 = createHttp1(state);
  const http2 = options.tls === undefined ? undefined : createHttp2(state);
  const front = options.tls === undefined ? undefined : createTls(options.tls, state, { http1, http2: http2 as Http2 });
  const server = front?.server ?? http1;
  server.on('connection', (socket: Socket) => trackSocket(state, socket));
  // The HTTP/1.1 half gets its connections from the TLS server; it starts its header and keep-alive timers when it believes it listens.
  if (server !== http1) http1.emit('listening');
  return {
    active: state.active,
    useIdentity: (identity) => front?.use(identity),
    listen: (port, address) => openPort(server, port, address),
    accept: (socket) => void server.emit('connection', socket),
    drain: (graceMs) => drainRequests(state, graceMs),
    endWatches: (graceMs) => endWatches(state, graceMs),
    close: (graceMs) => closeListener(state, { server, http1, graceMs }),
  };
}

function trackSocket(state: ListenerState, socket: Socket): void {
  state.sockets.add(socket);
  socket.on('close', () => {
    state.sockets.delete(socket);
    if (state.sockets.size === 0) state.onEmpty?.();
  });
  socket.on('error', () => socket.destroy());
}

function openPort(server: NetServer, port: number, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: address, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve((server.address() as { port: number }).port);
    });
  });
}

function createTls(identity: TlsIdentity, state: ListenerState, servers: { http1: HttpServer; http2: Http2 }): TlsFront {
  return createTlsFront({
    identity, clock: state.options.clock, open: state.secureSockets, intake: state.intake,
    onSecure(socket) {
      state.secureSockets.add(socket);
      socket.on('close', () => state.secureSockets.delete(socket));
      socket.on('error', () => socket.destroy());
      if (socket.alpnProtocol !== 'h2') return servers.http1.emit('connection', socket);
      servers.http2.accept(socket);
    },
    onError(error, socket) {
      if (error.code === 'ERR_SSL_HTTP_REQUEST') answerPlainHttp(state.sockets, socket);
      state.options.countHandshakeError?.();
      state.options.logger.info(4, 'TLS handshake failed', { error: error.message });
    },
  });
}

/** Go's answer to plain HTTP on a TLS port. It is written to the TCP connection below, which is the one with the same peer. */
function answerPlainHttp(sockets: Iterable<Socket>, { remoteAddress, remotePort }: Socket): void {
  for (const socket of sockets) {
    if (socket.remotePort !== remotePort || socket.remoteAddress !== remoteAddress) continue;
    socket.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
  }
}

function drainRequests({ active, options: { clock } }: ListenerState, graceMs: number): Promise<void> {
  const waiting = [...active].filter((exchange) => !exchange.longRunning);
  if (waiting.length === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.after(graceMs, resolve);
    let left = waiting.length;
    const note = (): void => {
      left -= 1;
      if (left > 0) return;
      timer.cancel();
      resolve();
    };
    for (const exchange of waiting) exchange.onClosed(note);
  });
}

/** At least so many watches end per second, as in the reference. */
const MIN_ENDS_PER_SECOND = 200;

async function endWatches({ active, options: { clock } }: ListenerState, graceMs: number): Promise<void> {
  const watches = [...active].filter((exchange) => exchange.longRunning);
  const pauseMs = Math.min(graceMs / Math.max(watches.length, 1), 1000 / MIN_ENDS_PER_SECOND);
  for (const watch of watches) {
    watch.abort('the server is stopping');
    await delay(clock, pauseMs);
  }
}

async function closeListener(state: ListenerState, parts: { server: NetServer; http1: HttpServer; graceMs: number }): Promise<void> {
  const { server, http1, graceMs } = parts;
  state.stopping = true;
  // The server knows the connections that it has accepted; those of another process are counted here.
  const empty = state.sockets.size === 0 ? Promise.resolve() : new Promise<void>((resolve) => {
    state.onEmpty = resolve;
  });
  const closed = Promise.all([new Promise<void>((resolve) => server.close(() => resolve())), empty]);
  if (server !== http1) http1.close();
  for (const exchange of state.active) if (exchange.longRunning) exchange.abort('the server is stopping');
  for (const session of state.sessions) session.close();
  await waitUntilIdle(state, graceMs);
  for (const exchange of state.active) exchange.abort('the server is stopping');
  http1.closeIdleConnections();
  // Ended responses still have to leave the socket buffers.
  await new Promise((resolve) => setImmediate(resolve));
  for (const socket of server === http1 ? state.sockets : state.secureSockets) socket.destroySoon();
  const timer = state.options.clock.after(FLUSH_MS, () => {
    for (const socket of state.sockets) socket.destroy();
  });
  await closed;
  timer.cancel();
}

/** Connections are kept while requests are active, and may bring new ones until then: the wait ends when none is left, whichever came last. */
function waitUntilIdle(state: ListenerState, graceMs: number): Promise<void> {
  if (state.active.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = state.options.clock.after(graceMs, resolve);
    state.onIdle = () => {
      timer.cancel();
      resolve();
    };
  });
}
