// What clients asked of a test server: one record per request, kept in order, written to a file where that is wanted.
import { appendFileSync, writeFileSync } from 'node:fs';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../base/index.ts';
import { BoundedCache } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import { type Filter, type ServerExchange, isReadVerb } from '../../server/index.ts';

/** One request and its answer. */
export interface RequestRecord {
  /** Counts from 1. */
  readonly number: number;
  /** The time of the server's clock. */
  readonly time: string;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  /** The plural; '' for paths outside the API's resources. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** '' for lists, and for creations, whose name is in the body. */
  readonly name: string;
  readonly dryRun: boolean;
  /** 0 until there is an answer, and where the connection broke off without one. */
  readonly status: number;
  /** Revisions that the request wrote. */
  readonly revisions: readonly number[];
  /** Bodies, where `recordBodies` is asked for: JSON as values, other text as it is, bytes in base64. */
  readonly requestBody?: unknown;
  readonly responseBody?: unknown;
}

/** Which requests are meant: those that fit everything that is given. */
export interface RequestMatch {
  readonly user?: string;
  /** As in RequestRecord; `write` is all that change something, `read` the others. */
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly status?: number;
}

type Mutable = { -readonly [K in keyof RequestRecord]: RequestRecord[K] };

interface RecorderOptions {
  readonly clock: Clock;
  readonly bodies: boolean;
  /** '' writes no file. */
  readonly file: string;
  readonly spares: (exchange: ServerExchange) => boolean;
}

/** Requests are kept up to this number; the oldest go first. */
const KEPT = 100_000;

/** Whether a request changes something. */
export const isWrite = ({ verb, dryRun, resource }: Pick<RequestRecord, 'verb' | 'dryRun' | 'resource'>): boolean =>
  resource !== '' && !isReadVerb(verb) && !dryRun;

/** Whether a record fits. */
export function fitsRecord(record: RequestRecord, { verb, ...match }: RequestMatch): boolean {
  const fitsVerb = verb === undefined || record.verb === verb || (verb === 'write' && isWrite(record)) || (verb === 'read' && isReadVerb(record.verb));
  return fitsVerb && Object.entries(match).every(([key, value]) => value === undefined || record[key as keyof RequestRecord] === value);
}

/** A record in one line. */
export const showRecord = ({ number, user, verb, path, status }: RequestRecord): string => `#${number} ${user} ${verb} ${path} → ${status}`;

/** Keeps the records of one server. */
export class RequestRecorder {
  readonly #options: RecorderOptions;
  readonly #current = new AsyncLocalStorage<Mutable>();
  /** By revision. */
  readonly #writers = new BoundedCache<number, RequestRecord>({ limit: KEPT });
  #records: Mutable[] = [];
  #count = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    if (options.file !== '') writeFileSync(options.file, '');
  }

  get records(): readonly RequestRecord[] {
    return this.#records;
  }

  clear(): void {
    this.#records = [];
  }

  /** The request that wrote a revision; undefined for writes of the server itself. */
  writerOf(revision: number): RequestRecord | undefined {
    return this.#writers.peek(revision);
  }

  /** Notes that a revision was written. */
  noteCommit(revision: number): void {
    const record = this.#current.getStore();
    if (record === undefined) return;
    (record.revisions as number[]).push(revision);
    this.#writers.set(revision, record);
  }

  /** The filter that records. */
  filter(): Filter {
    return (exchange, next) => {
      if (this.#options.spares(exchange)) return next(exchange);
      const record = this.#begin(exchange);
      exchange.onClosed(() => {
        record.user = exchange.user.name;
        this.#write(record);
      });
      return this.#current.run(record, async () => this.#end(record, exchange, await next(exchange)));
    };
  }

  #begin(exchange: ServerExchange): Mutable {
    const { verb, group, version, resource, subresource, namespace, name } = exchange.info;
    const record: Mutable = {
      number: ++this.#count, time: new Date(this.#options.clock.now()).toISOString(), user: '', userAgent: exchange.headers['user-agent'] ?? '',
      verb, method: exchange.method, path: exchange.target, group, version, resource, subresource, namespace, name,
      dryRun: exchange.query.has('dryRun'), status: 0, revisions: [],
    };
    this.#records.push(record);
    if (this.#records.length > KEPT) this.#records = this.#records.slice(-KEPT / 2);
    if (this.#options.bodies) {
      const readBody = exchange.readBody.bind(exchange);
      exchange.readBody = async (limitBytes) => {
        const bytes = await readBody(limitBytes);
        record.requestBody = showBody(bytes);
        return bytes;
      };
    }
    return record;
  }

  #end(record: Mutable, exchange: ServerExchange, response: Response): Response {
    record.user = exchange.user.name;
    record.status = response.status;
    const { body } = response;
    if (this.#options.bodies && typeof body !== 'function') {
      record.responseBody = showBody(body instanceof Uint8Array ? body : Buffer.concat(body));
    }
    return response;
  }

  #write(record: RequestRecord): void {
    if (this.#options.file !== '') appendFileSync(this.#options.file, `${JSON.stringify(record)}\n`);
  }
}

function showBody(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text.includes('\ufffd') || text.includes('\0') ? Buffer.from(bytes).toString('base64') : text;
  }
}
