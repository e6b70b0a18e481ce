// The client of the console at its OpenID Connect provider, as the options describe it.
import type { Authentication } from '../authentication.ts';
import { readTextFile } from '../data-directory.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { OidcClient } from './oidc-login.ts';

/** The client; undefined where users do not log in at a provider. Throws StartError for one whose tokens this server would refuse. */
export function readConsoleClient(options: ServerOptions, { issuers }: Pick<Authentication, 'issuers'>): OidcClient | undefined {
  const { consoleOidcClientId: clientId, consoleOidcIssuerUrl: wanted, consoleOidcClientSecretFile: file, consoleOidcScopes: scopes } = options;
  if (clientId === '') return undefined;
  const trusted = issuers();
  const url = wanted === '' && trusted.length === 1 ? trusted[0]?.url : wanted;
  const found = trusted.filter((one) => one.url === url);
  if (found.length === 0) {
    throw new StartError(`--console-oidc-issuer-url: ${JSON.stringify(wanted)} is not one of the trusted issuers: ${trusted.map((one) => one.url).join(', ')}`);
  }
  const isAccepted = (audiences: readonly string[]): boolean => audiences.includes(clientId);
  if (!found.some(({ audiences }) => isAccepted(audiences))) {
    throw new StartError(`--console-oidc-client-id: ${JSON.stringify(clientId)} is not an audience that ${url} may issue tokens for`);
  }
  const clientSecret = file === '' ? '' : readTextFile('--console-oidc-client-secret-file', file).trim();
  // A followed configuration may trust others by the time of a login.
  return { clientId, clientSecret, scopes, issuer: () => issuers().find((one) => one.url === url && isAccepted(one.audiences)) };
}
