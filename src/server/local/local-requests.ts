// Requests that reach the filters without a connection: what the testing room asks on its own behalf. Everything behind the listener is the same.
import { PassThrough, Readable, Writable } from 'node:stream';
import type { Clock } from '../../base/index.ts';
import type { Handler } from '../../endpoints/index.ts';
import { readWhole } from '../http/bodies.ts';
import { type RequestHead, type Wire, createExchange } from '../http/exchange.ts';
import { writeResponse } from '../http/write-response.ts';

/** A request without a connection. */
export interface LocalRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** The caller, as a certificate would show it. */
  readonly user: NonNullable<RequestHead['clientCertificate']>;
}

/** Its answer as a whole. */
export interface LocalResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What such requests pass through. */
interface LocalParts {
  readonly handler: Handler;
  readonly clock: Clock;
  /** What the requests come by, as `Exchange.connection` shows it. */
  readonly connection: object;
  readonly auditId: string;
}

/** Sends a request that ends by itself; rejects when its answer is cut off. */
export function requestLocally(request: LocalRequest, { handler, clock, connection, auditId }: LocalParts): Promise<LocalResponse> {
  return new Promise((resolve, reject) => {
    const wire = new LocalWire(request.body);
    const head: RequestHead = { ...request, remoteAddress: '127.0.0.1', clientCertificate: request.user, connection, auditId };
    const exchange = createExchange(head, wire, clock);
    if (exchange === undefined) return reject(new TypeError(`${request.target} is no path`));
    wire.onEnd = (complete) => {
      exchange.close(complete);
      if (complete) resolve(wire.response());
      else reject(new Error('the answer was cut off'));
    };
    const answer = async (): Promise<void> => writeResponse(exchange, await handler(exchange));
    answer().catch(reject);
  });
}

class LocalWire implements Wire {
  readonly input: Readable;
  readonly output: Writable;
  readonly isReceived = true;
  readonly #chunks: Uint8Array[] = [];
  #status = 0;
  #headers: Record<string, string> = {};
  onEnd: (complete: boolean) => void = () => undefined;

  constructor(body: Uint8Array | undefined) {
    const input = new PassThrough();
    input.end(body);
    this.input = input;
    const chunks = this.#chunks;
    this.output = new Writable({
      write(chunk: Uint8Array, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
    this.output.on('finish', () => this.onEnd(true));
  }

  readBody(_exchange: unknown, limitBytes: number): Promise<Uint8Array> {
    return readWhole(this.input, limitBytes);
  }

  sendContinue(): void {}

  start(status: number, headers: string[], bodyless: boolean): void {
    this.#status = status;
    for (let index = 0; index < headers.length; index += 2) {
      const [name, value] = [headers[index] as string, headers[index + 1] as string];
      this.#headers[name] = name in this.#headers ? `${this.#headers[name]}, ${value}` : value;
    }
    if (bodyless) this.onEnd(true);
  }

  finish(body: Uint8Array): void {
    this.#chunks.push(body);
    this.onEnd(true);
  }

  destroy(): void {
    this.onEnd(false);
  }

  response(): LocalResponse {
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) };
  }
}
