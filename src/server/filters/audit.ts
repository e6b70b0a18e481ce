// Records requests for audit, as the policy wants it: when they come, when the answer of a long request begins, when the answer is complete, and when
// the server fails. Stands behind authentication, so that events name the user; what authentication refuses has one event of its own.
import { internalError, unauthorized } from '../../apimachinery/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { Audit } from '../audit/audit.ts';
import type { RequestAudit } from '../audit/record.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Filter, type FilterDependencies, type Next, isStatusError } from './filter.ts';

type AuditDependencies = Pick<FilterDependencies, 'respondError'> & { readonly audit: Audit };

/** Makes the events of requests; a request whose first event is not stored fails. */
export function auditRequests(deps: AuditDependencies): Filter {
  return (exchange, next) => {
    const record = begin(deps.audit, exchange, true);
    return record === undefined ? next(exchange) : answerRecorded({ record, exchange, deps }, next);
  };
}

async function answerRecorded(recording: Recording, next: Next): Promise<Response> {
  const { record, deps: { audit } } = recording;
  record.latency.mark('authentication');
  if (!await record.process('RequestReceived')) {
    audit.metrics.recordRejection();
    throw internalError('failed to store audit event');
  }
  return recordResponse(recording, await answer(recording, next));
}

async function answer({ record, exchange, deps: { respondError } }: Recording, next: Next): Promise<Response> {
  try {
    return await next(exchange);
  } catch (error) {
    if (isStatusError(error)) return respondError(exchange, error);
    await recordPanic(record, error);
    throw error;
  }
}

/** The 401 of a request without valid credentials, recorded when it begins; how the caller tried is known where no Status is. */
export async function auditRefusal(exchange: ServerExchange, deps: AuditDependencies): Promise<Response> {
  const record = begin(deps.audit, exchange, false);
  record?.recordStatus({ message: describeAttempt(exchange) });
  const response = deps.respondError(exchange, unauthorized());
  record?.recordResponse(response);
  await record?.process('ResponseStarted');
  return response;
}

function begin(audit: Audit, exchange: ServerExchange, isAuthenticated: boolean): RequestAudit | undefined {
  const record = audit.begin(exchange, isAuthenticated ? exchange.user : undefined);
  exchange.audit = record;
  exchange.auditAnnotations = record?.annotations;
  return record;
}

interface Recording {
  readonly record: RequestAudit;
  readonly exchange: ServerExchange;
  readonly deps: AuditDependencies;
}

/** The events of an answer. One that is written piece by piece is complete when its connection is done with it. */
async function recordResponse({ record, exchange }: Recording, response: Response): Promise<Response> {
  record.recordResponse(response);
  const complete = (): Promise<boolean> => {
    record.complete();
    return record.process('ResponseComplete');
  };
  if (exchange.longRunning || typeof response.body === 'function') exchange.onClosed(() => void complete());
  if (exchange.longRunning) await record.process('ResponseStarted');
  else if (typeof response.body !== 'function') await complete();
  return response;
}

async function recordPanic(record: RequestAudit, error: unknown): Promise<void> {
  const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
  record.recordStatus({ code: 500, status: 'Failure', reason: 'InternalError', message });
  await record.process('Panic');
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
