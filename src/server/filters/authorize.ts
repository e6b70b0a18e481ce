// Authorization. It comes before any look at what exists, so that a refusal reveals nothing.
import { type Decision, refuse } from '../../auth/index.ts';
import { mapMaybe } from '../../base/index.ts';
import { describeAttributes } from '../authorization.ts';
import type { FilterAuditRecord } from '../http/exchange.ts';
import type { Filter, FilterDependencies } from './filter.ts';

const results = { allow: 'allowed', deny: 'denied', none: 'no-opinion' } as const;

/** Lets allowed requests pass; the others are the reference's 403. */
export function authorizeRequests({ authorize, respondError, metrics }: Pick<FilterDependencies, 'authorize' | 'respondError' | 'metrics'>): Filter {
  return (exchange, next) => {
    const startedMs = exchange.clock.monotonicMs();
    const attributes = describeAttributes(exchange.user, exchange.info, exchange.query);
    return mapMaybe(authorize(attributes), (decision) => {
      metrics.recordAuthorization(results[decision.type], exchange.clock.monotonicMs() - startedMs);
      if (exchange.audit !== undefined) recordDecision(exchange.audit, decision);
      if (decision.type === 'allow') return next(exchange);
      const refusal = respondError(exchange, refuse(attributes, decision.reason));
      return { ...refusal, headers: { ...refusal.headers, 'x-content-type-options': 'nosniff' } };
    });
  };
}

function recordDecision(audit: FilterAuditRecord, { type, reason }: Decision): void {
  audit.latency.mark('authorization');
  audit.annotate('authorization.k8s.io/decision', type === 'allow' ? 'allow' : 'forbid');
  audit.annotate('authorization.k8s.io/reason', reason);
}
