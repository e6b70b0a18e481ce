// One port, TLS with HTTP/2 and HTTP/1.1 side by side (or plain HTTP/1.1 when asked): each request becomes an Exchange, each answer is written.
// What a client can do to a connection is bounded here: header sizes and times, streams per connection, resets per second.
import { type IncomingMessage, type OutgoingHttpHeaders, type Server as HttpServer, ServerResponse, createServer as createHttpServer } from 'node:http';
import {
  type Http2Server, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream, constants, createServer as createHttp2Server,
} from 'node:http2';
import type { Server as NetServer, Socket } from 'node:net';
import { type TLSSocket, createServer as createTlsServer } from 'node:tls';
import { type Clock, LinkedList, type Random, type MaybePromise, catchMaybe, mapMaybe } from '../../base/index.ts';
import type { Exchange, Handler, Response } from '../../endpoints/index.ts';
import { createCertificateCheck, describeCertificate } from '../tls/client-certificate.ts';
import { ResponseBatcher } from './response-batcher.ts';
import { type HttpExchange, type RequestHead, type Wire, createExchange } from './exchange.ts';
import { type Logger, describeError } from '../observability/logger.ts';
import { type WebSocketRequest, isEventStream, readWebSocketRequest, writeWebSocket } from './websocket.ts';
import { writeResponse } from './write-response.ts';

