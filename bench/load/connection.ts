// A client connection that costs little: TLS, HTTP/1.1, one request at a time, bodies counted and kept only when asked for.
import { type TLSSocket, connect } from 'node:tls';

/** What a request brought. */
export interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** The body, when it was to be kept. */
  readonly body: Buffer | undefined;
}

/** One request, ready to be written. */
export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly accept?: string;
  readonly body?: string | Buffer;
  readonly contentType?: string;
  readonly keep?: boolean;
}

/** Where to. */
export interface Address {
  readonly url: string;
  readonly token: string;
}

const noBytes = Buffer.alloc(0);

/** Sends one request after the other, on a new connection when the last was idle for too long. Rejects when the connection ends early. */
export class Connection {
  readonly #address: Address;
  #socket: TLSSocket | undefined;
  #opening: Promise<TLSSocket> | undefined;
  #pending: Pending | undefined;

  constructor(address: Address) {
    this.#address = address;
  }

  async send(call: Call): Promise<Answer> {
    const socket = this.#socket ?? await (this.#opening ??= this.#open());
    return new Promise((resolve, reject) => {
      this.#pending = new Pending({ resolve, reject, keep: call.keep === true });
      const { body } = call;
      socket.write(formatCall(call, this.#address));
      if (typeof body === 'object') socket.write(body);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #open(): Promise<TLSSocket> {
    const socket = await openSocket(this.#address);
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      const pending = this.#pending;
      if (pending?.take(chunk) !== true) return;
      this.#pending = undefined;
      pending.finish();
    });
    const fail = (error?: Error): void => this.#pending?.reject(error ?? new Error('the connection ended'));
    socket.on('error', fail);
    // The end of the other side counts: what is written after it is never answered.
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        if (this.#socket === socket) this.#socket = this.#opening = undefined;
        fail();
      });
    }
    return socket;
  }
}

/** A TLS socket that is connected; certificates are not verified. */
export function openSocket({ url }: Address): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host: hostname, port: Number(port === '' ? '443' : port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] };
    const socket = connect(options, () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });
}

/** The bytes of a request; a body of bytes follows them. */
export function formatCall({ method = 'GET', path, accept = 'application/json', body = '', contentType = 'application/json' }: Call, address: Address): string {
  const content = body.length === 0 ? '' : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${address.token}\r\naccept: ${accept}\r\n${content}\r\n${typeof body === 'string' ? body : ''}`;
}

interface PendingOptions {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
  readonly keep: boolean;
}

/** One response on its way in: a length or chunks. */
class Pending {
  readonly reject: (error: Error) => void;
  readonly #options: PendingOptions;
  readonly #startedMs = performance.now();
  readonly #kept: Buffer[] = [];
  #head: Buffer = noBytes;
  #status = 0;
  #firstByteMs = 0;
  #bytes = 0;
  #left = 0;
  #chunked: ChunkReader | undefined;

  constructor(options: PendingOptions) {
    this.#options = options;
    this.reject = options.reject;
  }

  /** Whether the response is complete. */
  take(chunk: Buffer): boolean {
    return this.#status === 0 ? this.#takeHead(chunk) : this.#takeBody(chunk);
  }

  finish(): void {
    const totalMs = performance.now() - this.#startedMs;
    const body = this.#options.keep ? Buffer.concat(this.#kept) : undefined;
    this.#options.resolve({ status: this.#status, bytes: this.#bytes, firstByteMs: this.#firstByteMs, totalMs, body });
  }

  #takeHead(chunk: Buffer): boolean {
    if (this.#firstByteMs === 0) this.#firstByteMs = performance.now() - this.#startedMs;
    const all = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = all.indexOf('\r\n\r\n');
    this.#head = all;
    if (end === -1) return false;
    const head = all.toString('latin1', 0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    this.#left = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0);
    if (head.includes('\r\ntransfer-encoding: chunked')) this.#chunked = new ChunkReader();
    return this.#takeBody(all.subarray(end + 4));
  }

  #takeBody(chunk: Buffer): boolean {
    if (this.#chunked !== undefined) {
      const done = this.#chunked.take(chunk, (data) => this.#add(data));
      return done;
    }
    this.#add(chunk);
    this.#left -= chunk.length;
    return this.#left <= 0;
  }

  #add(data: Buffer): void {
    this.#bytes += data.length;
    if (this.#options.keep) this.#kept.push(data);
  }
}

/** Takes chunked transfer coding apart. */
class ChunkReader {
  #line = '';
  #left = -1;

  /** Hands the data on; true after the last chunk. */
  take(chunk: Buffer, add: (data: Buffer) => void): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const part = chunk.subarray(at, at + this.#left);
        add(part);
        at += part.length;
        this.#left -= part.length;
        if (this.#left === 0) this.#left = -1;
        continue;
      }
      const newline = chunk.indexOf(10, at);
      this.#line += chunk.toString('latin1', at, newline === -1 ? chunk.length : newline);
      if (newline === -1) return false;
      at = newline + 1;
      const size = this.#line.trim();
      this.#line = '';
      if (size === '') continue;
      this.#left = Number.parseInt(size, 16);
      if (this.#left === 0) return true;
    }
    return false;
  }
}
