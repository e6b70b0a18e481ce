// What the life of a server means for requests. Before all routes are known, what would be 404 is 503, since clients take a 404 for a fact. Now and
// then an HTTP/2 connection takes no further requests (--goaway-chance), so that clients which keep theirs for ever spread over the servers behind a
// balancer. And a server that stops can send clients away (--shutdown-send-retry-after) until the last request is answered.
import { failure } from '../../apimachinery/index.ts';
import type { Response } from '../../endpoints/index.ts';
import { answerText } from '../observability/health.ts';
import type { Filter, FilterDependencies } from './filter.ts';

const CHANCE_STEPS = 1_000_000;
const RETRY_SECONDS = 5;
const INCOMPLETE = 'the request has been made before all known HTTP paths have been installed, please try again';
/** What monitoring asks until the end. */
const exemptPaths = ['/readyz', '/livez', '/healthz', '/metrics'];

const isMissingPath = ({ status, headers }: Response): boolean => status === 404 && String(headers['content-type']).startsWith('text/plain');

/** The filters of the lifecycle: of a server that runs, only the second one does anything, and only where its flag says so. */
export function followLifecycle(deps: Pick<FilterDependencies, 'random' | 'goawayChance' | 'lifecycle' | 'respondError'>): Filter[] {
  const { random, goawayChance = 0, lifecycle, respondError } = deps;
  const limit = goawayChance * CHANCE_STEPS;
  const refuse404: Filter = async (exchange, next) => {
    const response = await next(exchange);
    if (!isMissingPath(response)) return response;
    return respondError(exchange, failure(503, 'ServiceUnavailable', INCOMPLETE, { retryAfterSeconds: RETRY_SECONDS }));
  };
  const await404: Filter = (exchange, next) => (lifecycle?.hasAllRoutes === false ? refuse404(exchange, next) : next(exchange));
  const sendAway: Filter = (exchange, next) => {
    if (lifecycle?.sendsAway !== true || exemptPaths.some((path) => exchange.path.startsWith(path))) return next(exchange);
    exchange.closeConnection();
    const answer = answerText(429, 'The apiserver is shutting down, please try again later.\n');
    return { ...answer, headers: { ...answer.headers, 'retry-after': String(RETRY_SECONDS) } };
  };
  const spread: Filter = (exchange, next) => {
    if (random !== undefined && random.below(CHANCE_STEPS) < limit) exchange.closeSession();
    return next(exchange);
  };
  return [...(lifecycle === undefined ? [] : [sendAway, await404]), ...(random === undefined || limit <= 0 ? [] : [spread])];
}