/** What a listener is made of. */
interface ListenerOptions {
  /** Absent: plain HTTP/1.1. PEM texts; `clientAuthorities` verify client certificates, which nobody is forced to show. */
  readonly tls?: {
    readonly certificate: string;
    readonly key: string;
    readonly clientAuthorities: readonly string[];
    /** Authorities of front proxies; their certificates stand for no client. */
    readonly proxyAuthorities?: readonly string[];
  };
  readonly maxStreamsPerConnection: number;
  /** Unanswered streams that a client may give up at once, per connection and ten seconds; 1000 unless told. */
  readonly maxResets?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly handler: Handler;
  /** Receives HTTP/1.1 connections that ask for another protocol than WebSocket; without it they are answered as if they had not asked. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
}

/** An open port. */
export interface Listener {
  /** Resolves with the port when connections are accepted; rejects when the address is taken or not ours. */
  listen(port: number, address: string): Promise<number>;
  /** Stops accepting, ends long-running requests at once, waits up to `graceMs` for the others, then closes every connection. */
  close(graceMs: number): Promise<void>;
  /** Requests whose response is not finished. */
  readonly active: Iterable<HttpExchange> & { readonly size: number };
}

const headersTimeoutMs = 32_000;
const maxHeaderBytes = 128 * 1024;
const windowBytes = 1024 * 1024;
/** Streams that a client may reset before they are answered, per connection and ten seconds (CVE-2023-44487). */
const defaultMaxResets = 1000;
const resetPeriodMs = 10_000;
/** A stream that was open for longer was meant: a watch that is no longer wanted. */
const rapidResetMs = 1000;
const badTarget = new TextEncoder().encode('400 Bad Request');

/** Makes a listener that accepts nothing until `listen`. */
export function createListener(options: ListenerOptions): Listener {
  const responseBatcher = new ResponseBatcher((error) => options.logger.error('an answer could not be written', describeError(error)));
  const state: ListenerState = {
    options, responseBatcher, active: new LinkedList(), sockets: new Set(), sessions: new Set(), stopping: false, accepting: undefined,
  };
  const http1 = createHttp1(state);
  const http2 = options.tls === undefined ? undefined : createHttp2(state);
  const server = options.tls === undefined ? http1 : createTls(options.tls, state, { http1, http2: http2 as Http2Server });
  server.on('connection', (socket: Socket) => trackSocket(state, socket));
  // The HTTP/1.1 half gets its connections from the TLS server; it starts its header and keep-alive timers when it believes it listens.
  if (server !== http1) http1.emit('listening');
  return {
    active: state.active,
    listen: (port, address) => openPort(server, port, address),
    close: (graceMs) => closeListener(state, { server, http1, graceMs }),
  };
}

interface ListenerState {
  readonly options: ListenerOptions;
  readonly active: LinkedList<HttpExchange>;
  readonly sockets: Set<Socket>;
  readonly sessions: Set<ServerHttp2Session>;
  readonly responseBatcher: ResponseBatcher;
  stopping: boolean;
  /** The connection whose HTTP/2 session is being made; a session does not give its own socket away. */
  accepting: TLSSocket | undefined;
}

function trackSocket(state: ListenerState, socket: Socket): void {
  state.sockets.add(socket);
  socket.on('close', () => state.sockets.delete(socket));
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

function createTls(tls: NonNullable<ListenerOptions['tls']>, state: ListenerState, servers: { http1: HttpServer; http2: Http2Server }): NetServer {
  const server = createTlsServer({
    cert: tls.certificate,
    key: tls.key,
    ...(tls.clientAuthorities.length > 0 && { ca: [...tls.clientAuthorities, ...tls.proxyAuthorities ?? []] }),
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: 10_000,
    noDelay: true,
  });
  const judge = createCertificateCheck(tls.clientAuthorities, tls.proxyAuthorities ?? []);
  server.on('secureConnection', (socket: TLSSocket) => {
    judge(socket);
    socket.on('error', () => socket.destroy());
    if (socket.alpnProtocol !== 'h2') return servers.http1.emit('connection', socket);
    state.accepting = socket;
    servers.http2.emit('connection', socket);
  });
  server.on('tlsClientError', (error) => state.options.logger.info(4, 'TLS handshake failed', { error: error.message }));
  return server;
}

function createHttp1(state: ListenerState): HttpServer {
  const { options } = state;
  const server = createHttpServer({
    maxHeaderSize: maxHeaderBytes, headersTimeout: headersTimeoutMs, requestTimeout: 0, keepAliveTimeout: 90_000, noDelay: true,
  }, (request, response) => handleHttp1(state, request, response));
  server.on('dropRequest', (_request, socket: Socket) => socket.destroy());
  server.on('upgrade', (request, socket: Socket, head) => {
    const webSocket = readWebSocketRequest(request);
    if (webSocket === undefined && options.onUpgrade !== undefined) options.onUpgrade(request, socket, head);
    else handleUpgrade(state, request, { request: webSocket, socket, head });
  });
  return server;
}

/** What is left of a request that asked for another protocol: its connection, and the handshake if it asked for a WebSocket. */
interface Upgrade {
  readonly request: WebSocketRequest | undefined;
  readonly socket: Socket;
  readonly head: Buffer;
}

/** The connection is ours alone after this request: whatever is not a stream of events is answered as usual, then it is closed. */
function handleUpgrade(state: ListenerState, request: IncomingMessage, upgrade: Upgrade): void {
  const { socket } = upgrade;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  // Node has taken its own listeners off the connection.
  socket.on('drain', () => response.emit('drain'));
  response.on('finish', () => socket.destroySoon());
  socket.on('error', () => socket.destroy());
  const token = upgrade.request?.token;
  if (token !== undefined && request.headers.authorization === undefined) request.headers.authorization = `Bearer ${token}`;
  handleHttp1(state, request, response, upgrade);
}

function createHttp2(state: ListenerState): Http2Server {
  const server = createHttp2Server({
    settings: {
      maxConcurrentStreams: state.options.maxStreamsPerConnection, initialWindowSize: windowBytes, maxHeaderListSize: maxHeaderBytes, enablePush: false,
    },
    maxSessionMemory: 64,
  });
  server.on('session', (session) => {
    state.sessions.add(session);
    session.setLocalWindowSize(windowBytes);
    session.on('error', () => session.destroy());
    session.on('close', () => state.sessions.delete(session));
    const context = createSessionContext(state, state.accepting as TLSSocket);
    session.on('stream', (stream, headers, _flags, rawHeaders?: readonly string[]) => {
      handleHttp2(state, context, { stream, headers, rawHeaders: rawHeaders ?? [] });
    });
  });
  server.on('sessionError', () => {});
  return server;
}

/** What all requests of one HTTP/2 connection share. */
interface SessionContext {
  readonly remoteAddress: string;
  readonly clientCertificate: Exchange['clientCertificate'];
  countReset(): void;
}

function createSessionContext(state: ListenerState, socket: TLSSocket): SessionContext {
  const { clock, logger, maxResets = defaultMaxResets } = state.options;
  let resets = 0;
  let periodStartMs = clock.monotonicMs();
  return {
    remoteAddress: socket.remoteAddress ?? '',
    clientCertificate: describeCertificate(socket),
    countReset() {
      const nowMs = clock.monotonicMs();
      if (nowMs - periodStartMs > resetPeriodMs) {
        periodStartMs = nowMs;
        resets = 0;
      }
      resets += 1;
      if (resets <= maxResets || socket.destroyed) return;
      logger.warn('closing a connection that resets too many streams', { remote: socket.remoteAddress });
      socket.destroy();
    },
  };
}

interface Http2Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

function handleHttp2(state: ListenerState, context: SessionContext, request: Http2Request): void {
  const { stream, headers } = request;
  const head: RequestHead = {
    method: headers[':method'] as string,
    target: headers[':path'] ?? '',
    headers: headers as RequestHead['headers'],
    rawHeaders: request.rawHeaders,
    remoteAddress: context.remoteAddress,
    clientCertificate: context.clientCertificate,
    connection: context,
    auditId: (headers['audit-id'] as string | undefined) || state.options.random.uuid(),
  };
  const wire: Wire = {
    input: stream,
    output: stream,
    sendContinue: () => !stream.headersSent && !stream.destroyed && stream.additionalHeaders({ ':status': 100 }),
    start(status, responseHeaders, bodyless) {
      if (!stream.destroyed && !stream.closed) stream.respond(collectHeaders(status, responseHeaders), { endStream: bodyless });
    },
    finish: (body) => stream.end(body),
    // Destroyed with an error the stream is reset; closed with a code it may end as if it were complete.
    destroy: () => stream.destroy(new Error('the response was cut off')),
  };
  const exchange = createExchange(head, wire, state.options.clock);
  const startedMs = state.options.clock.monotonicMs();
  stream.on('error', () => {});
  stream.on('close', () => {
    const complete = stream.writableFinished && stream.rstCode === constants.NGHTTP2_NO_ERROR;
    // Clients that have read all they were promised cancel what is left of a stream: only what is given up at once, unanswered, is an attack.
    if (!stream.writableEnded && state.options.clock.monotonicMs() - startedMs < rapidResetMs) context.countReset();
    exchange?.close(complete);
  });
  serve(state, exchange, wire);
}

/** The wire of an HTTP/1.1 request. */
class Http1Wire implements Wire {
  readonly input: IncomingMessage;
  readonly output: ServerResponse;
  /** The request has a body, which may still be on its way. */
  readonly hasBody: boolean;
  readonly #state: ListenerState;

  constructor(state: ListenerState, request: IncomingMessage, response: ServerResponse) {
    this.input = request;
    this.output = response;
    this.#state = state;
    const { headers } = request;
    this.hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  }

  /** Node has sent it. */
  sendContinue(): void {}

  start(status: number, headers: string[], bodyless: boolean): void {
    const { input, output } = this;
    if (output.destroyed || output.headersSent) return;
    const unread = this.hasBody && !input.complete && !input.readableEnded;
    if (this.#state.stopping || unread) headers.push('connection', 'close');
    output.writeHead(status, headers);
    if (bodyless) output.end();
  }

  finish(body: Uint8Array): void {
    this.#state.responseBatcher.add(this.output, body);
  }

  destroy(): void {
    this.input.socket.destroy();
  }
}

function handleHttp1(state: ListenerState, request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void {
  const { socket, headers } = request;
  const head: RequestHead = {
    method: request.method ?? 'GET',
    target: request.url ?? '',
    headers: headers as RequestHead['headers'],
    rawHeaders: request.rawHeaders,
    remoteAddress: socket.remoteAddress ?? '',
    clientCertificate: describeCertificate(socket),
    connection: socket,
    auditId: (headers['audit-id'] as string | undefined) || state.options.random.uuid(),
  };
  const wire = new Http1Wire(state, request, response);
  const exchange = createExchange(head, wire, state.options.clock);
  response.on('close', () => {
    // A body that nobody read would be taken for the next request.
    if (!request.complete) request.resume();
    exchange?.close(response.writableFinished);
  });
  // Most bodies come with their head: once they are read, an answer that does not want them need not end the connection.
  if (wire.hasBody) queueMicrotask(() => serve(state, exchange, wire, upgrade));
  else serve(state, exchange, wire, upgrade);
}

/** HTTP/2 in Node takes an object, with a list of values for a name that comes repeatedly. */
function collectHeaders(status: number, list: readonly string[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ':status': status };
  for (let at = 0; at + 1 < list.length; at += 2) {
    const [name, value] = [list[at] as string, list[at + 1] as string];
    const before = headers[name];
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [String(before)]), value];
  }
  return headers;
}

/** Runs one request from head to last byte. Whatever goes wrong in it stays in it. */
function serve(state: ListenerState, exchange: HttpExchange | undefined, wire: Wire, upgrade?: Upgrade): void {
  if (exchange === undefined) {
    wire.start(400, ['content-type', 'text/plain; charset=utf-8'], false);
    wire.finish(badTarget);
    return;
  }
  const link = state.active.add(exchange);
  exchange.onClosed(() => state.active.remove(link));
  void catchMaybe(() => mapMaybe(state.options.handler(exchange), (response) => send(exchange, response, upgrade)), (error) => {
    const { path, auditId, disconnected } = exchange;
    if (!disconnected) state.options.logger.error('a response was cut off', { path, auditId, ...describeError(error) });
    wire.destroy();
  });
}

function send(exchange: HttpExchange, response: Response, upgrade: Upgrade | undefined): MaybePromise<void> {
  if (exchange.disconnected) return;
  if (upgrade?.request === undefined || !isEventStream(exchange, response)) return writeResponse(exchange, response);
  return writeWebSocket(exchange, response, { ...upgrade, request: upgrade.request });
}

async function closeListener(state: ListenerState, parts: { server: NetServer; http1: HttpServer; graceMs: number }): Promise<void> {
  const { server, http1, graceMs } = parts;
  state.stopping = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  if (server !== http1) http1.close();
  for (const exchange of state.active) if (exchange.longRunning) exchange.abort('the server is stopping');
  for (const session of state.sessions) session.close();
  await waitUntilIdle(state, graceMs);
  for (const exchange of state.active) exchange.abort('the server is stopping');
  http1.closeIdleConnections();
  // Ended responses still have to leave the socket buffers.
  await new Promise((resolve) => setImmediate(resolve));
  for (const socket of state.sockets) socket.destroySoon();
  const { clock } = state.options;
  const timer = clock.after(500, () => {
    for (const socket of state.sockets) socket.destroy();
  });
  await closed;
  timer.cancel();
}

function waitUntilIdle(state: ListenerState, graceMs: number): Promise<void> {
  if (state.active.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = state.options.clock.after(graceMs, resolve);
    const check = () => {
      if (state.active.size > 0) return;
      timer.cancel();
      resolve();
    };
    for (const exchange of state.active) exchange.onClosed(check);
  });
}
