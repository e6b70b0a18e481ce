// Impersonation, where the headers ask for it and the caller has the right. From here on the request is the other user's.
import { StatusError } from '../../apimachinery/index.ts';
import { type Impersonate, readImpersonation } from '../../auth/index.ts';
import { describeAttributes } from '../authorization.ts';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter, FilterDependencies } from './filter.ts';

/** Replaces `user`. */
export function impersonateUsers({ impersonate, respondError }: Pick<FilterDependencies, 'impersonate' | 'respondError'>): Filter {
  /** What the reference answers for the refusal: browsers are not to guess its type. */
  const refuse = (exchange: ServerExchange, error: unknown): Response => {
    if (!(error instanceof StatusError)) throw error;
    const refusal = respondError(exchange, error);
    return { ...refusal, headers: { ...refusal.headers, 'x-content-type-options': 'nosniff' } };
  };

  return (exchange, next) => {
    if (!asksForImpersonation(exchange)) return next(exchange);
    return findImpersonated(exchange).then((found) => {
      if (found === undefined) return next(exchange);
      exchange.user = found.user;
      exchange.audit?.recordImpersonation(found.user, found.constraint);
      exchange.audit?.markLatency('impersonation', exchange.clock.monotonicMs());
      return next(exchange);
    }, (error: unknown) => refuse(exchange, error));
  };

  async function findImpersonated(exchange: ServerExchange): Promise<Awaited<ReturnType<Impersonate>> | undefined> {
    const wanted = readImpersonation(exchange.headerValues());
    return wanted && impersonate(wanted, describeAttributes(exchange.user, exchange.info, exchange.query));
  }
}

/** Almost no request does, so this costs one pass over the names of its headers. */
function asksForImpersonation({ headers }: ServerExchange): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}
