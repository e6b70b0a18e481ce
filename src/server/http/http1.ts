// HTTP/1.1: one request of a connection is served at a time and in order, as in Go's net/http. Requests that are pipelined behind it have
// taken nothing yet: no exchange, no seat, no timer. While many wait the connection is not read, so that they are bounded by one read more.
import { type IncomingMessage, type Server as HttpServer, ServerResponse, createServer as createHttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { describeError } from '../observability/logger.ts';
import { describeCertificate } from '../tls/client-certificate.ts';
import { type HttpExchange, type RequestHead, type Wire, createExchange } from './exchange.ts';
import { MAX_HEADERS, MAX_HEADER_BYTES, closeGently, describeParseError, findHeadFault, refuseConnection } from './http1-faults.ts';
import type { ListenerState } from './listener-state.ts';
import { serve } from './serve.ts';
import { type PausableReads, SocketReads } from './turns.ts';
import { type Upgrade, readWebSocketRequest } from './websocket.ts';

/** Go's kube-apiserver allows 32 s; Node looks for late connections at intervals, here once a second. */
const HEADERS_TIMEOUT_MS = 30_000;
const CHECK_INTERVAL_MS = 1000;
const KEEP_ALIVE_MS = 90_000;
/** A body of this size that no handler reads is read and thrown away, so that the connection can be used again; Go's bound. */
const MAX_DISCARD_BYTES = 256 * 1024;
/** With so many requests behind the current one the connection is not read: a client that leaves is noticed when the current one ends. */
const MAX_WAITING = 64;
/**
 * One read brings up to 16 KiB of requests, which is hundreds. With so many behind the current ones of all connections, 5 KB each, a connection that
 * has more than `MAX_WAITING` of them is closed.
 */
const MAX_WAITING_IN_ALL = 8000;

/** A request whose turn may not have come yet. */
interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upgrade?: Upgrade;
}

/** Makes the half of a listener that speaks HTTP/1.1; connections are given to it by its `connection` event. */
export function createHttp1(state: ListenerState): HttpServer {
  const server = createHttpServer({
    maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: CHECK_INTERVAL_MS, requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true, requireHostHeader: false,
  });
  // One above the bound: Node stops collecting there, and the head is refused.
  server.maxHeadersCount = MAX_HEADERS + 1;
  const connections = new WeakMap<Socket, Http1Connection>();
  const connectionOf = (socket: Socket): Http1Connection => {
    let connection = connections.get(socket);
    if (connection === undefined) connections.set(socket, (connection = new Http1Connection(state, socket, server)));
    return connection;
  };
  // An error that leaves a listener of a server ends the process.
  const guard = (socket: Socket, run: () => void): void => {
    try {
      run();
    } catch (error) {
      state.options.logger.error('a connection was cut off', describeError(error));
      socket.destroy();
    }
  };
  server.on('connection', connectionOf);
  server.on('request', (request, response) => guard(request.socket, () => connectionOf(request.socket).add({ request, response })));
  server.on('upgrade', (request, socket: Socket, head) => guard(socket, () => connectionOf(socket).addUpgrade(request, head)));
  server.on('clientError', (error: NodeJS.ErrnoException, given) => {
    const socket = given as Socket;
    const answer = (): void => guard(socket, () => connectionOf(socket).addParseError(error));
    // Node ends all connections whose time is over in one turn: hundreds may have begun together.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') state.turns.begin(socket, state.options.clock.monotonicMs(), answer);
    else answer();
  });
  return server;
}

/** The news that a connection has ended takes as long as so many requests. */
const REQUESTS_AN_END = 4;
/** A response of this size leaves at once: the connection is drained before the next request begins. */
const SMALL_RESPONSE_BYTES = 8 * 1024;

/** The requests of one connection. */
class Http1Connection {
  readonly #state: ListenerState;
  readonly #socket: Socket;
  readonly #server: HttpServer;
  /** The requests after the current one, in order; a text is a fault, after which nothing comes. */
  readonly #waiting: (Turn | string)[] = [];
  readonly #reads: PausableReads;
  #current: Turn | undefined;
  #exchange: HttpExchange | undefined;
  #refused = false;
  /** What Node keeps until the connection ends, requests after a refused one too. */
  #unanswered = 0;
  #readsThroughStream = false;

