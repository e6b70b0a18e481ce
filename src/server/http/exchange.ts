// The Exchange of one HTTP request, for HTTP/1.1 and HTTP/2 alike: what differs between them is behind `Wire`.
// Made per request on the hot path, so everything that most requests do not need (abort signal, parsed query) is made when first asked for.
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../base/index.ts';
import type { TokenUse, User } from '../../auth/index.ts';
import type { AuditRecord, Exchange, RequestInfo } from '../../endpoints/index.ts';
import type { Layer } from '../audit/latency.ts';

/** The part of a request and its response that depends on the protocol version. */
export interface Wire {
  readonly input: Readable;
  /** Whether the body is there as a whole, or there is none. */
  readonly isReceived: boolean;
  /** Reads the body as a whole, in turns with those of other requests. */
  readBody(exchange: HttpExchange, limitBytes: number): Promise<Uint8Array>;
  readonly output: Writable;
  /** Sends the interim answer that a client with `Expect: 100-continue` waits for. */
  sendContinue(): void;
  /** Sends status and headers, which are names and values in turn; the list is the wire's from then on. `bodyless` ends the response. */
  start(status: number, headers: string[], bodyless: boolean): void;
  /** Sends a body that is there as a whole, and ends the response: at the latest at the end of this turn of the event loop. */
  finish(body: Uint8Array): void;
  /** Cuts the response off, so that the client sees that it is incomplete. */
  destroy(): void;
  /** Called before the first byte of a body that is written piece by piece. */
  announce?(): void;
  /** Takes no further requests on an HTTP/2 connection; those that have begun are finished. */
  closeSession?(): void;
  /** Ends the connection behind this response. */
  closeConnection?(): void;
}

/** Everything of a request that is known once its headers are. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders?: readonly string[];
  readonly remoteAddress: string;
  readonly clientCertificate: Exchange['clientCertificate'];
  /** One object per connection. */
  readonly connection: object;
  readonly auditId: string;
}

/** What the audit event of a request learns from the filters. */
export interface FilterAuditRecord extends AuditRecord {
  /** The request leaves a layer between authentication and authorization. */
  markLatency(layer: Layer, nowMs: number): void;
  readonly annotations: Exchange['auditAnnotations'];
  /** What authorization says, which ended just now. */
  recordDecision(decision: 'allow' | 'forbid', details: { readonly reason: string; readonly nowMs: number }): void;
  recordImpersonation(user: User, constraint: string): void;
}

/** A flow of requests that share seats. */
interface RequestFlow {
  readonly schema: { readonly name: string };
  readonly level: { readonly name: string };
  /** Headers that say so to the client. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the filters see: an Exchange that they may also end. */
export interface ServerExchange extends Exchange {
  /** Path and query as they were sent. */
  readonly target: string;
  audit: FilterAuditRecord | undefined;
  /** Bytes of the body; undefined where it was not read as a whole. */
  readonly bodyBytes: number | undefined;
  /** What the token of the caller adds to the request. */
  tokenUse: TokenUse | undefined;
  /** What the request came by: one object per connection. */
  readonly connection: object;
  /** Watches and the like: no deadline, not counted as in flight, ended first when the server stops. */
  longRunning: boolean;
  /** Monotonic milliseconds at which the request is ended, see the deadline filter. */
  deadlineMs: number | undefined;
  /** Where the request belongs, as flow control says. */
  flow: RequestFlow | undefined;
  /** All headers, lower-case names, each with its values as they were sent: where a value may hold a comma that means nothing. */
  headerValues(): ReadonlyMap<string, readonly string[]>;
  /** Begins to read the body, which `readBody` gives then; resolves, never rejects, once it is there or fails. Undefined where nothing has to be waited for. */
  receiveBody(limitBytes: number): Promise<void> | undefined;
  /** The body as it comes in; the client that waits for a sign to send it gets one. Read at most once, instead of `readBody`. */
  openBody(): Readable;
  /** Monotonic milliseconds at which the headers were there. */
  readonly startedMs: number;
  /** The client went away. */
  readonly disconnected: boolean;
  /** Monotonic milliseconds since which what is written of the answer waits for the client to read; undefined while it does not. */
  unreadSinceMs: number | undefined;
  /** Takes no further requests on this connection where it is an HTTP/2 session. */
  closeSession(): void;
  /** Ends the connection behind this response. */
  closeConnection(): void;
  /** Aborts `signal`. */
  abort(reason: string): void;
  /** Aborts `signal` and cuts off a response that has begun. */
  cut(reason: string): void;
  /** Calls `callback` once the response is written or given up. */
  onClosed(callback: () => void): void;
}

const noInfo: RequestInfo = {
  isResource: false, path: '', verb: '', prefix: '', group: '', version: '', namespace: '', resource: '', subresource: '', name: '', parts: [],
};
/** Queries are never changed. */
const noQuery = new URLSearchParams();

const malformed = /;|%(?![0-9a-f]{2})/i;

/** Parameters with a semicolon or an escape that is none do not count, as in Go. */
function dropMalformed(search: string): string {
  return malformed.test(search) ? search.replace(/^\?/, '').split('&').filter((pair) => !malformed.test(pair)).join('&') : search;
}

/** Parameters of a query; of more of them none counts, as in Go. */
const MAX_PARAMETERS = 10_000;

function parseQuery(search: string): URLSearchParams {
  let count = 1;
  for (let at = search.indexOf('&'); at !== -1; at = search.indexOf('&', at + 1)) if (++count > MAX_PARAMETERS) return noQuery;
  return new URLSearchParams(dropMalformed(search));
}

const anonymous: User = { name: '', groups: [] };
/** One for all: clients leave by thousands, and where they did so says nothing. */
const clientLeft = new Error('the client went away');

/** Makes the exchange of a request whose target is well-formed; undefined when it is not. */
export function createExchange(head: RequestHead, wire: Wire, clock: Clock): HttpExchange | undefined {
  const target = head.target.startsWith('/') ? head.target : stripOrigin(head.target);
  if (target === undefined) return undefined;
  const mark = target.indexOf('?');
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  const path = rawPath.includes('%') ? decodePath(rawPath) : rawPath;
  return path === undefined ? undefined : new HttpExchange(head, wire, { clock, path, target, search: mark === -1 ? '' : target.slice(mark + 1) });
}

function stripOrigin(target: string): string | undefined {
  const match = /^https?:\/\/[^/?#]+(\/.*)?$/i.exec(target);
  return match === null ? undefined : match[1] ?? '/';
}

function decodePath(rawPath: string): string | undefined {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    return undefined;
  }
}

/** A request in progress. */
export class HttpExchange implements ServerExchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly remoteAddress: string;
  readonly clientCertificate: Exchange['clientCertificate'];
  readonly connection: object;
  readonly auditId: string;
  readonly warnings: string[] = [];
  readonly target: string;
  audit: FilterAuditRecord | undefined = undefined;
  tokenUse: TokenUse | undefined = undefined;
  bodyBytes: number | undefined = undefined;
  readonly startedMs: number;
  info: RequestInfo = noInfo;
  user: User = anonymous;
  longRunning = false;
  deadlineMs: number | undefined = undefined;
  flow: RequestFlow | undefined = undefined;
  registry: Exchange['registry'] = undefined;
  disconnected = false;
  unreadSinceMs: number | undefined = undefined;
  readonly wire: Wire;
  readonly #search: string;
  readonly #rawHeaders: readonly string[];
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;
  #closed = false;
  #callbacks: (() => void)[] | undefined;
  #body: Promise<Uint8Array> | undefined;

