// Finds the caller of a request. Wrong credentials get the reference's 401, whatever was asked for. HTTP/2 is expensive to serve and easy to abuse:
// a connection that brings a request without valid credentials takes no further ones (upstream's UnauthenticatedHTTP2DOSMitigation).
import { unauthorized } from '../../apimachinery/index.ts';
import { ANONYMOUS_NAME } from '../../auth/index.ts';
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import { auditRefusal } from './audit.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Filter, FilterDependencies, Next, SessionCredentials } from './filter.ts';

/** The session of the console that a request shows is over. */
const refused = { type: 'refused', use: undefined } as const;

/** Sets `user`. */
export function authenticateRequests(
  { authenticate, audit, respondError, metrics, console }: Pick<FilterDependencies, 'authenticate' | 'audit' | 'respondError' | 'metrics' | 'console'>,
): Filter {
  return (exchange, next) => {
    const session = console?.findCredentials(exchange);
    return session === undefined ? authenticateOne(exchange, next, undefined) : mapMaybe(session, (found) => authenticateOne(exchange, next, found));
  };

  function authenticateOne(exchange: ServerExchange, next: Next, session: SessionCredentials | 'unknown' | undefined): MaybePromise<Response> {
    const startedMs = exchange.clock.monotonicMs();
    const { clientCertificate, connection, headers, path, remoteAddress } = exchange;
    const shown = session === undefined || session === 'unknown' ? { authorization: headers['authorization'], clientCertificate } : session;
    // Named one by one: to spread an object and add to it costs 2 µs in Node 20, a twentieth of a get.
    const credentials = {
      authorization: shown.authorization, clientCertificate: shown.clientCertificate, connection, headers: () => exchange.headerValues(), path, remoteAddress,
    };
    return mapMaybe(session === 'unknown' ? refused : authenticate(credentials), (found) => {
      if (shown.clientCertificate?.authorized === true && found.type !== 'refused') metrics.recordCertificate(shown.clientCertificate, exchange.clock);
      const [result, username] = found.type === 'refused' ? ['error', ''] as const : ['success', found.user.name] as const;
      metrics.recordAuthentication({ result, username, durationMs: exchange.clock.monotonicMs() - startedMs });
      if (found.type === 'refused' || found.user.name === ANONYMOUS_NAME) exchange.closeSession();
      exchange.tokenUse = found.use;
      if (found.use?.warning !== undefined) exchange.warnings.push(found.use.warning);
      if (found.type === 'refused') {
        if (audit === undefined) throw unauthorized();
        return auditRefusal(exchange, { audit, respondError });
      }
      exchange.user = found.user;
      return next(exchange);
    });
  }
}
