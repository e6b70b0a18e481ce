// Records requests for audit, as the policy wants it: when they come, when the answer of a long request begins, when the answer is complete, and when
// the server fails. Stands behind authentication, so that events name the user; what authentication refuses has one event of its own.
import { internalError, unauthorized } from '../../apimachinery/index.ts';
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { Audit } from '../audit/audit.ts';
import type { RequestAudit } from '../audit/record.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Filter, type FilterDependencies, type Next, isStatusError } from './filter.ts';

type AuditDependencies = Pick<FilterDependencies, 'respondError'> & { readonly audit: Audit };

/** Makes the events of requests; a request whose first event is not stored fails. */
export function auditRequests(deps: AuditDependencies): Filter {
  const recordFailure = (record: RequestAudit, exchange: ServerExchange, error: unknown): MaybePromise<Response> =>
    (isStatusError(error) ? deps.respondError(exchange, error) : recordPanic(record, error));

  /** An answer that is there at once makes no function here: those were most of what a record left to collect. */
  function recordAnswer(record: RequestAudit, exchange: ServerExchange, next: Next): MaybePromise<Response> {
    let answer: MaybePromise<Response>;
    try {
      answer = next(exchange);
    } catch (error) {
      return mapMaybe(recordFailure(record, exchange, error), (response) => recordResponse(record, exchange, response));
    }
    if (!(answer instanceof Promise)) return recordResponse(record, exchange, answer);
    return answer.catch((error) => recordFailure(record, exchange, error)).then((response) => recordResponse(record, exchange, response));
  }

  return (exchange, next) => {
    const record = begin(deps.audit, exchange, true);
    if (record === undefined) return next(exchange);
    const stored = record.process('RequestReceived');
    if (stored === true) return recordAnswer(record, exchange, next);
    return mapMaybe(stored, (isStored) => {
      if (isStored) return recordAnswer(record, exchange, next);
      deps.audit.metrics.recordRejection();
      throw internalError('failed to store audit event');
    });
  };
}

/** The 401 of a request without valid credentials, recorded when it begins; how the caller tried is known where no Status is. */
export function auditRefusal(exchange: ServerExchange, deps: AuditDependencies): MaybePromise<Response> {
  const record = begin(deps.audit, exchange, false);
  record?.recordStatus({ message: describeAttempt(exchange) });
  const response = deps.respondError(exchange, unauthorized());
  if (record === undefined) return response;
  record.recordResponse(response);
  return mapMaybe(record.process('ResponseStarted'), () => response);
}

function begin(audit: Audit, exchange: ServerExchange, isAuthenticated: boolean): RequestAudit | undefined {
  const record = audit.begin(exchange, isAuthenticated ? exchange.user : undefined);
  exchange.audit = record;
  const annotations = exchange.tokenUse?.annotations;
  if (annotations !== undefined) for (const [key, value] of Object.entries(annotations)) record?.annotate(key, value);
  return record;
}

/** The events of an answer. One that is written piece by piece is complete when its connection is done with it. */
function recordResponse(record: RequestAudit, exchange: ServerExchange, response: Response): MaybePromise<Response> {
  record.recordResponse(response);
  if (exchange.longRunning) {
    exchange.onClosed(() => void record.complete());
    return answerAfter(record.process('ResponseStarted'), response);
  }
  if (typeof response.body !== 'function') return answerAfter(record.complete(), response);
  exchange.onClosed(() => void record.complete());
  return response;
}

const answerAfter = (stored: MaybePromise<boolean>, response: Response): MaybePromise<Response> =>
  (stored instanceof Promise ? stored.then(() => response) : response);

function recordPanic(record: RequestAudit, error: unknown): MaybePromise<never> {
  const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
  record.recordStatus({ code: 500, status: 'Failure', reason: 'InternalError', message });
  return mapMaybe(record.process('Panic'), () => {
    throw error;
  });
}

/** The credentials that a request brought, by their sort. */
function describeAttempt({ headers, query, clientCertificate }: ServerExchange): string {
  const [scheme = '', value] = (headers['authorization'] ?? '').trim().split(' ');
  const attempts = [
    ...(scheme.toLowerCase() === 'basic' && value ? ['basic'] : []), ...(scheme.toLowerCase() === 'bearer' && value !== undefined ? ['bearer'] : []),
    ...((query.get('access_token') ?? '').trim() === '' ? [] : ['access_token']), ...(clientCertificate === undefined ? [] : ['x509']),
  ];
  return attempts.length === 0 ? 'Authentication failed, no credentials provided' : `Authentication failed, attempted: ${attempts.join(', ')}`;
}
