// An attack on a running server, and the clients that attacks are made of: single requests, raw bytes over TLS, HTTP/2 sessions. Loopback only.
import http2 from 'node:http2';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import type { TestPlugin } from '../../src/server/encryption/testing.ts';

/** Where the server under attack answers. */
export interface Victim {
  readonly url: string;
  /** Resident memory of the server in megabytes; undefined where it cannot be read. */
  readMemoryMb(): number | undefined;
  /** Open files of the server, connections included; absent where they cannot be counted. */
  countFiles?(): number;
  /** The plugin that encrypts its Secrets; absent for a server that was not started here. */
  readonly plugin?: TestPlugin;
}

/** What came of an attack: whether the server answered as it must, and a line for the report. */
export interface Outcome {
  readonly holds: boolean;
  readonly answer: string;
}

/** One attack; the number is that of the checklist in docs/security.md. */
export interface Attack {
  readonly number: string;
  readonly name: string;
  run(victim: Victim): Promise<Outcome>;
}

/** A request of an attacker; alice has the role `edit` in her namespace and nothing else. */
export interface AttackRequest {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | null;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly agent?: https.Agent;
}

/** The answer; status 0 where the connection ended without one. */
export interface AttackAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ms: number;
  readonly error?: string;
}

const sharedAgent = new https.Agent({ keepAlive: true, maxSockets: 32, rejectUnauthorized: false });
const DEFAULT_TIMEOUT_MS = 60_000;

function encodeBody(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends one request and reads the whole answer; never rejects. */
export function send({ url }: Victim, request: AttackRequest): Promise<AttackAnswer> {
  const { method = 'GET', path, token = 'alice-token', type = 'application/json', headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS, agent = sharedAgent } = request;
  const { hostname: host, port } = new URL(url);
  const body = encodeBody(request.body);
  const all = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': type, 'content-length': String(body.length) }),
    ...headers,
  };
  return new Promise((resolve) => {
    const began = performance.now();
    const end = (answer: Partial<AttackAnswer>): void => resolve({ status: 0, text: '', headers: {}, ...answer, ms: performance.now() - began });
    const sent = https.request({ host, port, method, path, agent, rejectUnauthorized: false, headers: all }, (response) => {
      const parts: Buffer[] = [];
      const answer = (error?: string): void => end({
        status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString(), ...(error !== undefined && { error }) });
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => answer());
      response.on('error', ({ message }) => answer(message));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => end({ error: error.code ?? error.message }));
    sent.setTimeout(timeoutMs, () => sent.destroy(new Error('the client gave up')));
    sent.end(body);
  });
}

/** A raw TLS connection that speaks HTTP/1.1; errors are ignored, `close` still comes. */
export function connect({ url }: Victim, alpn = 'http/1.1'): Promise<tls.TLSSocket> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: [alpn] }, () => resolve(socket));
    socket.on('error', (error) => {
      socket.destroy();
      reject(error);
    });
  });
}

/** Writes bytes on a connection of their own and collects what comes back until the server closes or the time is over. */
export async function exchangeBytes(victim: Victim, bytes: string | Buffer, waitMs = 2000): Promise<{ readonly text: string; readonly closed: boolean }> {
  const socket = await connect(victim);
  let text = '';
  let closed = false;
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
  });
  const ended = new Promise<void>((resolve) => socket.on('close', () => {
    closed = true;
    resolve();
  }));
  socket.write(bytes);
  await Promise.race([ended, sleep(waitMs)]);
  socket.destroy();
  return { text, closed };
}

/** The connection of a session may break after the session is gone, and an error without a listener ends the process. */
export function ignoreErrorsBelow(_session: unknown, socket: Duplex): void {
  socket.on('error', () => {});
}

/** An HTTP/2 session; errors of it are ignored. */
export function openSession({ url }: Victim): { readonly session: http2.ClientHttp2Session; isClosed(): boolean } {
  const session = http2.connect(url, { rejectUnauthorized: false });
  let closed = false;
  session.on('error', () => {}).on('connect', ignoreErrorsBelow);
  session.on('close', () => {
    closed = true;
  });
  return { session, isClosed: () => closed };
}

/** The path of alice's ConfigMaps. */
export const CONFIG_MAPS = '/api/v1/namespaces/alice/configmaps';

/** A ConfigMap. */
export const configMap = (name: string, data: unknown, metadata: object = {}): object =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data });

/** How one answer reads in the report. */
export const describe = ({ status, error, ms }: AttackAnswer): string => `${status}${error === undefined ? '' : ` ${error}`} in ${Math.round(ms)} ms`;
