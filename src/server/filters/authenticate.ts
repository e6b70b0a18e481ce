// Who is calling. Wrong credentials are the reference's 401, whatever was asked for.
import { unauthorized } from '../../apimachinery/index.ts';
import { mapMaybe } from '../../base/index.ts';
import type { Filter, FilterDependencies } from './filters.ts';

/** Sets `user`. */
export function authenticateRequests({ authenticate }: Pick<FilterDependencies, 'authenticate'>): Filter {
  return (exchange, next) => {
    const { clientCertificate, connection, headers, path, remoteAddress } = exchange;
    const credentials = {
      authorization: headers['authorization'], clientCertificate, connection, headers: () => exchange.headerValues(), path, remoteAddress,
    };
    return mapMaybe(authenticate(credentials), (found) => {
      if (found.type === 'refused') throw unauthorized();
      exchange.user = found.user;
      return next(exchange);
    });
  };
}
