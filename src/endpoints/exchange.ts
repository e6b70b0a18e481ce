// A request and its response without a socket: what the filters and handlers see. The listener (server/) makes one per request.
import type { Status } from '../apimachinery/index.ts';
import type { ClientCertificate, User } from '../auth/index.ts';
import type { Clock, MaybePromise } from '../base/index.ts';
import type { Registry, WebhookTime, WriteContext } from '../registry/index.ts';

/** The meaning of a path and method (upstream's RequestInfo). */
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
  /** Queues bytes; false when the receiver is behind: the writer awaits `drained` before it writes much more. */
  write(chunk: Uint8Array): boolean;
  drained(): Promise<void>;
  /** Aborted when the receiver has left or the server stops; nothing that is written later arrives. */
  readonly signal: AbortSignal;
  /**
   * Watches that may send bookmarks hand over a function that sends one now. It answers false, and sends none, while events before it are still to be
   * sent.
   */
  offerBookmarks?(send: () => boolean): void;
}

/** All bytes at once, chunks to be written one after the other, or a stream. */
export type Body = Uint8Array | readonly Uint8Array[] | ((sink: Sink) => Promise<void>);

/** The answer to a request. */
export interface Response {
  readonly status: number;
  /** Lower-case names. Several values for `warning`. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Body;
}

/** How a watch counts what it sends. */
export interface WatchCounts {
  sent(events: number, bytes: number): void;
  /** The initial events are sent, so long after the request came. */
  initialSent(durationMs: number): void;
}

/** What the audit event of a request learns while the request is handled. */
export interface AuditRecord {
  /** Whether the bodies of requests, and of answers, are recorded. */
  readonly wantsRequest: boolean;
  readonly wantsResponse: boolean;
  /** Answers with more bytes of JSON are left out. */
  readonly maxResponseBytes: number;
  /** The decoded body, before admission changes it; completes the reference to the object. */
  recordRequestObject(object: unknown): void;
  /** The patch as a JSON value; undefined where it is none. */
  recordPatch(patch: unknown): void;
  /** A Status that is the answer. */
  recordStatus(status: Partial<Status>): void;
  /** The answer, converted as the client gets it. */
  recordResponseObject(object: unknown): void;
  /** The same as JSON text. */
  recordResponseJson(json: Uint8Array): void;
  /** The answer is longer than `maxResponseBytes`. */
  leaveOutResponse(): void;
  /** A webhook was called. */
  recordWebhook(call: WebhookTime): void;
  /** The request made a revision in the store. */
  recordRevision(revision: number): void;
  /** The API of the request is deprecated; the warning says since when, and until when it is served. */
  recordDeprecation(warning: string): void;
}

/** One request, and everything that the filters found out about it. */
export interface Exchange {
  readonly method: string;
  /** Decoded path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names; values of repeated headers are joined with ', '. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body, at most `limitBytes` (else a 413 StatusError). Read at most once. */
  readBody(limitBytes: number): Promise<Uint8Array>;
  /** Aborted when the client went away, the deadline passed or the server stops. */
  readonly signal: AbortSignal;
  /** Whether `signal` is aborted; reading this does not create the signal. */
  readonly aborted: boolean;
  /** Monotonic milliseconds of the clock at which the request ends; undefined while it has no limit. */
  readonly deadlineMs?: number | undefined;
  /** The audit of the request; undefined when there is none. */
  readonly audit?: AuditRecord | undefined;
  /** The annotations of the audit event; undefined when there is none. */
  readonly auditAnnotations?: WriteContext['auditAnnotations'];
  readonly clock: Clock;
  readonly remoteAddress: string;
  /** Verified or not: authentication checks it. */
  readonly clientCertificate?: ClientCertificate | undefined;

  // The filters set these, in order.
  info: RequestInfo;
  /** The authenticated user. */
  user: User;
  /** Serves this request in place of the server's registry. */
  registry?: Registry | undefined;
  readonly auditId: string;
  /** Texts for Warning headers, in order, deduplicated by the responder. */
  readonly warnings: string[];
}

/** One verb. Throws StatusError only, or rejects with it. */
export type Handler = (exchange: Exchange) => MaybePromise<Response>;
