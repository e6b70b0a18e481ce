// JSON over HTTPS from other servers: discovery documents, key sets, answers of webhooks. Redirects are not followed, and what is slow, large or
// not JSON fails. There is no TLS where the address says http.
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { parseAnswer, readAnswer } from './read-answer.ts';

/** How another server is asked. */
export interface FetchOptions {
  /** PEM of the authorities; absent: those of the system. */
  readonly authorities?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. */
  readonly body?: unknown;
  /** The same as text that is JSON already. */
  readonly json?: string;
  readonly timeoutMs?: number;
}

const LIMIT_BYTES = 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 10_000;

/** Answers the parsed body of a 2xx answer. */
export async function fetchJson(url: string, options: FetchOptions = {}): Promise<unknown> {
  const answer = await fetchBytes(url, options);
  try {
    return parseAnswer(answer);
  } catch {
    throw new Error('the answer is not JSON');
  }
}

/** Sends JSON and asks for nothing but a 2xx answer. */
export async function postJson(url: string, options: FetchOptions & { readonly json: string }): Promise<void> {
  await fetchBytes(url, options);
}

function fetchBytes(url: string, options: FetchOptions): Promise<Buffer> {
  const { authorities, certificate, key, body, json, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const sent = json ?? (body === undefined ? undefined : JSON.stringify(body));
  const request = url.startsWith('http://') ? requestPlain : requestSecure;
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: sent === undefined ? 'GET' : 'POST', agent: false, signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: 'application/json', ...(sent !== undefined && { 'content-type': 'application/json' }), ...options.headers },
      ...(authorities !== undefined && { ca: authorities }), ...(certificate !== undefined && { cert: certificate }), ...(key !== undefined && { key }),
    }, (response) => {
      readAnswer(response, LIMIT_BYTES, 'the answer is too large').then((answer) => {
        const status = response.statusCode ?? 0;
        if (status < 200 || status > 299) return reject(new Error(`the answer is ${status}`));
        return resolve(answer);
      }, reject);
    });
    call.on('error', reject);
    call.end(sent);
  });
}
