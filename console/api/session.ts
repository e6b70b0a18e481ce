// The session with the server of this page. The page holds half of its secret, the key; the other half is a cookie that it cannot read.

const STORED = 'pintle-console-key';
const HEADER = 'x-pintle-console';

const onEnd = new Set<() => void>();

/** Headers that show the session; none before a login, when a client certificate may speak for the user. */
export function sessionHeaders(): Record<string, string> {
  const key = localStorage.getItem(STORED);
  return key === null ? {} : { [HEADER]: key };
}

/** The same for a WebSocket, whose only header of its own is a list of protocols. */
export function sessionProtocols(): string[] {
  const key = localStorage.getItem(STORED);
  return key === null ? [] : [`session.console.pintle.${key}`];
}

/** Calls back when the server no longer knows the session. */
export function onSessionEnd(callback: () => void): () => void {
  onEnd.add(callback);
  return () => onEnd.delete(callback);
}

/** The server refused the credentials: the page asks for others. */
export function noteRefused(): void {
  localStorage.removeItem(STORED);
  for (const callback of onEnd) callback();
}

async function begin(init: RequestInit): Promise<string | undefined> {
  const response = await fetch('session', { method: 'POST', ...init });
  const answer = await response.json() as { readonly key?: string; readonly message?: string };
  if (!response.ok || answer.key === undefined) return answer.message ?? `the server answers ${response.status}`;
  localStorage.setItem(STORED, answer.key);
  return undefined;
}

/** Logs in with a bearer token; returns why that failed. */
export function loginWithToken(token: string): Promise<string | undefined> {
  if (!/^[\x21-\x7e]+$/.test(token)) return Promise.resolve('this is no token: it holds blanks or letters that no token has');
  return begin({ headers: { authorization: `Bearer ${token}` } });
}

/** Logs in with the code of a link; returns why that failed. */
export const loginWithCode = (code: string): Promise<string | undefined> => begin({ body: JSON.stringify({ code }) });

/** Host of the provider at which users can log in; '' where there is none. */
export async function fetchProvider(): Promise<string> {
  const response = await fetch('login', { cache: 'no-store' });
  return response.ok ? (await response.json() as { readonly provider: string }).provider : '';
}

const STATE = 'pintle-console-login';
const PLACE = 'pintle-console-place';

/** Leaves for the provider; returns why that failed. */
export async function leaveForProvider(): Promise<string | undefined> {
  const response = await fetch('login', { method: 'POST' });
  const { url, state, message } = await response.json() as { readonly url?: string; readonly state?: string; readonly message?: string };
  if (url === undefined || state === undefined) return message ?? `the server answers ${response.status}`;
  sessionStorage.setItem(STATE, state);
  sessionStorage.setItem(PLACE, location.hash);
  location.assign(url);
  return undefined;
}

/** The place of the page from which the login began. */
export function recallPlace(): string {
  const place = sessionStorage.getItem(PLACE) ?? '';
  sessionStorage.removeItem(PLACE);
  return place;
}

/** Logs in with what the provider added to the address; returns why that failed. */
export function loginFromProvider(answer: URLSearchParams): Promise<string | undefined> {
  const [code, state, error] = ['code', 'state', 'error'].map((name) => answer.get(name) ?? '') as [string, string, string];
  const begun = sessionStorage.getItem(STATE);
  sessionStorage.removeItem(STATE);
  if (begun === null || begun !== state) return Promise.resolve('this login was not begun here');
  if (error !== '') return Promise.resolve(`the provider says: ${answer.get('error_description') ?? error}`);
  return begin({ body: JSON.stringify({ code, state }) });
}

/** Ends the session here and at the server. */
export async function logout(): Promise<void> {
  await fetch('session', { method: 'DELETE', headers: sessionHeaders() }).catch(() => undefined);
  noteRefused();
}
