// What a filter is, and what the filters of the chain work with.
import { quoteGo } from '../../apimachinery/index.ts';
import type { Authenticate, Authorize, Impersonate } from '../../auth/index.ts';
import type { Clock, MaybePromise, Random } from '../../base/index.ts';
import type { Handler, RequestInfo, Response } from '../../endpoints/index.ts';
import type { Audit } from '../audit/audit.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { Catalog } from '../../registry/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerMetrics } from '../metrics/metrics.ts';

/** One step of the chain. It throws StatusError or answers, at once where nothing has to be waited for; `next` is the rest of the chain. */
export type Filter = (exchange: ServerExchange, next: Next) => MaybePromise<Response>;

/** The filters that follow, and the handler. */
export type Next = (exchange: ServerExchange) => MaybePromise<Response>;

/** How far start and stop of a server have come. */
export interface Lifecycle {
  /** Every path that the server will answer is known. */
  readonly hasAllRoutes: boolean;
  /** New requests are asked to come back later, to another server. */
  readonly sendsAway: boolean;
}

/** The credentials that a session of the console stands for. */
export type SessionCredentials = Pick<Parameters<Authenticate>[0], 'authorization' | 'clientCertificate'>;

/** The console as the filters see it. */
export interface Console {
  /** Answers requests for the page and its sessions. */
  readonly filter: Filter;
  /** The credentials behind a request that shows a session; `unknown` for one that is over; undefined where none is shown. */
  findCredentials(exchange: ServerExchange): MaybePromise<SessionCredentials | 'unknown' | undefined>;
}

/** What the filters work with. */
export interface FilterDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ServerMetrics;
  /** Receives finished requests whose answer has a warning. */
  readonly noteRequest?: (info: RequestInfo) => void;
  readonly authenticate: Authenticate;
  readonly impersonate: Impersonate;
  /** The console with its sessions; absent where it is off. */
  readonly console?: Console | undefined;
  readonly authorize: Authorize;
  /** The resources that this server answers for itself. */
  readonly catalog: Pick<Catalog, 'findResource'>;
  readonly requestTimeoutMs: number;
  readonly maxReadsInFlight: number;
  readonly maxMutationsInFlight: number;
  /** Priority and fairness; without it the two limits hold. */
  readonly flowControl?: FlowControl;
  /** Records requests; absent where audit is off. */
  readonly audit?: Audit | undefined;
  /** Spans of requests; absent where nothing is traced. */
  readonly tracing?: { readonly filter: Filter; traceFilter(name: string, filter: Filter): Filter } | undefined;
  /** Whether pages of an origin may read answers; none may unless given. */
  readonly allowsOrigin?: ((origin: string) => boolean) | undefined;
  /** How far start and stop have come. */
  readonly lifecycle?: Lifecycle;
  readonly random?: Pick<Random, 'below'>;
  /** Chance that a request is the last that its HTTP/2 connection takes. */
  readonly goawayChance?: number;
  /** Directives of the header in all answers; none unless given. */
  readonly strictTransportSecurity?: readonly string[];
  /** Filters of tests: around every request, and around those whose user is known. */
  readonly observe?: Filter | undefined;
  readonly disturb?: Filter | undefined;
  /** Turns anything that was thrown into the negotiated Status. */
  readonly respondError: (exchange: ServerExchange, error: unknown) => Response;
  readonly handler: Handler;
}

/** Whether something thrown is an answer. */
export const isStatusError = (error: unknown): boolean => error instanceof Error && error.name === 'StatusError';

/** The 500 of what fails before a request is understood, or is known to be allowed: text, as the reference answers it. */
export function plainInternalError(target: string, why: string): Response {
  const shown = quoteGo(target.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
  return {
    status: 500, headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: new TextEncoder().encode(`Internal Server Error: ${shown}: ${why}\n`),
  };
}
