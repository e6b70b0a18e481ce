// HTTP/2 over TLS: one exchange per stream. What a client can do to a session is bounded here: streams at once, bytes and lines of headers,
// streams that are given up before they are answered, idle time. Floods of control frames are bounded by nghttp2.
import {
  type Http2Server, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream, constants, createServer as createHttp2Server,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { Deadlines } from '../../base/index.ts';
import type { Exchange } from '../../endpoints/index.ts';
import { CollectionPace } from '../memory/collection-pace.ts';
import { replaceStreamTables } from '../memory/stream-table.ts';
import { describeCertificate } from '../tls/client-certificate.ts';
import { type RequestHead, type Wire, createExchange } from './exchange.ts';
import { MAX_HEADERS, MAX_HEADER_BYTES } from './http1-faults.ts';
import type { ListenerState } from './listener-state.ts';
import { serve } from './serve.ts';
import { type PausableReads, SocketReads } from './turns.ts';

const WINDOW_BYTES = 1024 * 1024;
/** Streams that a client may reset before they are answered, per connection and ten seconds (CVE-2023-44487). */
const DEFAULT_MAX_RESETS = 1000;
const RESET_PERIOD_MS = 10_000;
/** A stream that was open for longer was meant: a watch that is no longer wanted. */
const RAPID_RESET_MS = 1000;
/** A session without streams is closed after this time, as the reference does. */
const IDLE_MS = 90_000;
/** A session that Node no longer reads is read again so often. */
const READ_MS = 5000;

/** The half of a listener that speaks HTTP/2. */
export interface Http2 {
  /** Takes over a connection that has agreed on `h2`. */
  accept(socket: TLSSocket): void;
}

/** Makes it. */
export function createHttp2(state: ListenerState): Http2 {
  const server = createHttp2Server({
    settings: {
      maxConcurrentStreams: state.options.maxStreamsPerConnection, initialWindowSize: WINDOW_BYTES, maxHeaderListSize: MAX_HEADER_BYTES, enablePush: false,
    },
    maxSessionMemory: 64, maxHeaderListPairs: MAX_HEADERS,
  });
  // A session does not give its own socket away; it is made in the turn that accepts the connection.
  let accepting: TLSSocket | undefined;
  listenToSessions(server, state, () => accepting as TLSSocket);
  return {
    accept(socket) {
      accepting = socket;
      server.emit('connection', socket);
    },
  };
}

function listenToSessions(server: Http2Server, state: ListenerState, socketOf: () => TLSSocket): void {
  const idle = new Deadlines(state.options.clock, IDLE_MS);
  const reads = new Deadlines(state.options.clock, READ_MS);
  const { callers, ends, intake } = state;
  const pace = new CollectionPace();
  server.on('session', (session) => {
    state.sessions.add(session);
    replaceStreamTables(session);
    session.setLocalWindowSize(WINDOW_BYTES);
    session.on('error', () => session.destroy());
    const socket = socketOf();
    const context = new SessionContext(state, socket);
    const connection = new SocketReads(socket);
    callers.begin(context, context.remoteAddress);
    intake.add(connection, context);
    const readAgain = (): void => {
      readOn(socket);
      read = reads.add(readAgain);
    };
    let read = reads.add(readAgain);
    let openStreams = 0;
    ends.pace(socket, () => openStreams);
    let deadline = idle.add(() => session.close());
    session.on('close', () => {
      state.sessions.delete(session);
      idle.remove(deadline);
      reads.remove(read);
      intake.remove(connection);
    });
    session.on('stream', (stream, headers, _flags, rawHeaders: readonly string[] = []) => {
      openStreams += 1;
      pace.count(rawHeaders.length / 2);
      intake.count(connection);
      idle.remove(deadline);
      stream.on('close', () => {
        openStreams -= 1;
        if (openStreams === 0 && !session.closed) deadline = idle.add(() => session.close());
      });
      handleStream(state, context, { stream, headers, rawHeaders, reads: connection });
    });
  });
  server.on('sessionError', () => {});
}

/**
 * After a frame that ends a session, nghttp2 reads nothing more, and Node 20 stops reading the connection below without a word: no event says that
 * the client has left, and streams that are open stay so. Read again, the connection shows its end; what else comes is thrown away by nghttp2.
 * Node 22 and newer end the connection by themselves.
 */
function readOn(socket: TLSSocket): void {
  (socket as unknown as { readonly _handle: { readStart(): void } | null })._handle?.readStart();
}

/** What all requests of one session share. */
class SessionContext {
  readonly remoteAddress: string;
  readonly #socket: TLSSocket;
  readonly #options: ListenerState['options'];
  #resets = 0;
  #periodStartMs: number;

  constructor({ options }: ListenerState, socket: TLSSocket) {
    this.remoteAddress = socket.remoteAddress ?? '';
    this.#socket = socket;
    this.#options = options;
    this.#periodStartMs = options.clock.monotonicMs();
  }

  /** What the certificate of the client says at the moment: its authority may go while the connection is open. */
  get clientCertificate(): Exchange['clientCertificate'] {
    return describeCertificate(this.#socket);
  }

  countReset(): void {
    const { clock, logger, maxResets = DEFAULT_MAX_RESETS } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#periodStartMs > RESET_PERIOD_MS) {
      this.#periodStartMs = nowMs;
      this.#resets = 0;
    }
    this.#resets += 1;
    if (this.#resets <= maxResets || this.#socket.destroyed) return;
    logger.warn('closing a connection that resets too many streams', { remote: this.#socket.remoteAddress });
    this.#socket.destroy();
  }
}

const streamClosed = new Error('the stream is closed');

/**
 * Node makes an error with all of its stack for a write that ends on a closed stream, though no listener gets it: 2 % of the processor time of a create.
 * Where the stream has an error it takes that.
 */
function spareError(stream: ServerHttp2Stream): void {
  const { _writableState: state } = stream as unknown as { readonly _writableState?: { errored?: Error | null } };
  if (state?.errored === null) state.errored = streamClosed;
}

interface Http2Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly reads: PausableReads;
}

function handleStream(state: ListenerState, context: SessionContext, request: Http2Request): void {
  const { stream } = request;
  stream.on('error', () => {});
  // The client may have given the stream up before it is shown here; its `close` has come then, or is about to.
  if (stream.destroyed) return context.countReset();
  const wire = createHttp2Wire(request, state);
  const exchange = createExchange(describeHead(request, state, context), wire, state.options.clock);
  const startedMs = state.options.clock.monotonicMs();
  stream.on('close', () => {
    // A stream that its client resets without an error is ended by Node as if the answer were whole: only `aborted` says that it was not. One whose
    // request had a body is closed before Node hears that the last of its answer is written: it is not finished then, but ended.
    const complete = stream.writableEnded && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR;
    if (!stream.writableFinished) spareError(stream);
    // Clients that have read all they were promised cancel what is left of a stream: only what is given up at once, unanswered, is an attack.
    if (stream.aborted && !stream.headersSent && state.options.clock.monotonicMs() - startedMs < RAPID_RESET_MS) context.countReset();
    exchange?.close(complete);
  });
  serve(state, exchange, wire);
}

function describeHead({ headers, rawHeaders }: Http2Request, { options }: ListenerState, context: SessionContext): RequestHead {
  return {
    method: headers[':method'] as string,
    target: headers[':path'] ?? '',
    headers: headers as RequestHead['headers'],
    rawHeaders,
    remoteAddress: context.remoteAddress,
    clientCertificate: context.clientCertificate,
    connection: context,
    auditId: (headers['audit-id'] as string | undefined) || options.random.uuid(),
  };
}

/**
 * Where something is written before answers leave, a whole answer waits with its head for the others of its turn: one write of the audit log is for all
 * of them. With 64 gets in flight on one session a get took 0.97 writes more than without audit before, and takes 0.03 more.
 */
function createHttp2Wire({ stream, reads }: Http2Request, { options: { beforeAnswer }, responseBatcher, bodies }: ListenerState): Wire {
  const respond = (status: number, headers: readonly string[], endStream: boolean): boolean => {
    if (stream.destroyed || stream.closed) return false;
    stream.respond(collectHeaders(status, headers), { endStream });
    return true;
  };
  let sendHead: (() => boolean) | undefined;
  const announce = (): void => {
    beforeAnswer?.();
    sendHead?.();
    sendHead = undefined;
  };
  return {
    input: stream,
    output: stream,
    isReceived: stream.endAfterHeaders,
    readBody: (exchange, limitBytes) => bodies.read({ input: stream, exchange, isWhole: false, reads }, limitBytes),
    sendContinue: () => !stream.headersSent && !stream.destroyed && stream.additionalHeaders({ ':status': 100 }),
    start(status, headers, bodyless) {
      if (beforeAnswer === undefined) return void respond(status, headers, bodyless);
      sendHead = () => respond(status, headers, bodyless);
      if (bodyless) announce();
    },
    announce,
    finish(body) {
      if (sendHead === undefined) stream.end(body);
      else responseBatcher.add(stream, body, sendHead);
    },
    // Destroyed with an error the stream is reset; closed with a code it may end as if it were complete.
    destroy: () => stream.destroy(new Error('the response was cut off')),
    closeSession: () => stream.session?.close(),
    closeConnection: () => stream.session?.close(),
  };
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
