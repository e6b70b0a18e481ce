// What the console asks of its server beyond the Kubernetes API: its files, and the begin and end of its sessions. Loaded with the first request.
//
//   GET    /console/…         the page; it holds no data, so no credentials are needed
//   POST   /console/codes     a login code for the caller, by its own credentials (pintle console asks for it)
//   GET    /console/login     the provider at which users can log in
//   POST   /console/login     begins a login there
//   POST   /console/session   begins a session: {"code": …} of a link, with "state" of a provider, or the caller's own credentials
//   DELETE /console/session   ends it
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Login, type Sessions, isSameOrigin } from './sessions.ts';
import { createStaticFiles, guardHeaders } from './static-files.ts';

/** Logins that a provider decides. */
interface LoginProvider<T> {
  /** Its host; '' where it is no longer trusted. */
  readonly host: () => string;
  /** Begins one; the browser opens the address. Throws where the provider does not answer. */
  readonly begin: (exchange: ServerExchange) => Promise<{ readonly url: string; readonly state: string; readonly cookie: string }>;
  /** The login of a browser that came back; throws with the reason for one that is none. */
  readonly finish: (answer: { readonly code: string; readonly state: string }, exchange: ServerExchange) => Promise<Login<T>>;
}

/** What the handler works with. */
export interface ConsoleParts<T> {
  readonly sessions: Sessions<T>;
  /** The caller by its own credentials; undefined for those that are wrong, and for callers without any. */
  readonly identify: (exchange: ServerExchange) => Promise<Login<T> | undefined>;
  /** Whether what a session holds is still good. */
  readonly isGood: (login: Login<T>, exchange: ServerExchange) => Promise<boolean>;
  /** Logins at a provider; absent where there are none. */
  readonly provider?: LoginProvider<T> | undefined;
  /** Hears of sessions that begin. */
  readonly noteLogin: (user: string) => void;
}

const PREFIX = '/console/';
const BODY_LIMIT_BYTES = 4096;
const encoder = new TextEncoder();

function answerJson(status: number, value: object, headers: Readonly<Record<string, string>> = {}): Response {
  const type = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { status, headers: { ...guardHeaders, ...type, ...headers }, body: encoder.encode(`${JSON.stringify(value)}\n`) };
}

const refuse = (status: number, message: string): Response => answerJson(status, { message });

type Call = <T>(exchange: ServerExchange, parts: ConsoleParts<T>) => Promise<Response> | Response;

const calls: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  codes: { POST: issueCode }, login: { GET: showProvider, POST: beginLogin }, session: { POST: beginSession, DELETE: endSession },
};

/** Makes the handler of all paths below /console. */
export function createConsoleHandler<T>(parts: ConsoleParts<T>): (exchange: ServerExchange) => Promise<Response> {
  const files = createStaticFiles();
  return async (exchange) => {
    const { method, path } = exchange;
    if (path === PREFIX.slice(0, -1)) return { status: 308, headers: { ...guardHeaders, location: PREFIX }, body: new Uint8Array() };
    const name = path.slice(PREFIX.length);
    if (Object.hasOwn(calls, name)) {
      if (!isSameOrigin(exchange)) return refuse(403, 'pages of other sites may not ask for this');
      const call = calls[name]?.[method];
      return call === undefined ? refuse(405, `${method} is not served here`) : call(exchange, parts);
    }
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, `${method} is not served here`);
    return await files(exchange, name === '' ? 'index.html' : name) ?? refuse(404, 'the console has no such file');
  };
}

async function issueCode<T>(exchange: ServerExchange, { identify, sessions }: ConsoleParts<T>): Promise<Response> {
  const login = await identify(exchange);
  if (login === undefined) return refuse(401, 'the credentials are missing or wrong');
  return answerJson(201, { ...sessions.issueCode(login), user: login.user });
}

function showProvider<T>(_exchange: ServerExchange, { provider }: ConsoleParts<T>): Response {
  return answerJson(200, { provider: provider?.host() ?? '' });
}

async function beginLogin<T>(exchange: ServerExchange, { provider }: ConsoleParts<T>): Promise<Response> {
  if (provider === undefined) return refuse(404, 'the console has no provider for logins');
  try {
    const { url, state, cookie } = await provider.begin(exchange);
    return answerJson(201, { url, state }, { 'set-cookie': cookie });
  } catch (error) {
    return refuse(502, `the provider of logins does not answer: ${(error as Error).message}`);
  }
}

/** What a browser brings to begin a session. */
interface Brought {
  readonly code: string;
  readonly state: string;
}

async function findLogin<T>({ code, state }: Brought, exchange: ServerExchange, parts: ConsoleParts<T>): Promise<Login<T> | string> {
  if (code === '') return await parts.identify(exchange) ?? 'the token is missing or wrong';
  if (state === '' || parts.provider === undefined) return parts.sessions.useCode(code) ?? 'the link was used before, or is too old';
  return parts.provider.finish({ code, state }, exchange).catch((error: Error) => `the login failed: ${error.message}`);
}

async function beginSession<T>(exchange: ServerExchange, parts: ConsoleParts<T>): Promise<Response> {
  const brought = readBrought(await exchange.readBody(BODY_LIMIT_BYTES));
  const login = await findLogin(brought, exchange, parts);
  if (typeof login === 'string') return refuse(401, login);
  if (!await parts.isGood(login, exchange)) return refuse(401, brought.code === '' ? 'the token is missing or wrong' : 'the login is no longer good');
  const { key, cookie } = parts.sessions.begin(login);
  parts.noteLogin(login.user);
  return answerJson(201, { key, user: login.user }, { 'set-cookie': cookie });
}

function readBrought(body: Uint8Array): Brought {
  try {
    const { code, state } = JSON.parse(new TextDecoder().decode(body)) as { readonly code?: unknown; readonly state?: unknown };
    return { code: typeof code === 'string' ? code : '', state: typeof state === 'string' ? state : '' };
  } catch {
    return { code: '', state: '' };
  }
}

function endSession<T>(exchange: ServerExchange, { sessions }: ConsoleParts<T>): Response {
  const cookie = sessions.end(exchange);
  return cookie === undefined ? refuse(401, 'there is no such session') : answerJson(200, {}, { 'set-cookie': cookie });
}
