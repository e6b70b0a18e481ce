// A request and its response without a socket: what the filters and handlers see. The listener (server/) makes one per request.
import type { Clock, Soon } from '../base/index.ts';

/** Who is calling, as authentication found. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What the path and method mean (upstream's RequestInfo). */
export interface RequestInfo {
  readonly isResource: boolean;
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection, or the lower-case HTTP method for non-resources. */
  readonly verb: string;
  /** `api` or `apis`. */
  readonly prefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Path segments from the resource on. */
  readonly parts: readonly string[];
}

/** Where a streaming body is written. */
export interface Sink {
  /** Queues bytes; false when the receiver is behind: await `drained` before writing much more. */
  write(chunk: Uint8Array): boolean;
  drained(): Promise<void>;
  /** Aborted when the receiver went away or the server stops; then nothing that is written arrives. */
  readonly signal: AbortSignal;
}

/** Whole bytes, pieces to be written one after the other, or a stream. */
export type Body = Uint8Array | readonly Uint8Array[] | ((sink: Sink) => Promise<void>);

export interface Response {
  readonly status: number;
  /** Lower-case names. Several values for `warning`. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Body;
}

export interface Exchange {
  readonly method: string;
  /** Path as sent, before decoding, without the query. */
  readonly rawPath: string;
  /** Decoded path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names; values of repeated headers are joined with ', '. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body, at most `limitBytes` (else a 413 StatusError). Read at most once. */
  readBody(limitBytes: number): Promise<Uint8Array>;
  /** Aborted when the client went away, the deadline passed or the server stops. */
  readonly signal: AbortSignal;
  /** Whether `signal` is aborted; asking this makes no signal. */
  readonly aborted: boolean;
  readonly clock: Clock;
  readonly remoteAddress: string;
  /** DER of the verified or unverified client certificate, for authentication. */
  readonly clientCertificate?: {
    readonly raw: Uint8Array;
    readonly commonName: string;
    readonly organizations: readonly string[];
    readonly uid?: string;
    /** Chains to an authority of clients. */
    readonly authorized: boolean;
    /** Chains to the authority of front proxies. */
    readonly frontProxy?: boolean;
    /** SHA-256 of the certificate in hexadecimal. */
    readonly fingerprint?: string;
  };
  /** Upgraded protocols (WebSocket watches); absent where the transport has none. */
  readonly upgrade?: unknown;

  // Filled in by the filters, in order.
  info: RequestInfo;
  user: UserInfo;
  readonly auditId: string;
  /** Texts for Warning headers, in order, deduplicated by the responder. */
  readonly warnings: string[];
}

/** One verb. Throws StatusError only, or rejects with it. */
export type Handler = (exchange: Exchange) => Soon<Response>;
