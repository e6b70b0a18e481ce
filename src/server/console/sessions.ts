// Sessions of the console. A session is the credentials of a request, kept by the server and shown again with each request of the session: the
// authenticator sees them every time, so a token that has expired and a certificate that is revoked end the session too.
// Its secret has two halves: a cookie that no script can read, and a key that the page keeps for its own origin and sends in a header. Another site
// lacks the key and may not send the header; another port of the same host gets the cookie, and lacks the key too.
import { createHash, timingSafeEqual } from 'node:crypto';
import { BoundedCache, type Clock, type Random } from '../../base/index.ts';
import { type CookieShape, formatCookie, hostOf, readCookie } from './cookies.ts';

/** The header that carries the key. */
export const SESSION_HEADER = 'x-pintle-console';

/** Longest that a session lasts. */
const SESSION_MS = 12 * 3_600_000;
/** How long the code of a login link is good. */
const CODE_MS = 60_000;
const SESSION_LIMIT = 1000;
const CODE_LIMIT = 100;
/** Sessions, and codes, of one user. */
const MOST_OF_USER = 16;
const SECRET_BYTES = 32;
const ID_BYTES = 9;
/** As a header is read; longer ones are no keys. */
const LONGEST_KEY = 200;

/** What begins a session: credentials, and the name of their user. */
export interface Login<T> {
  readonly user: string;
  readonly credentials: T;
}

/** What the page gets of a new session. */
export interface NewSession {
  readonly key: string;
  /** Value of Set-Cookie. */
  readonly cookie: string;
}

/** The part of a request that shows a session. */
interface Shown {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A code, by its hash: a look-up reveals nothing by its time. */
interface Code<T> extends Login<T> {
  readonly id: string;
  readonly endsMs: number;
}

interface Session<T> extends Code<T> {
  readonly cookieHash: Buffer;
  readonly keyHash: Buffer;
}

interface SessionOptions {
  readonly clock: Clock;
  readonly random: Pick<Random, 'bytes'>;
  /** Whether browsers reach the server by TLS. */
  readonly isSecure: boolean;
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
const nameCode = (code: string): string => hash(code).toString('base64');

/** Keeps one more of a user, and lets go of those that the user used least recently. */
function keep<One extends Code<unknown>>(kept: BoundedCache<string, One>, added: One): void {
  const own = [...kept.values()].filter(({ user }) => user === added.user);
  for (const { id } of own.slice(0, Math.max(0, own.length - MOST_OF_USER + 1))) kept.delete(id);
  kept.set(added.id, added);
}

/** The sessions and login codes of one server, all in memory: they end with it. */
export class Sessions<T> {
  readonly #options: SessionOptions;
  readonly #sessions = new BoundedCache<string, Session<T>>({ limit: SESSION_LIMIT });
  readonly #codes = new BoundedCache<string, Code<T>>({ limit: CODE_LIMIT });

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** A code that begins one session with these credentials, within a minute. */
  issueCode(login: Login<T>): { readonly code: string; readonly expiresInSeconds: number } {
    const code = this.#makeSecret(SECRET_BYTES);
    keep(this.#codes, { ...login, id: nameCode(code), endsMs: this.#options.clock.monotonicMs() + CODE_MS });
    return { code, expiresInSeconds: CODE_MS / 1000 };
  }

  /** The login that a code stands for, once; undefined for one that is used, too old or unknown. */
  useCode(code: string): Login<T> | undefined {
    const name = nameCode(code);
    const found = this.#codes.peek(name);
    this.#codes.delete(name);
    return found !== undefined && found.endsMs > this.#options.clock.monotonicMs() ? found : undefined;
  }

  /** Begins a session. */
  begin({ user, credentials }: Login<T>): NewSession {
    const [id, secret, key] = [this.#makeSecret(ID_BYTES), this.#makeSecret(SECRET_BYTES), this.#makeSecret(SECRET_BYTES)];
    const endsMs = this.#options.clock.monotonicMs() + SESSION_MS;
    keep(this.#sessions, { id, user, credentials, endsMs, cookieHash: hash(secret), keyHash: hash(key) });
    return { key: `${id}.${key}`, cookie: this.#formatCookie(id, secret, SESSION_MS / 1000) };
  }

  /** The login of the session that a request shows; undefined where it shows none that is good. */
  find(request: Shown): Login<T> | undefined {
    const shown = readShown(request);
    if (shown === undefined) return undefined;
    const session = this.#sessions.get(shown.id);
    const secret = readCookie(request.headers['cookie'] ?? '', this.#shapeOf(shown.id));
    if (session === undefined || secret === undefined) return undefined;
    const isSame = timingSafeEqual(session.cookieHash, hash(secret)) && timingSafeEqual(session.keyHash, hash(shown.key));
    if (!isSame) return undefined;
    if (session.endsMs > this.#options.clock.monotonicMs()) return session;
    this.#sessions.delete(session.id);
    return undefined;
  }

  /** Ends the session that a request shows; returns the cookie that removes its own. */
  end(request: Shown): string | undefined {
    if (this.find(request) === undefined) return undefined;
    const { id } = readShown(request) as { id: string };
    this.#sessions.delete(id);
    return this.#formatCookie(id, '', 0);
  }

  /** Ends the sessions of the logins that are chosen, and their codes. */
  endAll(chooses: (login: Login<T>) => boolean): void {
    for (const kept of [this.#sessions, this.#codes]) for (const { id } of [...kept.values()].filter(chooses)) kept.delete(id);
  }

  #makeSecret(length: number): string {
    return Buffer.from(this.#options.random.bytes(length)).toString('base64url');
  }

  /** One cookie per session, so that servers on several ports of a host do not overwrite each other's. */
  #shapeOf(id: string): CookieShape {
    return { name: `pintle-${id}`, isSecure: this.#options.isSecure };
  }

  #formatCookie(id: string, value: string, maxAgeSeconds: number): string {
    return formatCookie({ ...this.#shapeOf(id), value, maxAgeSeconds });
  }
}

/** A WebSocket has no preflight and no header of its own: browsers name the origin of its page, and one without is refused. */
const isFromPage = ({ headers }: Shown): boolean => headers['upgrade'] === undefined || headers['origin'] !== undefined;

/** Whether the request is one of a page of this origin, as far as the browser says; programs say nothing. */
export function isSameOrigin({ headers }: Shown): boolean {
  const { origin } = headers;
  if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === hostOf({ headers }));
}

function readShown(request: Shown): { readonly id: string; readonly key: string } | undefined {
  const text = request.headers[SESSION_HEADER] ?? '';
  const dot = text.indexOf('.');
  if (dot < 0 || text.length > LONGEST_KEY || !isSameOrigin(request) || !isFromPage(request)) return undefined;
  return { id: text.slice(0, dot), key: text.slice(dot + 1) };
}
