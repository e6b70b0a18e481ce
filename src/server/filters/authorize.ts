// Authorization. It comes before any look at what exists, so that a refusal reveals nothing.
import { refuse } from '../../auth/index.ts';
import { mapMaybe } from '../../base/index.ts';
import { describeAttributes } from '../authorization.ts';
import type { Filter, FilterDependencies } from './filter.ts';

const results = { allow: 'allowed', deny: 'denied', none: 'no-opinion' } as const;

/** Lets allowed requests pass; the others are the reference's 403. */
export function authorizeRequests({ authorize, respondError, metrics }: Pick<FilterDependencies, 'authorize' | 'respondError' | 'metrics'>): Filter {
  return (exchange, next) => {
    const startedMs = exchange.clock.monotonicMs();
    const attributes = describeAttributes(exchange.user, exchange.info, exchange.query);
    return mapMaybe(authorize(attributes), (decision) => {
      const nowMs = exchange.clock.monotonicMs();
      metrics.recordAuthorization(results[decision.type], nowMs - startedMs);
      exchange.audit?.recordDecision(decision.type === 'allow' ? 'allow' : 'forbid', { reason: decision.reason, nowMs });
      if (decision.type === 'allow') return next(exchange);
      const refusal = respondError(exchange, refuse(attributes, decision.reason));
      return { ...refusal, headers: { ...refusal.headers, 'x-content-type-options': 'nosniff' } };
    });
  };
}
