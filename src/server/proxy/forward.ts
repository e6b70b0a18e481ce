// One request sent to another server and its answer sent back, both as streams: neither body is held here, and each side waits for the other.
// Mirrors upstream's UpgradeAwareHandler: redirects refused where they are, Location rewritten, upgrades passed through, failures as plain text.
import { type Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { failure } from '../../apimachinery/index.ts';
import { type HeaderValues, type Response, type Sink, passHeaders } from '../../endpoints/index.ts';
import { type ServerExchange, gatherHeaders } from '../http/exchange.ts';
import { TunnelResponse } from '../http/tunnel.ts';
import { inSpan, traceHeaders } from '../tracing/spans.ts';
import { isStale } from '../webhooks/http-call.ts';

/** A request to another server, and what becomes of its answer. */
export interface ForwardTarget<Answer = Response> {
  readonly scheme: 'https' | 'http';
  readonly host: string;
  readonly port: number;
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** Those of the connection are added. */
  readonly headers: HeaderValues;
  readonly agent: HttpsAgent | HttpAgent | undefined;
  /** The protocol that the connection is to change to. */
  readonly upgrade: string | undefined;
  /** Opens the body; undefined where there is none. */
  readonly openBody: (() => Readable) | undefined;
  /** Makes the answer to the client of one that has come. */
  readonly answer: (incoming: IncomingMessage) => Answer | Promise<Answer>;
  /** The same where the protocol has changed; undefined where it was not to. */
  readonly join: ((incoming: IncomingMessage, socket: Duplex, head: Buffer) => Answer | Promise<Answer>) | undefined;
}

/** What a request passes on of the client's. */
type Passed = Pick<ForwardTarget, 'method' | 'upgrade' | 'openBody' | 'join'>;

/** How an answer is changed on its way to the client. */
interface AnswerRules {
  /** Answers 3xx with a Location are refused. */
  readonly refusesRedirects: boolean;
  /** Rewrites the Location of an answer. */
  readonly rewriteLocation: (location: string) => string;
  /** Headers of the answer that the client does not get. */
  readonly isDropped?: (name: string) => boolean;
  /** Rewrites the body, given the headers of the answer, and may change them; undefined: the body stays as it is. */
  readonly rewriteBody?: (headers: Map<string, readonly string[]>) => ((body: AsyncIterable<Buffer>) => AsyncIterable<Uint8Array>) | undefined;
}

const REDIRECT_TEXT = 'the backend attempted to redirect this request, which is not permitted';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const HELD_PAGE_BYTES = 65_536;
/** Go's dialer waits this long for a connection. */
const CONNECT_MS = 30_000;

/** Whether the client wants to change the protocol of its connection. */
export const isUpgrade = ({ headers }: Pick<ServerExchange, 'headers'>): boolean =>
  headers['upgrade'] !== undefined && /\bupgrade\b/i.test(headers['connection'] ?? '');

/** Sends a request on; rejects with the error of the connection as it is, where there is no answer. */
export async function forwardRequest<Answer>(exchange: ServerExchange, target: ForwardTarget<Answer>): Promise<Answer> {
  for (let isSecondTry = false; ; isSecondTry = true) {
    try {
      return await inSpan(() => ({ name: `HTTP ${target.method}`, kind: 'client',
        attributes: { 'http.request.method': target.method, 'server.address': target.host, 'server.port': target.port } }), () => sendOnce(exchange, target));
    } catch (error) {
      if (isSecondTry || target.openBody !== undefined || !isStale(error)) throw error;
    }
  }
}

function hasBody({ method, headers }: ServerExchange): boolean {
  const length = headers['content-length'];
  if (length !== undefined) return length !== '0';
  // HTTP/2 says nothing of a body whose length is not known.
  return headers['transfer-encoding'] !== undefined || (headers[':method'] !== undefined && method !== 'GET' && method !== 'HEAD');
}

/** The client's method, body and upgrade as they are. */
export function passRequest(exchange: ServerExchange): Passed {
  const wantsUpgrade = isUpgrade(exchange);
  return {
    method: exchange.method, upgrade: wantsUpgrade ? exchange.headers['upgrade'] : undefined, join: wantsUpgrade ? passUpgrade : undefined,
    openBody: hasBody(exchange) ? () => exchange.openBody() : undefined,
  };
}

function openRequest({ scheme, host, port, method, path, agent, ...target }: ForwardTarget<unknown>): ClientRequest {
  const headers: Record<string, string | readonly string[]> = Object.create(null);
  for (const [name, values] of target.headers) headers[name] = values.length === 1 ? (values[0] as string) : values;
  Object.assign(headers, traceHeaders());
  if (target.upgrade !== undefined) Object.assign(headers, { connection: 'Upgrade', upgrade: target.upgrade });
  if (target.openBody !== undefined && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
  const bare = host.replace(/^\[|\]$/g, '');
  // Without a name of its own Node would verify the certificate for the Host header, which is the client's.
  const servername = isIP(bare) === 0 ? bare : '';
  const options = { method, host: bare, port, path, servername, headers: headers as Record<string, string>, setDefaultHeaders: false };
  const call = scheme === 'https' ? requestHttps({ ...options, agent: agent as HttpsAgent }) : requestHttp({ ...options, agent: agent as HttpAgent });
  if (target.upgrade === undefined) call.removeHeader('connection');
  return call;
}

function sendOnce<Answer>(exchange: ServerExchange, target: ForwardTarget<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = openRequest(target);
    const settle = (make: () => Answer | Promise<Answer>): void => resolve(Promise.resolve().then(make));
    const abort = (): void => void call.destroy(new Error('context canceled'));
    exchange.signal.addEventListener('abort', abort, { once: true });
    call.on('close', () => exchange.signal.removeEventListener('abort', abort));
    if (exchange.aborted) abort();
    const timer = exchange.clock.after(CONNECT_MS, () => call.destroy(Object.assign(new Error('dial tcp: i/o timeout'), { code: 'ETIMEDOUT' })));
    call.on('socket', (socket) => {
      if (!socket.connecting) return timer.cancel();
      socket.once(target.scheme === 'https' ? 'secureConnect' : 'connect', () => timer.cancel());
    });
    call.on('error', (error: Error) => {
      timer.cancel();
      reject(Object.assign(error, { wasKept: call.reusedSocket }));
    });
    call.on('response', (incoming) => {
      const encoding = incoming.headers['transfer-encoding'] ?? 'chunked';
      if (encoding.toLowerCase() === 'chunked') return settle(() => target.answer(incoming));
      return call.destroy(new Error(`net/http: HTTP/1.x transport connection broken: unsupported transfer encoding: ${JSON.stringify(encoding)}`));
    });
    call.on('upgrade', (incoming, socket: Duplex, head) => settle(() => {
      if (target.join !== undefined) return target.join(incoming, socket, head);
      socket.destroy();
      throw failure(500, '', `backend tried to switch protocol ${JSON.stringify(incoming.headers.upgrade ?? '')} when "" was requested`);
    }));
    if (target.openBody !== undefined) target.openBody().pipe(call);
    else call.end();
  });
}

