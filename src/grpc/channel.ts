// The connection to one server: gRPC's calls on one HTTP/2 session of Node's, which is opened when it is needed and again when it broke.
//
//   none ──call──▶ connecting ──server's settings──▶ standing ──(closed, sent GOAWAY, a ping without an answer)──▶ none
//     ▲                 │
//     └─ failed, or late: all waiting calls reject
//
// A call is a stream: headers, framed messages, and trailers with the status. Which server is asked, and again, is for the caller to decide.
import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Clock, Timer } from '../base/index.ts';
import { GrpcError, statusCode } from './grpc-error.ts';
import { FrameReader, frameMessage } from './frames.ts';

/** Certificates of a connection, as PEM. */
export interface ChannelTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** How a call ended, by gRPC's codes. */
export interface CallStatus {
  readonly code: number;
  readonly details: string;
  readonly cause?: unknown;
}

/** Receives what comes on a stream. */
export interface StreamSink {
  message(bytes: Buffer): void;
  /** The stream is over; called once, and not after `cancel`. */
  ended(status: CallStatus): void;
}

/** The sending side of a stream in both directions. */
export interface GrpcStream {
  write(message: Uint8Array): void;
  cancel(): void;
}

/** Receive limit of one message; ranges are paged far below it. */
const RECEIVE_LIMIT_BYTES = 64 << 20;
/** What a server may send ahead, on one stream and on all of them: a page of a range. */
const WINDOW_BYTES = 4 << 20;
const CONNECT_MS = 1_000;
/** Servers refuse pings more often than every 5 s. */
const KEEP_ALIVE_MS = 6_000;
const KEEP_ALIVE_TIMEOUT_MS = 3_000;
const HTTP_OK = 200;

/** Where a channel leads, and what every call on it carries. */
interface ChannelOptions {
  readonly url: string;
  readonly tls?: ChannelTls | undefined;
  /** The Unix socket that answers for the URL. */
  readonly socketPath?: string;
  /** Metadata of each call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The largest message that is taken. */
  readonly receiveLimitBytes?: number;
  readonly clock: Clock;
}

/** A session; whether its server has answered, and how many streams are open on it. */
interface Link {
  readonly session: ClientHttp2Session;
  stands: boolean;
  streams: number;
}

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sink: StreamSink;
  readonly limitBytes: number;
  readonly timeoutMs?: number;
}

/** All calls to one server. */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  /** The newest session; older ones end with the streams that are left on them. */
  #link: Link | undefined;
  #connecting: Promise<Link> | undefined;
  #closed = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#headers = options.headers ?? {};
    this.#clock = options.clock;
  }

  /** One message for one message; rejects with GrpcError. Nothing is sent unless the connection stands. */
  async call(method: string, message: Uint8Array, timeoutMs: number): Promise<Buffer> {
    const link = this.#standing() ?? (await this.#connection());
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const ended = (status: CallStatus): void => {
        late.cancel();
        if (status.code !== statusCode.ok) reject(new GrpcError(status));
        else if (answer === undefined) reject(new GrpcError({ code: statusCode.internal, details: 'the answer has no message' }));
        else resolve(answer);
      };
      const take = (bytes: Buffer): void => {
        if (answer === undefined) return void (answer = bytes);
        // A server that continues is not heard until the call's time is up.
        stream.cancel();
        ended({ code: statusCode.internal, details: 'the answer has more than one message' });
      };
      const stream = beginStream(link, { ...this.#request(method, { message: take, ended }), timeoutMs });
      stream.end(message);
      const late = this.#clock.after(timeoutMs, () => {
        stream.cancel();
        reject(new GrpcError({ code: statusCode.deadlineExceeded, details: 'the deadline has passed' }));
      });
    });
  }

  /** A stream in both directions, on a connection that stands. */
  async open(method: string, sink: StreamSink): Promise<GrpcStream> {
    return beginStream(this.#standing() ?? (await this.#connection()), this.#request(method, sink));
  }

  #request(method: string, sink: StreamSink): Request {
    return { method, sink, headers: this.#headers, limitBytes: this.#options.receiveLimitBytes ?? RECEIVE_LIMIT_BYTES };
  }

  /** Ends everything at once. */
  close(): void {
    this.#closed = true;
    this.#link?.session.destroy();
  }

  /** The session's own word, since a socket that fails while bytes wait for it ends sessions without an event. */
  #standing(): Link | undefined {
    const { stands, session } = this.#link ?? {};
    return stands === true && session?.closed === false && !session.destroyed ? this.#link : undefined;
  }

  /** A session that stands; rejects as soon as the attempt, which all waiting calls share, has failed. */
  #connection(): Promise<Link> {
    if (this.#closed) return Promise.reject(GrpcError.unreachable());
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  #connect(): Promise<Link> {
    return new Promise((resolve, reject) => {
      // The library's bound on a session's memory is below one page of a range.
      const { url, tls, socketPath } = this.#options;
      const session = connect(url, {
        ...tls, ...(socketPath !== undefined && { createConnection: () => connectSocket(socketPath) }),
        settings: { enablePush: false, initialWindowSize: WINDOW_BYTES }, maxSessionMemory: Number.MAX_SAFE_INTEGER,
      });
      const link: Link = { session, stands: false, streams: 0 };
      this.#link = link;
      const fail = (cause?: unknown): void => {
        pulse.cancel();
        session.destroy();
        reject(GrpcError.unreachable(cause));
      };
      let pulse = this.#clock.after(CONNECT_MS, fail);
      session.once('remoteSettings', () => {
        pulse.cancel();
        pulse = this.#keepAlive(link);
        session.setLocalWindowSize(WINDOW_BYTES);
        link.stands = true;
        resolve(link);
      });
      session.on('error', fail);
      session.on('close', fail);
    });
  }

  /** A server that leaves a ping unanswered is given up, and all calls to it fail. Without open streams no ping is sent: servers refuse those. */
  #keepAlive(link: Link): Timer {
    const { session } = link;
    let timer: Timer;
    const rest = (): void => void (timer = this.#clock.after(KEEP_ALIVE_MS, ping));
    const ping = (): void => {
      if (session.destroyed) return;
      if (link.streams === 0) return rest();
      timer = this.#clock.after(KEEP_ALIVE_TIMEOUT_MS, () => session.destroy(new Error('no answer to a ping')));
      session.ping(() => {
        timer.cancel();
        rest();
      });
    };
    rest();
    return { cancel: () => timer.cancel() };
  }
}

