// Where a PostgreSQL is and how to reach it, out of a URL as libpq reads it, less what this program would have to ignore.
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { isPostgresUrl, redactPostgresUrl } from './url.ts';

/** PEM texts: authorities that are trusted, and the certificate and key that are shown. */
export interface PostgresTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The use of TLS: none, if the server has it, always, always with a certificate that is checked, and with its name checked too. */
type SslMode = (typeof sslModes)[number];

/** One database, on the first of `hosts` that is no standby. */
export interface Endpoint {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly schema: string;
  readonly applicationName: string;
  readonly sslMode: SslMode;
  readonly tls: ConnectionOptions;
}

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
const DEFAULT_PORT = 5432;
/** A name that needs no quotes, in SQL and for people. */
const schemaName = /^[a-z_][a-z0-9_]{0,49}$/;
const knownParameters: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'schema', 'application_name', 'host']);

/** Reads `postgres://user:password@host:5432,other:5432/database?sslmode=verify-full`; RangeError for what cannot be honoured. */
export function parseEndpoint(text: string, given: PostgresTls = {}): Endpoint {
  try {
    return readEndpoint(text, given);
  } catch (error) {
    throw hidePassword(text, error);
  }
}

/** A password that is not encoded is read as hosts and parameters, which errors name: instead of such an error there is one that says so. */
function hidePassword(text: string, error: unknown): unknown {
  const [body = '', ...query] = text.split('?');
  const sign = error instanceof URIError ? '%' : !body.includes('@') && query.join().includes('@') ? '?' : undefined;
  return sign === undefined ? error : new RangeError(`${redactPostgresUrl(text)}: a password with "${sign}" has it encoded, as ${encodeURIComponent(sign)}`);
}

function readEndpoint(text: string, given: PostgresTls): Endpoint {
  const url = splitUrl(text);
  const unknown = [...url.parameters.keys()].find((name) => !knownParameters.has(name));
  if (unknown !== undefined) throw new RangeError(`${redactPostgresUrl(text)}: the parameter ${unknown} is not known`);
  const schema = url.parameters.get('schema') ?? 'pintle';
  if (!schemaName.test(schema)) throw new RangeError(`${redactPostgresUrl(text)}: ${schema} is not a name for a schema`);
  const hosts = (url.parameters.get('host') ?? url.hosts).split(',');
  return {
    hosts: hosts.map((host) => parseHost(host, text)), schema,
    user: url.user, password: url.password ?? process.env['PGPASSWORD'], database: url.database,
    applicationName: url.parameters.get('application_name') ?? 'pintle', ...readTls(url.parameters, given, text),
  };
}

/** Several hosts are not a URL of the standard: it is taken apart by hand. */
function splitUrl(text: string) {
  if (!isPostgresUrl(text)) throw new RangeError(`${redactPostgresUrl(text)} does not begin with postgres://`);
  const rest = text.slice(text.indexOf('://') + 3);
  const [body = '', query = ''] = splitOnce(rest, rest.indexOf('?'));
  const [authority = '', database = ''] = splitOnce(body, body.indexOf('/', body.lastIndexOf('@') + 1));
  const at = authority.lastIndexOf('@');
  const [user = '', password] = splitOnce(authority.slice(0, Math.max(0, at)), authority.indexOf(':') < at ? authority.indexOf(':') : -1);
  const decode = (part: string | undefined): string | undefined => (part === undefined || part === '' ? undefined : decodeURIComponent(part));
  return {
    hosts: authority.slice(at + 1), user: decode(user), password: decode(password), database: decode(database), parameters: new URLSearchParams(query),
  };
}

function splitOnce(text: string, at: number): string[] {
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function parseHost(text: string, whole: string): { readonly host: string; readonly port: number } {
  if (text.startsWith('/')) return { host: text, port: DEFAULT_PORT };
  try {
    const { hostname, port } = new URL(`postgres://${text === '' ? 'localhost' : text}`);
    return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? DEFAULT_PORT : Number(port) };
  } catch {
    throw new RangeError(`${redactPostgresUrl(whole)}: ${text} is not a host`);
  }
}

function readTls(parameters: URLSearchParams, given: PostgresTls, text: string): Pick<Endpoint, 'sslMode' | 'tls'> {
  const read = (name: string): string | undefined => {
    const file = parameters.get(name);
    return file === null ? undefined : readFileSync(file, 'utf8');
  };
  const ca = given.ca ?? read('sslrootcert');
  const cert = given.cert ?? read('sslcert');
  const key = given.key ?? read('sslkey');
  const sslMode = parameters.get('sslmode') ?? (ca === undefined ? 'prefer' : 'verify-full');
  if (!isSslMode(sslMode)) throw new RangeError(`${redactPostgresUrl(text)}: sslmode is one of ${sslModes.join(', ')}`);
  if (sslMode === 'disable' && (ca ?? cert ?? key) !== undefined) throw new RangeError(`${redactPostgresUrl(text)}: sslmode=disable uses no certificates`);
  // As in libpq, `require` with an authority checks the certificate.
  const isChecked = sslMode.startsWith('verify') || (sslMode === 'require' && ca !== undefined);
  const tls: ConnectionOptions = {
    ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }),
    rejectUnauthorized: isChecked, ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
  return { sslMode, tls };
}

function isSslMode(text: string): text is SslMode {
  return (sslModes as readonly string[]).includes(text);
}
