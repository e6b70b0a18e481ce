// Connections to one server, or to those that it redirects to, that carry one HTTP/1.1 request at a time and are kept for the next. They do what
// node:https does with an agent that keeps its connections, for a third of the work: a webhook is called within every write that it is about.
import { validateHeaderValue } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { BoundedCache, type Clock, type Timer } from '../../base/index.ts';
import { AnswerReader } from './answer-reader.ts';
import { type Route, type SecureOptions, openSecure } from './dial.ts';
import type { CallEnd, HttpAnswer, HttpRequest, RequestSender } from './http-call.ts';

/** Connections that are kept while nothing uses them, and for how long, as Go does unless the server says that it closes them earlier. */
const MAX_FREE = 100;
const IDLE_MS = 90_000;
/** Servers that redirects lead to. */
const MAX_PLACES = 20;
/** How often idle connections are looked for. */
const SWEEP_MS = 5000;
/** A server that says how long it keeps connections is believed less this. */
const HINT_MARGIN_MS = 1000;

/** One address: its connections that are free. */
interface AddressPool {
  readonly free: Connection[];
  /** Of the last handshake: the next is shorter by it. */
  session: Buffer | undefined;
}

const timedOut = (): Error => Object.assign(new Error('the call lasted too long'), { name: 'TimeoutError' });
const hungUp = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A request as it leaves: its head, which is ready, and its body. */
interface FormattedRequest {
  readonly head: string;
  readonly body: HttpRequest['body'];
}

/** The start of a request's head, as it was last written for these headers. */
interface HeadStart {
  readonly method: string;
  readonly path: string;
  readonly text: string;
}

/** By the headers of requests: a webhook is sent the same ones each time. */
const knownStarts = new WeakMap<HttpRequest['headers'], HeadStart>();

/** Everything of a head that does not depend on the body. Throws for a path or a header that would be more than that. */
function startHead({ method, path, headers }: HttpRequest): string {
  const known = knownStarts.get(headers);
  if (known?.path === path && known.method === method) return known.text;
  if (/[^\x21-\x7e]/.test(path)) throw new Error(`the path ${JSON.stringify(path)} has characters that are not escaped`);
  let text = `${method} ${path} HTTP/1.1\r\n`;
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values as readonly string[]) {
      validateHeaderValue(name, value);
      text += `${name}: ${value}\r\n`;
    }
  }
  knownStarts.set(headers, { method, path, text });
  return text;
}

