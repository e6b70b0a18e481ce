// What the console asks of its server beyond the Kubernetes API: its files, and the begin and end of its sessions. Loaded with the first request.
//
//   GET    /console/…         the page; it holds no data, so no credentials are needed
//   POST   /console/codes     a login code for the caller, by its own credentials (pintle console asks for it)
//   POST   /console/session   begins a session: {"code": …}, or the caller's own credentials
//   DELETE /console/session   ends it
import type { Response } from '../../endpoints/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type Login, type Sessions, isSameOrigin } from './sessions.ts';
import { createStaticFiles, guardHeaders } from './static-files.ts';

/** What the handler works with. */
export interface ConsoleParts<T> {
  readonly sessions: Sessions<T>;
  /** The caller by its own credentials; undefined for those that are wrong, and for callers without any. */
  readonly identify: (exchange: ServerExchange) => Promise<Login<T> | undefined>;
  /** Whether what a session holds is still good. */
  readonly isGood: (login: Login<T>, exchange: ServerExchange) => Promise<boolean>;
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

/** Makes the handler of all paths below /console. */
export function createConsoleHandler<T>(parts: ConsoleParts<T>): (exchange: ServerExchange) => Promise<Response> {
  const files = createStaticFiles();
  return async (exchange) => {
    const { method, path } = exchange;
    if (path === PREFIX.slice(0, -1)) return { status: 308, headers: { ...guardHeaders, location: PREFIX }, body: new Uint8Array() };
    const name = path.slice(PREFIX.length);
    if (name === 'codes' || name === 'session') {
      if (!isSameOrigin(exchange)) return refuse(403, 'pages of other sites may not ask for this');
      if (method === 'POST') return name === 'codes' ? issueCode(exchange, parts) : beginSession(exchange, parts);
      return method === 'DELETE' && name === 'session' ? endSession(exchange, parts) : refuse(405, `${method} is not served here`);
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

async function beginSession<T>(exchange: ServerExchange, parts: ConsoleParts<T>): Promise<Response> {
  const code = readCode(await exchange.readBody(BODY_LIMIT_BYTES));
  const login = code === '' ? await parts.identify(exchange) : parts.sessions.useCode(code);
  const isGood = login !== undefined && await parts.isGood(login, exchange);
  if (login === undefined || !isGood) return refuse(401, code === '' ? 'the token is missing or wrong' : 'the link was used before, or is too old');
  const { key, cookie } = parts.sessions.begin(login);
  parts.noteLogin(login.user);
  return answerJson(201, { key, user: login.user }, { 'set-cookie': cookie });
}

function readCode(body: Uint8Array): string {
  try {
    const { code } = JSON.parse(new TextDecoder().decode(body)) as { readonly code?: unknown };
    return typeof code === 'string' ? code : '';
  } catch {
    return '';
  }
}

function endSession<T>(exchange: ServerExchange, { sessions }: ConsoleParts<T>): Response {
  const cookie = sessions.end(exchange);
  return cookie === undefined ? refuse(401, 'there is no such session') : answerJson(200, {}, { 'set-cookie': cookie });
}