  constructor(head: RequestHead, wire: Wire, parts: { clock: Clock; path: string; target: string; search: string }) {
    this.method = head.method;
    this.headers = head.headers;
    this.#rawHeaders = head.rawHeaders ?? [];
    this.remoteAddress = head.remoteAddress;
    this.clientCertificate = head.clientCertificate;
    this.connection = head.connection;
    this.auditId = head.auditId;
    this.wire = wire;
    this.clock = parts.clock;
    this.path = parts.path;
    this.target = parts.target;
    this.#search = parts.search;
    this.startedMs = parts.clock.monotonicMs();
  }

  get query(): URLSearchParams {
    return (this.#query ??= this.#search === '' ? noQuery : parseQuery(this.#search));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Made when they are asked for: reads have none but those of authorization. */
  get auditAnnotations(): Exchange['auditAnnotations'] {
    return this.audit?.annotations;
  }

  get aborted(): boolean {
    return this.#abortReason !== undefined;
  }

  headerValues(): ReadonlyMap<string, readonly string[]> {
    return gatherHeaders(this.#rawHeaders);
  }

  readBody(limitBytes: number): Promise<Uint8Array> {
    return (this.#body ??= this.#readBody(limitBytes));
  }

  async #readBody(limitBytes: number): Promise<Uint8Array> {
    this.#askForBody();
    const body = await this.wire.readBody(this, limitBytes);
    this.bodyBytes = body.length;
    return body;
  }

  receiveBody(limitBytes: number): Promise<void> | undefined {
    return this.wire.isReceived ? undefined : this.readBody(limitBytes).then(() => undefined, () => undefined);
  }

  openBody(): Readable {
    this.#askForBody();
    return this.wire.input;
  }

  #askForBody(): void {
    if (this.headers['expect']?.toLowerCase() === '100-continue') this.wire.sendContinue();
  }

  closeSession(): void {
    this.wire.closeSession?.();
  }

  closeConnection(): void {
    this.wire.closeConnection?.();
  }

  abort(reason: string): void {
    this.#abort(new Error(reason));
  }

  #abort(reason: Error): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  cut(reason: string): void {
    this.abort(reason);
    this.wire.destroy();
  }

  onClosed(callback: () => void): void {
    if (this.#closed) callback();
    else (this.#callbacks ??= []).push(callback);
  }

  /** The transport is done with this request, successfully or not. Idempotent. */
  close(complete: boolean): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!complete) {
      this.disconnected = true;
      this.#abort(clientLeft);
    }
    for (const callback of this.#callbacks ?? []) callback();
  }
}

/** Headers, given as names and values in turn: by lower-case name, each with its values as they came. */
export function gatherHeaders(list: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = (list[at] as string).toLowerCase();
    const known = headers.get(name);
    if (known === undefined) headers.set(name, [list[at + 1] as string]);
    else known.push(list[at + 1] as string);
  }
  return headers;
}
