// Impersonation, where the headers ask for it and the caller has the right. From here on the request is the other user's.
import { type Impersonate, readImpersonation } from '../../auth/index.ts';
import { describeAttributes } from '../authorization.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter } from './filter.ts';

/** Replaces `user`. */
export function impersonateUsers({ impersonate }: { readonly impersonate: Impersonate }): Filter {
  return (exchange, next) => {
    const wanted = asksForImpersonation(exchange) ? readImpersonation(exchange.headerValues()) : undefined;
    if (wanted === undefined) return next(exchange);
    return impersonate(wanted, describeAttributes(exchange.user, exchange.info, exchange.query)).then(({ user, constraint }) => {
      exchange.user = user;
      exchange.audit?.recordImpersonation(user, constraint);
      exchange.audit?.markLatency('impersonation', exchange.clock.monotonicMs());
      return next(exchange);
    });
  };
}

/** Almost no request does, so this costs one pass over the names of its headers. */
function asksForImpersonation({ headers }: ServerExchange): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}