const ofServer = (name: string): boolean => name === 'audit-id';

/** The answer of another server as the client gets it. */
export function passAnswer({ method }: ServerExchange, incoming: IncomingMessage, rules: AnswerRules): Response | Promise<Response> {
  const { refusesRedirects, rewriteLocation, isDropped = () => false, rewriteBody } = rules;
  const status = incoming.statusCode ?? 0;
  const kept = passHeaders(gatherHeaders(incoming.rawHeaders), (name) => ofServer(name) || isDropped(name));
  const location = kept.get('location')?.[0];
  if (refusesRedirects && status >= 300 && status < 400 && location !== undefined && location !== '') {
    incoming.destroy();
    return { status: 502, headers: { 'content-type': TEXT_TYPE, 'cache-control': 'no-cache, private' }, body: Buffer.from(REDIRECT_TEXT) };
  }
  if (location !== undefined && location !== '') kept.set('location', [rewriteLocation(location)]);
  kept.set('cache-control', ['no-cache, private', ...kept.get('cache-control') ?? []]);
  // As Go's server does: what is not modified has no type.
  if (status === 304) kept.delete('content-type');
  const isBodyless = method === 'HEAD' || status === 204 || status === 304;
  if (isBodyless) incoming.resume();
  if (isBodyless) return { status, headers: Object.fromEntries(kept), body: async () => {} };
  const body = rewriteBody?.(kept)?.(incoming) ?? incoming;
  const answer = { status, headers: Object.fromEntries(kept) };
  return isPageWithoutLength(answer.headers) ? holdPage(incoming, body, answer) : { ...answer, body: (sink) => pump(incoming, sink, body) };
}

type Headers = Readonly<Record<string, readonly string[]>>;

const isPageWithoutLength = (headers: Headers): boolean =>
  headers['content-length'] === undefined && headers['content-type']?.[0]?.split(';')[0]?.trim() === 'text/html';

/** A page with its length, where it is not too large to be held: the reference holds each one whole. */
async function holdPage(
  incoming: IncomingMessage, body: AsyncIterable<Uint8Array>, answer: { readonly status: number; readonly headers: Headers },
): Promise<Response> {
  const rest = body[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  for (let length = 0; length <= HELD_PAGE_BYTES;) {
    const { done, value } = await rest.next();
    if (done === true) return { ...answer, body: Buffer.concat(held) };
    held.push(value);
    length += value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* held.splice(0);
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { ...answer, body: (sink) => pump(incoming, sink, whole()) };
}

/** Writes a body as it comes, no faster than it is taken; rejects when it breaks off. */
export async function pump(incoming: IncomingMessage, sink: Sink, body: AsyncIterable<Uint8Array> = incoming): Promise<void> {
  const stop = (): void => void incoming.destroy();
  sink.signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of body) if (!sink.write(chunk)) await sink.drained();
  } catch (error) {
    if (!sink.signal.aborted) throw error;
  } finally {
    sink.signal.removeEventListener('abort', stop);
    incoming.destroy();
  }
}

/** The client's connection is joined with the other one. */
function passUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Response {
  const kept = passHeaders(gatherHeaders(incoming.rawHeaders), ofServer);
  for (const name of ['connection', 'upgrade']) if (incoming.headers[name] !== undefined) kept.set(name, [String(incoming.headers[name])]);
  return new TunnelResponse(Object.fromEntries(kept), { socket, head });
}

/** Plain text as Go's http.Error writes it. */
export function answerPlainText(status: number, text: string): Response {
  const headers = { 'content-type': TEXT_TYPE, 'x-content-type-options': 'nosniff' };
  return { status, headers, body: Buffer.from(`${text}\n`) };
}
