// Requests on their way to another server: path and query are encoded again, headers of the connection and of identity are removed, and
// those that say where the request came from are added. Mirrors Go's reverse proxy and net/url, and the reference's front-proxy headers.
import type { User } from '../../auth/index.ts';

/** Headers by lower-case name, each with its values. */
export type HeaderValues = ReadonlyMap<string, readonly string[]>;

/** Headers that belong to one connection. */
const hopByHop = [
  'connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade',
];

const encodeByte = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
const percentEncode = (text: string): string => Array.from(new TextEncoder().encode(text), encodeByte).join('');

/** A decoded path as Go writes it. */
export const encodePath = (path: string): string => path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]+/gu, percentEncode);

const encodeQueryPart = (text: string): string => text.replace(/[^A-Za-z0-9\-_.~ ]+/gu, percentEncode).replaceAll(' ', '+');

/** A query as Go writes it: sorted by name, each pair with an equals sign; '' when it is empty. */
export function encodeQuery(query: Iterable<readonly [string, string]>): string {
  const pairs = [...query].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return pairs.map(([name, value]) => `${encodeQueryPart(name)}=${encodeQueryPart(value)}`).join('&');
}

const isPseudo = (name: string): boolean => name.startsWith(':');

/** The headers without those of the connection and those that `isDropped` names; trailers stay asked for. */
export function passHeaders(headers: HeaderValues, isDropped: (name: string) => boolean): Map<string, readonly string[]> {
  const named = (headers.get('connection') ?? []).flatMap((value) => value.split(',')).map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopByHop, ...named]);
  const kept = new Map([...headers].filter(([name]) => !isPseudo(name) && !dropped.has(name) && !isDropped(name)));
  const te = headers.get('te');
  if (te?.some((value) => value.split(',').some((token) => token.trim().toLowerCase() === 'trailers'))) kept.set('te', ['trailers']);
  return kept;
}

const isIdentity = (name: string): boolean =>
  name === 'authorization' || name === 'x-pintle-console' || name === 'x-remote-user'
  || name === 'x-remote-uid' || name === 'x-remote-group' || name.startsWith('x-remote-extra-')
  || name.startsWith('impersonate-') || name === 'host' || name === 'expect';

/** A key of a user's extra as the name of a header: what no header may hold is percent-encoded. */
const encodeExtraKey = (key: string): string => key.toLowerCase().replace(/[^a-z0-9!#$&'*+\-.^_`|~]+/gu, percentEncode);

/** Header values are sent byte by byte, and are UTF-8. */
const toBytes = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : String.fromCharCode(...new TextEncoder().encode(text)));

/** The identity of a user as the headers of a front proxy. */
export function describeUser({ name, uid = '', groups, extra = {} }: User): Map<string, readonly string[]> {
  const headers = new Map<string, readonly string[]>([['x-remote-user', [toBytes(name)]]]);
  if (uid !== '') headers.set('x-remote-uid', [toBytes(uid)]);
  if (groups.length > 0) headers.set('x-remote-group', groups.map(toBytes));
  for (const [key, values] of Object.entries(extra)) headers.set(`x-remote-extra-${encodeExtraKey(key)}`, values.map(toBytes));
  return headers;
}

/** Whose request is sent on. */
interface Client {
  readonly headers: HeaderValues;
  readonly remoteAddress: string;
}

/** A request that is sent on. */
interface Forwarded extends Client {
  readonly path: string;
  readonly isSecure: boolean;
  /** host:port of the server that it is sent to. */
  readonly host: string;
}

/** Browsers cannot set headers of a WebSocket: they show their token, or the key of their session with the console, as a protocol. */
export const credentialProtocols = { token: 'base64url.bearer.authorization.k8s.io.', session: 'session.console.pintle.' } as const;

/** Whether a protocol of WebSocket is a credential of the client. */
export const isCredentialProtocol = (protocol: string): boolean => Object.values(credentialProtocols).some((prefix) => protocol.startsWith(prefix));

const isSessionCookie = (cookie: string): boolean => /^\s*(__Host-)?pintle-/.test(cookie);

/** The values of a header without the parts that are credentials; a header of nothing else is left out. */
function dropParts(headers: Map<string, readonly string[]>, name: string, separator: string, isDropped: (part: string) => boolean): void {
  const parts = headers.get(name)?.flatMap((value) => value.split(separator)).map((part) => part.trim());
  if (parts?.some(isDropped) !== true) return;
  const kept = parts.filter((part) => !isDropped(part));
  if (kept.length === 0) headers.delete(name);
  else headers.set(name, [kept.join(`${separator} `)]);
}

/** The headers of a client for another server, without those of an identity, and with the client's address. */
export function passClientHeaders({ headers, remoteAddress }: Client): Map<string, readonly string[]> {
  const passed = passHeaders(headers, isIdentity);
  dropParts(passed, 'sec-websocket-protocol', ',', isCredentialProtocol);
  dropParts(passed, 'cookie', ';', isSessionCookie);
  const client = remoteAddress.replace(/^::ffff:/, '');
  const before = headers.get('x-forwarded-for') ?? [];
  if (client !== '') passed.set('x-forwarded-for', [[...before, client].join(', ')]);
  return passed;
}

/** Headers of a request to an aggregated server. */
export function forwardHeaders({ path, isSecure, host, ...client }: Forwarded): Map<string, readonly string[]> {
  const passed = passClientHeaders(client);
  passed.set('x-forwarded-host', [host]);
  passed.set('x-forwarded-proto', [isSecure ? 'https' : 'http']);
  passed.set('x-forwarded-uri', [encodePath(path)]);
  return passed;
}
