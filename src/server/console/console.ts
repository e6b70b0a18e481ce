// The console of a server: a filter that answers below /console, and the credentials behind its sessions. Everything else is loaded when a browser
// asks for it; until then the console costs a comparison of each path.
import { type Authenticate, ANONYMOUS_NAME } from '../../auth/index.ts';
import { type Clock, type Random, mapMaybe } from '../../base/index.ts';
import type { Console, Next, SessionCredentials } from '../filters/filter.ts';
import type { ServerExchange } from '../http/exchange.ts';
import type { Logger } from '../observability/logger.ts';
import type { Authorities } from '../tls/authorities.ts';
import type { OidcClient } from './oidc-login.ts';
import type { Login, Sessions } from './sessions.ts';

interface ConsoleOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly isSecure: boolean;
  readonly authenticate: Authenticate;
  readonly authorities: Pick<Authorities, 'onChange'>;
  /** Where users log in by OpenID Connect; absent where they do not. */
  readonly oidc?: OidcClient | undefined;
}

/** The credentials of a session, which may have to be renewed before they are shown. */
type KeptCredentials = SessionCredentials & { refresh?(): Promise<void> | undefined };

const HEADER = 'x-pintle-console';

/** Makes the console. */
export function createConsole(options: ConsoleOptions): Console {
  let sessions: Sessions<KeptCredentials> | undefined;
  let loading: Promise<Next> | undefined;
  const load = async () => {
    const [{ Sessions: Made }, { createConsoleHandler }] = await Promise.all([import('./sessions.ts'), import('./console-handler.ts')]);
    sessions = new Made(options);
    return createConsoleHandler({
      sessions, provider: await createProvider(options),
      identify: (exchange) => identify(exchange, options), isGood: (login, exchange) => isGood(login, exchange, options),
      noteLogin: (user) => options.logger.info(1, 'a session of the console begins', { user }),
    });
  };
  // A session keeps what a certificate was found to be when it began; under other authorities it may be something else.
  options.authorities.onChange(() => sessions?.endAll(({ credentials }) => credentials.clientCertificate !== undefined));
  return {
    filter(exchange, next) {
      const { path } = exchange;
      if (path.startsWith('/console') && (path.length === 8 || path[8] === '/')) return (loading ??= load()).then((handle) => handle(exchange));
      return path === '/' && isNavigation(exchange) ? { status: 302, headers: { location: '/console/' }, body: new Uint8Array() } : next(exchange);
    },
    findCredentials(exchange) {
      if (exchange.headers[HEADER] === undefined) return undefined;
      const found = sessions?.find(exchange)?.credentials;
      return found === undefined ? 'unknown' : mapMaybe(found.refresh?.(), () => found);
    },
  };
}

/** A browser that opens the address of the server; programs get the list of paths. */
const isNavigation = ({ method, headers }: ServerExchange): boolean =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && (headers['accept'] ?? '').includes('text/html');

async function identify(exchange: ServerExchange, { authenticate }: ConsoleOptions): Promise<Login<SessionCredentials> | undefined> {
  const { headers, clientCertificate, path, remoteAddress } = exchange;
  // A front proxy speaks for many users: its certificate begins no session.
  if (clientCertificate?.frontProxy === true) return undefined;
  const credentials = { authorization: headers['authorization'], clientCertificate };
  const found = await authenticate({ ...credentials, path, remoteAddress });
  return found.type === 'refused' || found.user.name === ANONYMOUS_NAME ? undefined : { user: found.user.name, credentials };
}

async function isGood({ credentials }: Login<KeptCredentials>, exchange: ServerExchange, { authenticate }: ConsoleOptions): Promise<boolean> {
  return (await authenticate(showOf(credentials, exchange))).type === 'user';
}

/** Credentials may be an object whose members are read at the moment: they are named one by one. */
const showOf = ({ authorization, clientCertificate }: SessionCredentials, { path, remoteAddress }: ServerExchange) =>
  ({ authorization, clientCertificate, path, remoteAddress });

/** Logins at the provider, where there is one: what it gives begins a session once the authenticator accepts it. */
async function createProvider({ oidc, ...options }: ConsoleOptions) {
  if (oidc === undefined) return undefined;
  const { OidcLogins } = await import('./oidc-login.ts');
  const logins = new OidcLogins({ ...options, client: oidc });
  return {
    host: () => logins.provider, begin: (exchange: ServerExchange) => logins.begin(exchange),
    async finish(answer: { readonly code: string; readonly state: string }, exchange: ServerExchange): Promise<Login<KeptCredentials>> {
      const credentials = await logins.finish(answer, exchange);
      const found = await options.authenticate(showOf(credentials, exchange));
      if (found.type === 'refused') throw new Error('the server does not accept the token of the provider');
      return { user: found.user.name, credentials };
    },
  };
}
