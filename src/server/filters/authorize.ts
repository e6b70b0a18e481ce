// Authorization. It comes before any look at what exists, so that a refusal reveals nothing. Where an authorizer could not be asked and no other
// allows a request, that is the answer: clients try it again, as they do not after a refusal.
import { refuse } from '../../auth/index.ts';
import { mapMaybe } from '../../base/index.ts';
import { describeAttributes } from '../authorization.ts';
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Filter, type FilterDependencies, plainInternalError } from './filter.ts';

const results = { allow: 'allowed', deny: 'denied', none: 'no-opinion' } as const;

/** Lets allowed requests pass; the others are the reference's 403. */
export function authorizeRequests({ authorize, respondError, metrics }: Pick<FilterDependencies, 'authorize' | 'respondError' | 'metrics'>): Filter {
  return (exchange, next) => {
    const startedMs = exchange.clock.monotonicMs();
    const attributes = describeAttributes(exchange.user, exchange.info, exchange.query);
    return mapMaybe(authorize(attributes), (decision) => {
      const nowMs = exchange.clock.monotonicMs();
      const isFailed = decision.type !== 'allow' && decision.error !== undefined;
      metrics.recordAuthorization(isFailed ? 'error' : results[decision.type], nowMs - startedMs);
      if (isFailed) return fail(exchange, decision.error);
      exchange.audit?.recordDecision(decision.type === 'allow' ? 'allow' : 'forbid', { reason: decision.reason, nowMs });
      if (decision.type === 'allow') return next(exchange);
      const refusal = respondError(exchange, refuse(attributes, decision.reason));
      return { ...refusal, headers: { ...refusal.headers, 'x-content-type-options': 'nosniff' } };
    });
  };
}

function fail(exchange: ServerExchange, why: string): Response {
  exchange.auditAnnotations?.set('authorization.k8s.io/reason', { value: 'internal error', level: 'Metadata' });
  return plainInternalError(exchange.target, why);
}