/** The head of a request as one text, so that it leaves in one piece. */
function formatHead(request: HttpRequest): string {
  const { body } = request;
  const text = startHead(request);
  return body === undefined ? `${text}\r\n` : `${text}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
}

/** How long a server says that it keeps an idle connection. */
function readIdleMs({ headers }: AnswerReader): number {
  const hint = headers['keep-alive'];
  const [, seconds] = typeof hint === 'string' ? /(?:^|[ ,])timeout=(\d{1,6})/.exec(hint) ?? [] : [];
  return seconds === undefined ? IDLE_MS : Math.min(IDLE_MS, Number(seconds) * 1000 - HINT_MARGIN_MS);
}

/** The exchange that a connection is busy with. */
interface Exchange {
  readonly reader: AnswerReader;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly end: CallEnd;
}

interface ConnectionOwner {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly onFree: (connection: Connection) => void;
  readonly onEnd: (connection: Connection) => void;
}

class Connection {
  readonly #socket: TLSSocket;
  readonly #onFree: (connection: Connection) => void;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #exchange: Exchange | undefined;
  #isUsed = false;
  #expiresMs = 0;

  constructor(socket: TLSSocket, { clock, onFree, onEnd }: ConnectionOwner) {
    this.#socket = socket;
    this.#clock = clock;
    this.#onFree = onFree;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('end', () => {
      if (this.#exchange?.reader.takeEnd() === true) this.#finish(this.#exchange);
      else this.destroy(hungUp());
    });
    socket.on('error', (error: Error) => this.#fail(error));
    socket.on('close', () => {
      this.#fail(hungUp());
      onEnd(this);
    });
  }

  /** Whether another request can be sent; the end of the connection may be on its way all the same. */
  get isOpen(): boolean {
    return this.#socket.writable && this.#clock.monotonicMs() < this.#expiresMs;
  }

  get isIdle(): boolean {
    return this.#exchange === undefined && this.#isUsed;
  }

  send({ head, body }: FormattedRequest, end: CallEnd, limitBytes: number): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#exchange = { reader: new AnswerReader(limitBytes), resolve, reject, end };
      const socket = this.#socket.ref();
      end.report(() => this.destroy(timedOut()));
      if (body === undefined || typeof body === 'string') socket.write(`${head}${body ?? ''}`);
      else socket.write(Buffer.concat([Buffer.from(head), body]));
    });
  }

  destroy(error?: Error): void {
    if (error !== undefined) this.#fail(error);
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const exchange = this.#exchange;
    // Servers announce with bytes that were not asked for that they close the connection.
    if (exchange === undefined) return this.destroy();
    try {
      if (exchange.reader.take(chunk)) this.#finish(exchange);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #finish({ reader, resolve, end }: Exchange): void {
    this.#exchange = undefined;
    this.#isUsed = true;
    end.report(undefined);
    const idleMs = reader.isKept ? readIdleMs(reader) : 0;
    this.#expiresMs = this.#clock.monotonicMs() + idleMs;
    if (this.isOpen) {
      this.#socket.unref();
      this.#onFree(this);
    } else {
      this.destroy();
    }
    resolve({ status: reader.status, headers: reader.headers, body: reader.body });
  }

  /** Only a connection that was closed before anything of the answer came was stale. */
  #fail(error: Error): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    exchange.end.report(undefined);
    exchange.reject(Object.assign(error, { wasKept: this.#isUsed && !exchange.reader.hasBegun }));
  }
}

/** Sends requests over connections that are opened as they are needed, kept within bounds, and used again. */
export class KeptConnections implements RequestSender {
  readonly #options: SecureOptions;
  readonly #route: Route;
  readonly #places = new BoundedCache<string, AddressPool>({ limit: MAX_PLACES });
  readonly #all = new Set<Connection>();
  readonly #clock: Clock;
  #sweep: Timer | undefined;

  constructor(options: SecureOptions, route: Route & { readonly clock: Clock }) {
    this.#options = options;
    this.#route = route;
    this.#clock = route.clock;
  }

  /** Rejects with the error of the connection; `wasKept` says of it that the connection had carried others and ended before any answer came. */
  async send(request: HttpRequest, end: CallEnd, limitBytes: number): Promise<HttpAnswer> {
    const formatted: FormattedRequest = { head: formatHead(request), body: request.body };
    const place = this.#places.getOrMake(`${request.host}:${request.port}`, () => ({ free: [], session: undefined }));
    for (let kept = place.free.pop(); kept !== undefined; kept = place.free.pop()) {
      if (kept.isOpen) return kept.send(formatted, end, limitBytes);
      kept.destroy();
    }
    const connection = await this.#open(request, place, end);
    return connection.send(formatted, end, limitBytes);
  }

  /** Closes every connection. */
  destroy(): void {
    this.#sweep?.cancel();
    for (const connection of this.#all) connection.destroy(hungUp());
  }

  /** Connections that were not used for their time end. */
  readonly #closeIdle = (): void => {
    for (const connection of this.#all) if (connection.isIdle && !connection.isOpen) connection.destroy();
    this.#sweep = this.#all.size === 0 ? undefined : this.#clock.after(SWEEP_MS, this.#closeIdle);
  };

  #open({ host, port }: HttpRequest, place: AddressPool, end: CallEnd): Promise<Connection> {
    const { session } = place;
    return new Promise((resolve, reject) => {
      const aborted = new AbortController();
      end.report(() => {
        aborted.abort();
        reject(timedOut());
      });
      openSecure({ ...this.#options, host, port, ...(session !== undefined && { session }) }, this.#route, aborted.signal).then((socket) => {
        end.report(undefined);
        socket.setNoDelay(true);
        socket.on('session', (next: Buffer) => (place.session = next));
        const connection = new Connection(socket, {
          clock: this.#clock,
          onFree: (one) => (place.free.length < MAX_FREE ? place.free.push(one) : one.destroy()),
          onEnd: (one) => {
            this.#all.delete(one);
            const at = place.free.indexOf(one);
            if (at !== -1) place.free.splice(at, 1);
          },
        });
        this.#all.add(connection);
        this.#sweep ??= this.#clock.after(SWEEP_MS, this.#closeIdle);
        resolve(connection);
      }, (error: Error) => {
        place.session = undefined;
        end.report(undefined);
        reject(error);
      });
    });
  }
}
