// The headers that every answer has for browsers: come back by HTTPS only (--strict-transport-security-directives), and which pages of other sites
// may read it (--cors-allowed-origins).
import { checkPattern, loadPatternEngine, matchesPattern } from '../../apimachinery/index.ts';
import type { Response } from '../../endpoints/index.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { Filter, FilterDependencies } from './filter.ts';

const CORS_FLAG = '--cors-allowed-origins';
/** Longer than a scheme, a host name and a port can be. */
const MAX_ORIGIN_LENGTH = 400;

/** The patterns of the flag, compiled; undefined where there are none. Throws StartError for what is no pattern of a whole host. */
export async function readAllowedOrigins(
  { corsAllowedOrigins: patterns }: Pick<ServerOptions, 'corsAllowedOrigins'>,
): Promise<FilterDependencies['allowsOrigin']> {
  if (patterns.length === 0) return undefined;
  await loadPatternEngine();
  for (const pattern of patterns) {
    if (pattern === '') throw new StartError(`empty value in ${CORS_FLAG}`);
    const problem = checkPattern(pattern) ?? findLoose(pattern);
    if (problem !== undefined) throw new StartError(`${CORS_FLAG} has an invalid regular expression: ${problem}`);
  }
  return (origin) => origin.length <= MAX_ORIGIN_LENGTH && patterns.some((pattern) => matchesPattern(pattern, origin));
}

/** A pattern of a part of a host name would let in sites whose names contain it. */
function findLoose(pattern: string): string | undefined {
  const [pinsStart, pinsEnd] = [pattern.includes('^') || pattern.includes('//'), pattern.includes('$') || pattern.includes(':')];
  return pinsStart && pinsEnd ? undefined : 'regular expression does not pin to start/end of host in the origin header';
}

const corsHeaders = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers': 'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date', 'access-control-allow-credentials': 'true',
};

const withHeaders = (response: Response, headers: Readonly<Record<string, string>>): Response =>
  ({ ...response, headers: { ...headers, ...response.headers } });

/** The filters that flags ask for; none by default. A browser's question before a request (OPTIONS) is answered here, without credentials. */
export function informBrowsers({ strictTransportSecurity = [], allowsOrigin }: Pick<FilterDependencies, 'strictTransportSecurity' | 'allowsOrigin'>): Filter[] {
  const value = strictTransportSecurity.join('; ');
  const secure: Filter = async (exchange, next) => withHeaders(await next(exchange), { 'strict-transport-security': value });
  const share: Filter = async (exchange, next) => {
    // Of several headers the first counts, as in Go; Node joins them.
    const origin = exchange.headers['origin'] === undefined ? undefined : exchange.headerValues().get('origin')?.[0];
    if (!origin || allowsOrigin?.(origin) !== true) return next(exchange);
    const headers = { 'access-control-allow-origin': origin, ...corsHeaders };
    if (exchange.method === 'OPTIONS') return { status: 204, headers, body: new Uint8Array() };
    return withHeaders(await next(exchange), headers);
  };
  return [...(value === '' ? [] : [secure]), ...(allowsOrigin === undefined ? [] : [share])];
}