  constructor(state: ListenerState, socket: Socket, server: HttpServer) {
    this.#state = state;
    this.#socket = socket;
    this.#server = server;
    this.#reads = new SocketReads(socket);
    state.callers.begin(socket, socket.remoteAddress ?? '');
    state.intake.add(this.#reads, socket);
    state.ends.pace(socket, () => this.#unanswered + 1);
    const countEnd = (): void => state.intake.count(this.#reads, REQUESTS_AN_END);
    socket.on('end', countEnd).on('error', countEnd).on('close', () => this.#end());
    // Reading a body makes the connection flow again.
    socket.on('resume', () => {
      if (this.#waiting.length >= MAX_WAITING) socket.pause();
    });
  }

  add(turn: Turn): void {
    this.#state.intake.count(this.#reads);
    this.#unanswered += 1;
    if (this.#refused || this.#socket.destroyed) return;
    if (this.#current === undefined) return this.#start(turn);
    this.#waiting.push(turn);
    this.#state.pipelined += 1;
    // One waits whenever the client is faster than the notice that its last response was sent.
    if (this.#waiting.length > 1) this.readThroughStream();
    this.#boundWaiting();
  }

  /**
   * Node's parser reads TLS connections past their stream, where a pause holds back the TCP connection but not the TLS records that came with
   * it: a second record for the paused parser is a parse error, and a good request is lost (about 1 in 100 bodies of 26 KB on a connection
   * whose last response was not drained yet). A listener for data, even an idle one, makes Node read through the stream, which holds them.
   * That costs a get a seventh of its CPU (a new buffer for each read), so connections are read so only once a response may stay undrained.
   */
  readThroughStream(): void {
    if (this.#readsThroughStream) return;
    this.#readsThroughStream = true;
    this.#socket.on('data', () => {});
  }

  /** A request that asks for another protocol: the last of the connection. Node has taken its own listeners off the socket. */
  addUpgrade(request: IncomingMessage, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.on('finish', () => this.#socket.destroySoon());
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('drain', () => this.#current?.response.emit('drain'));
    const webSocket = readWebSocketRequest(request);
    const { token, session } = webSocket ?? {};
    if (session !== undefined) request.headers['x-pintle-console'] ??= session;
    if (token !== undefined && request.headers.authorization === undefined) request.headers.authorization = `Bearer ${token}`;
    this.add({ request, response, upgrade: { request: webSocket, incoming: request, socket: this.#socket, head } });
  }

  /** What the parser could not read is answered after the requests before it. */
  addParseError(error: NodeJS.ErrnoException): void {
    const fault = describeParseError(error);
    if (fault === undefined) return void this.#socket.destroy();
    if (this.#refused) return;
    if (this.#current === undefined || !this.#current.request.complete) return this.#refuse(fault);
    const last = this.#waiting.at(-1);
    if (typeof last === 'string') return;
    // A request whose own body is broken is not served.
    if (last !== undefined && !last.request.complete) this.#waiting.pop();
    else this.#state.pipelined += 1;
    this.#waiting.push(fault);
  }

  /** Reads the body of the current request. */
  readBody(input: IncomingMessage, exchange: HttpExchange, limitBytes: number): Promise<Uint8Array> {
    return this.#state.bodies.read({ input, exchange, isWhole: input.complete, reads: this.#reads }, limitBytes);
  }

  /** Closes the connection after the current response while its client may still be sending. */
  closeGently(): void {
    this.#refused = true;
    this.#socket.destroySoon = () => closeGently(this.#socket, this.#state.options.clock);
  }

  #start(turn: Turn): void {
    const fault = findHeadFault(turn.request);
    if (fault !== undefined) return this.#refuse(fault);
    const { request, response, upgrade } = turn;
    if (upgrade !== undefined && hasBody(request)) return this.#readAgain(upgrade);
    this.#current = turn;
    if (upgrade !== undefined) response.assignSocket(this.#socket);
    const wire = new Http1Wire(this.#state, turn, this);
    const exchange = createExchange(describeHead(request, this.#state), wire, this.#state.options.clock);
    this.#exchange = exchange;
    response.on('close', () => {
      // The next request follows a body that was not read.
      if (!request.complete) request.resume();
      exchange?.close(response.writableFinished);
      this.#next();
    });
    // Most bodies come with their head: once they are read, an answer that does not want them need not end the connection.
    if (wire.hasBody) queueMicrotask(() => serve(this.#state, exchange, wire, upgrade));
    else serve(this.#state, exchange, wire, upgrade);
    this.#boundWaiting();
  }

  /** Reads a request that has a body once more, without its wish for another protocol: by a new parser, through the stream of the connection. */
  #readAgain({ incoming, head }: Upgrade): void {
    putBack(this.#socket, incoming, head);
    this.#server.emit('connection', this.#socket);
    this.#readsThroughStream = false;
    this.readThroughStream();
  }

  /** A watch may last for an hour: with many requests behind it, nothing would show that its client has left. */
  #boundWaiting(): void {
    if (this.#waiting.length < MAX_WAITING) return;
    const isTooMuch = this.#state.pipelined > MAX_WAITING_IN_ALL && this.#waiting.length > MAX_WAITING;
    if (isTooMuch || this.#exchange?.longRunning === true) this.#socket.destroy();
    else this.#socket.pause();
  }

  #next(): void {
    this.#current = undefined;
    this.#exchange = undefined;
    this.#unanswered -= 1;
    if (this.#socket.destroyed || this.#refused) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#state.pipelined -= 1;
    if (this.#waiting.length === MAX_WAITING - 1) this.#state.intake.release(this.#reads, () => this.#socket.resume());
    if (typeof next === 'string') this.#refuse(next);
    else if (next !== undefined) this.#start(next);
  }

  #refuse(fault: string): void {
    this.#refused = true;
    this.#forgetWaiting();
    refuseConnection(this.#socket, fault, this.#state.options.clock);
  }

  #forgetWaiting(): void {
    this.#state.pipelined -= this.#waiting.length;
    this.#waiting.length = 0;
  }

  /** The connection is gone: the current request is over, and those behind it never began. */
  #end(): void {
    this.#state.intake.remove(this.#reads);
    this.#forgetWaiting();
    this.#exchange?.close(false);
  }
}

function describeHead({ socket, headers, method, url, rawHeaders }: IncomingMessage, { options }: ListenerState): RequestHead {
  return {
    method: method ?? 'GET',
    target: url ?? '',
    headers: headers as RequestHead['headers'],
    rawHeaders,
    remoteAddress: socket.remoteAddress ?? '',
    clientCertificate: describeCertificate(socket),
    connection: socket,
    auditId: (headers['audit-id'] as string | undefined) || options.random.uuid(),
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * Puts a request back into its connection without its wish for another protocol: Node's parser takes the body of such a request for bytes of that
 * protocol, and its reader would wait for it forever. Go serves a request with a body as an ordinary one, which this is when it is read again.
 */
function putBack(socket: Socket, { method, url, httpVersion, rawHeaders }: IncomingMessage, head: Buffer): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  if (head.length > 0) socket.unshift(head);
  socket.unshift(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
}

/** Whether the headers, names and values in turn, announce a small body. */
function isSmall(headers: readonly string[]): boolean {
  const at = headers.indexOf('content-length');
  return at !== -1 && Number(headers[at + 1]) <= SMALL_RESPONSE_BYTES;
}

/** The wire of an HTTP/1.1 request. */
class Http1Wire implements Wire {
  readonly input: IncomingMessage;
  readonly output: ServerResponse;
  /** The request has a body, which may still be on its way. */
  readonly hasBody: boolean;
  readonly #state: ListenerState;
  readonly #connection: Http1Connection;

  constructor(state: ListenerState, { request, response }: Turn, connection: Http1Connection) {
    this.input = request;
    this.output = response;
    this.#state = state;
    this.#connection = connection;
    this.hasBody = hasBody(request);
  }

  get isReceived(): boolean {
    return !this.hasBody || this.input.complete;
  }

  readBody(exchange: HttpExchange, limitBytes: number): Promise<Uint8Array> {
    return this.#connection.readBody(this.input, exchange, limitBytes);
  }

  /** Node has sent it. */
  sendContinue(): void {}

  announce(): void {
    this.#state.options.beforeAnswer?.();
  }

  closeConnection(): void {
    this.output.shouldKeepAlive = false;
  }

  start(status: number, headers: string[], bodyless: boolean): void {
    const { input, output } = this;
    if (output.destroyed || output.headersSent) return;
    const leavesTooMuch = this.hasBody && !input.complete && !(Number(input.headers['content-length']) <= MAX_DISCARD_BYTES);
    if (leavesTooMuch) this.#connection.closeGently();
    if (this.#state.stopping || leavesTooMuch) headers.push('connection', 'close');
    if (!bodyless && !isSmall(headers)) this.#connection.readThroughStream();
    output.writeHead(status, headers);
    if (!bodyless) return;
    this.announce();
    output.end();
  }

  finish(body: Uint8Array): void {
    this.#state.responseBatcher.add(this.output, body);
  }

  destroy(): void {
    this.input.socket.destroy();
  }
}
