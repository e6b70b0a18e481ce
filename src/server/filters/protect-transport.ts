// What all answers say of their connection: browsers shall come back by HTTPS only (Strict-Transport-Security), and now and then an HTTP/2 connection
// takes no further requests (--goaway-chance), so that clients which keep theirs for ever spread over the servers behind a balancer.
import { mapMaybe } from '../../base/index.ts';
import type { Filter, FilterDependencies } from './filter.ts';

const CHANCE_STEPS = 1_000_000;

/** The filters that flags ask for; none by default. */
export function protectTransport(
  { random, goawayChance = 0, strictTransportSecurity = [] }: Pick<FilterDependencies, 'random' | 'goawayChance' | 'strictTransportSecurity'>,
): Filter[] {
  const value = strictTransportSecurity.join('; ');
  const limit = goawayChance * CHANCE_STEPS;
  return [
    ...(value === '' ? [] : [((exchange, next) => mapMaybe(next(exchange), (response) =>
      ({ ...response, headers: { ...response.headers, 'strict-transport-security': value } }))) satisfies Filter]),
    ...(random === undefined || limit <= 0 ? [] : [((exchange, next) => {
      if (random.below(CHANCE_STEPS) < limit) exchange.closeSession();
      return next(exchange);
    }) satisfies Filter]),
  ];
}