/** Throws GrpcError when the session takes no more streams. */
function beginStream(link: Link, request: Request): Stream {
  try {
    return new Stream(link, request);
  } catch (error) {
    throw GrpcError.unreachable(error);
  }
}

/** One call, from its headers to its status. */
class Stream implements GrpcStream {
  readonly #stream: ClientHttp2Stream;
  #sink: StreamSink;
  readonly #frames: FrameReader;
  #over = false;

  constructor(link: Link, { method, headers, sink, limitBytes, timeoutMs }: Request) {
    this.#sink = sink;
    this.#frames = new FrameReader(limitBytes);
    this.#stream = link.session.request({
      ':method': 'POST', ':path': method, 'content-type': 'application/grpc', te: 'trailers', ...headers,
      ...(timeoutMs !== undefined && { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` }),
    });
    link.streams += 1;
    this.#stream.on('response', (head) => this.#readHead(head));
    this.#stream.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#stream.on('trailers', (trailers) => this.#end(readStatus(trailers)));
    this.#stream.on('error', (error) => this.#end({ ...cutOff, cause: error }));
    this.#stream.on('close', () => {
      link.streams -= 1;
      this.#end(cutOff);
    });
  }

  write(message: Uint8Array): void {
    this.#stream.write(frameMessage(message));
  }

  /** The last message. */
  end(message: Uint8Array): void {
    this.#stream.end(frameMessage(message));
  }

  cancel(): void {
    this.#leave();
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** A server that is not gRPC is noticed here; a call that fails at once has its status here. */
  #readHead(head: IncomingHttpHeaders & { readonly ':status'?: number }): void {
    if (head[':status'] !== HTTP_OK) this.#end({ code: statusCode.unavailable, details: `the server answered with HTTP status ${head[':status']}` });
    else if (head['grpc-status'] !== undefined) this.#end(readStatus(head));
  }

  #take(chunk: Buffer): void {
    try {
      for (const message of this.#frames.take(chunk)) if (!this.#over) this.#sink.message(message);
    } catch (error) {
      this.#end(error instanceof GrpcError ? error : { code: statusCode.internal, details: String(error), cause: error });
    }
  }

  #end(status: CallStatus): void {
    if (this.#over) return;
    const sink = this.#leave();
    if (!this.#stream.writableEnded || status.code !== statusCode.ok) this.#stream.close(constants.NGHTTP2_CANCEL);
    sink.ended(status);
  }

  /** Node's streams outlive young collections, with everything that they refer to: the waiting call must not. */
  #leave(): StreamSink {
    const sink = this.#sink;
    this.#over = true;
    this.#sink = ignoringSink;
    return sink;
  }
}

const ignoringSink: StreamSink = { message: () => {}, ended: () => {} };
const cutOff: CallStatus = { code: statusCode.unavailable, details: 'the connection was lost' };

function readStatus({ 'grpc-status': code, 'grpc-message': message = '' }: IncomingHttpHeaders): CallStatus {
  return { code: code === undefined ? statusCode.unknown : Number(code), details: unescape(String(message)) };
}

/** Messages come percent-encoded. */
function unescape(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
