// The connections that subresources ask for: logs, streams of containers, and proxies to nodes, pods and services. Kubelets are met with the
// client certificate and the authority of the options; pods and services without verification, as in the reference: no authority knows them.
import { lookup } from 'node:dns/promises';
import type { Agent as HttpAgent, IncomingMessage } from 'node:http';
import { posix } from 'node:path';
import { badRequest, failure, internalError, serviceUnavailable } from '../../apimachinery/index.ts';
import { type Exchange, type Response, encodePath, passClientHeaders } from '../../endpoints/index.ts';
import type { Backends, Location, Translation } from '../../subresources/index.ts';
import { type Current, type KeyPairTexts, readAuthorities, readKeyPair } from '../config-files/followed-files.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { readWebSocketRequest } from '../http/websocket.ts';
import type { ServerOptions } from '../options/options.ts';
import { ChannelsResponse, type KubeletSession, kubeletProtocols } from '../streaming/container-channels.ts';
import { TUNNEL_PREFIX, WebSocketTunnelResponse } from '../streaming/websocket-tunnel.ts';
import { keptOptions } from '../webhooks/agent-pool.ts';
import { type Dial, createPlainAgent } from '../webhooks/dial.ts';
import { describeAnswer, describeConnection } from '../webhooks/describe-failure.ts';
import { type ForwardTarget, forwardRequest, isUpgrade, passAnswer, passRequest, pump } from './forward.ts';
import { createPageRewriter } from './html-links.ts';
import { createLinkRewriter } from './links.ts';
import { throttle } from './throttled-connection.ts';
import { Upstreams } from './upstream.ts';

/** What kubelets are met with. */
interface KubeletTrust {
  readonly credentials: Current<KeyPairTexts> | undefined;
  /** PEM of the authorities; undefined for no verification. */
  readonly authorities: Current<string> | undefined;
}

const defaultPorts = { http: 80, https: 443 } as const;
/** As much of an answer that is no log is shown at most. */
const MAX_MESSAGE_BYTES = 50_000;
const SPDY = 'SPDY/3.1';
/** HTTP/2 has another name for it. */
const hostOf = ({ headers }: Exchange): string => headers['host'] ?? headers[':authority'] ?? '';
const corsHeaders: ReadonlySet<string> = new Set(['credentials', 'headers', 'methods', 'origin'].map((name) => `access-control-allow-${name}`));

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 405: 'MethodNotAllowed', 406: 'NotAcceptable', 409: 'Conflict', 415: 'UnsupportedMediaType',
  422: 'Invalid', 429: 'TooManyRequests', 503: 'ServiceUnavailable', 504: 'Timeout',
};

const formatHost = ({ host, port }: Location): string => `${host.includes(':') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`;

const formatPath = ({ path, query }: Location): string => `${encodePath(path)}${query === '' ? '' : `?${query}`}`;

/** The part of a text before its end, as bytes count. */
async function readMessage(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= MAX_MESSAGE_BYTES) break;
  }
  incoming.destroy();
  return Buffer.concat(chunks).subarray(0, MAX_MESSAGE_BYTES).toString('utf8');
}

/** What a kubelet's answer means that is no log. */
async function refuseLog(incoming: IncomingMessage, pod: string): Promise<never> {
  const code = incoming.statusCode ?? 0;
  const text = await readMessage(incoming);
  if (code === 500) throw internalError(text);
  if (code === 400) throw badRequest(text);
  const { message } = describeAnswer({ status: code, contentType: '', body: Buffer.from(text) });
  const reason = reasons[code] ?? (code >= 500 ? 'InternalError' : '');
  throw failure(code, reason, `${message} ( pods/log ${pod})`, { name: pod, kind: 'pods/log' });
}

/** The backends of a server. */
export class NetworkBackends implements Backends {
  readonly #kubelets: KubeletTrust;
  readonly #bytesPerSecond: number;
  readonly #upstreams: Upstreams;
  readonly #plain: HttpAgent;

  constructor(kubelets: KubeletTrust, { dial, bytesPerSecond }: { readonly dial: Dial | undefined; readonly bytesPerSecond: number }) {
    this.#kubelets = kubelets;
    this.#bytesPerSecond = bytesPerSecond;
    this.#upstreams = new Upstreams(dial);
    this.#plain = createPlainAgent(keptOptions, dial);
  }

  async streamLog(exchange: Exchange, location: Location, pod: string): Promise<Response> {
    const url = `${location.scheme}://${formatHost(location)}${formatPath(location)}`;
    const answer = async (incoming: IncomingMessage): Promise<Response> => {
      const status = incoming.statusCode ?? 0;
      if (status >= 300 && status < 400 && incoming.headers.location !== undefined) {
        incoming.destroy();
        throw failure(500, '', `Get ${JSON.stringify(incoming.headers.location)}: redirects forbidden`);
      }
      if (status < 200 || status > 206) return refuseLog(incoming, pod);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: (sink) => pump(incoming, sink) };
    };
    const headers = new Map([['host', [formatHost(location)]], ['user-agent', ['Go-http-client/1.1']]]);
    const request = { ...this.#place(location), method: 'GET', headers, upgrade: undefined, openBody: undefined, answer, join: undefined };
    return forwardRequest<Response>(exchange as ServerExchange, request).catch(rethrow((why) => failure(500, '', `Get ${JSON.stringify(url)}: ${why}`)));
  }

  async proxy(exchange: Exchange, location: Location): Promise<Response> {
    const request = exchange as ServerExchange;
    const mark = request.target.indexOf('?');
    const query = mark === -1 ? '' : request.target.slice(mark + 1);
    // Dots are resolved before the path leaves.
    const path = location.path === '' ? '' : posix.normalize(location.path);
    const wantsUpgrade = isUpgrade(request);
    if (path === '' && !wantsUpgrade && (exchange.method === 'GET' || exchange.method === 'HEAD')) return redirectToRoot(exchange, query);
    const { rewriteLocation, forwardedUri } = createLinkRewriter({
      requestPath: exchange.path, path, host: formatHost(location), requestHost: hostOf(exchange),
    });
    const headers = this.#passHeaders(request);
    if (!wantsUpgrade) headers.set('x-forwarded-uri', [forwardedUri]);
    const rewriteBody = (kept: Map<string, readonly string[]>) => (kept.has('location') ? undefined : createPageRewriter(kept, rewriteLocation));
    const rules = { refusesRedirects: false, rewriteLocation, rewriteBody, isDropped: (name: string) => corsHeaders.has(name) };
    const target: ForwardTarget = {
      ...passRequest(request), ...this.#place(location), path: formatPath({ ...location, path: path === '' ? '/' : path, query }), headers,
      answer: (incoming) => passAnswer(request, wantsUpgrade ? requireRefusal(incoming) : incoming, rules),
    };
    return forwardRequest(request, this.#limit(request, target)).catch(rethrow(wantsUpgrade ? describeDial : describeProxied));
  }

  async connect(exchange: Exchange, location: Location, translation: Translation): Promise<Response> {
    const request = exchange as ServerExchange;
    if (!isUpgrade(request)) throw badRequest('Upgrade request required');
    if (translation.type !== 'pass' && !isWebSocketRequest(request)) throw badRequest('the handshake of the WebSocket is incomplete');
    if (translation.type === 'channels') return new ChannelsResponse(translation.streams, () => this.#openSession(request, location));
    const rules = { refusesRedirects: false, rewriteLocation: (text: string) => text };
    const target: ForwardTarget = {
      ...passRequest(request), ...this.#place(location), headers: this.#passHeaders(request),
      answer: (incoming) => passAnswer(request, requireRefusal(incoming), rules),
    };
    return forwardRequest(request, this.#limit(request, translation.type === 'tunnel' ? tunnelRequest(target) : target)).catch(rethrow(describeDial));
  }

  async lookUp(host: string): Promise<readonly string[]> {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } catch (error) {
      throw badRequest(describeConnection(error as Error).replace(/^dial tcp: /, ''));
    }
  }

  /** Closes the connections that are kept, and follows no file any more. */
  stop(): void {
    this.#kubelets.credentials?.stop();
    this.#kubelets.authorities?.stop();
    this.#upstreams.close();
    this.#plain.destroy();
  }

  /** Opens a SPDY connection to a kubelet for the streams of a container; rejects with why there is none. */
  #openSession(request: ServerExchange, location: Location): Promise<KubeletSession> {
    const headers = new Map<string, readonly string[]>([['host', [formatHost(location)]], ['x-stream-protocol-version', kubeletProtocols]]);
    return forwardRequest<KubeletSession>(request, this.#limit<KubeletSession>(request, {
      ...this.#place(location), method: 'POST', upgrade: SPDY, openBody: undefined, headers,
      answer: async (incoming) => {
        const text = (await readMessage(incoming)).trim();
        throw new Error(`unable to upgrade connection: ${findMessage(text) ?? (text === '' ? 'empty server response' : text)}`);
      },
      join: (incoming, socket, head) => ({ socket, head, protocol: String(incoming.headers['x-stream-protocol-version'] ?? '') }),
    })).catch(rethrow((why) => new Error(why)));
  }

  /** The other side of an upgrade as the limit wants it. */
  #limit<Answer>({ clock }: ServerExchange, target: ForwardTarget<Answer>): ForwardTarget<Answer> {
    const { join } = target;
    if (join === undefined || this.#bytesPerSecond <= 0) return target;
    return { ...target, join: (incoming, socket, head) => join(incoming, throttle(socket, this.#bytesPerSecond, clock), head) };
  }

  #place(location: Location): Pick<ForwardTarget, 'scheme' | 'host' | 'port' | 'path' | 'agent'> {
    const { scheme, host, port, trust } = location;
    if (port !== '' && !/^\d{1,5}$/.test(port)) throw serviceUnavailable(`error trying to reach service: dial tcp: lookup tcp/${port}: unknown port`);
    const place = { scheme, host, port: port === '' ? defaultPorts[scheme] : Number(port), path: formatPath(location) };
    if (scheme === 'http') return { ...place, agent: this.#plain };
    const { authorities, credentials } = this.#kubelets;
    const verified = trust === 'kubelet' ? authorities?.value : undefined;
    return {
      ...place, agent: this.#upstreams.agentFor({
        authorities: verified ?? '', skipsVerification: verified === undefined, serverName: '', ...(trust !== 'anyone' && credentials?.value),
      }),
    };
  }

  /** The client's headers without its identity; its Host stays. */
  #passHeaders(request: ServerExchange): Map<string, readonly string[]> {
    const headers = passClientHeaders({ headers: request.headerValues(), remoteAddress: request.remoteAddress });
    headers.set('host', [hostOf(request)]);
    return headers;
  }
}

/** Only Go's client, which logs are read with, knows what a server means that answers without TLS. */
const withoutClient = (why: string): string =>
  (why === 'http: server gave HTTP response to HTTPS client' ? 'tls: first record does not look like a TLS handshake' : why);

const describeDial = (why: string): Error => failure(500, '', `error dialing backend: ${withoutClient(why)}`);

const describeProxied = (why: string): Error => serviceUnavailable(`error trying to reach service: ${withoutClient(why)}`);

/** Words a failed connection; what is a Status already stays. */
function rethrow(describe: (why: string) => Error): (error: unknown) => never {
  return (error) => {
    throw error instanceof Error && error.name === 'StatusError' ? error : describe(describeConnection(error as Error));
  };
}

/** The message of a Status. */
function findMessage(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' && message.trim() !== '' ? message.trim() : undefined;
  } catch {
    return undefined;
  }
}

/** The request for the SPDY connection that a client tunnels through its WebSocket. */
function tunnelRequest(target: ForwardTarget): ForwardTarget {
  const isWebSocket = (name: string): boolean => name.startsWith('sec-websocket-');
  const protocols = (target.headers.get('sec-websocket-protocol') ?? []).flatMap((value) => value.split(',')).map((value) => value.trim());
  const inside = protocols.filter((protocol) => protocol.startsWith(TUNNEL_PREFIX)).map((protocol) => protocol.slice(TUNNEL_PREFIX.length));
  const headers = new Map([...target.headers].filter(([name]) => !isWebSocket(name))).set('x-stream-protocol-version', inside);
  return {
    ...target, method: 'POST', upgrade: SPDY, headers,
    join(incoming, socket, head) {
      if (incoming.headers.upgrade?.toLowerCase().includes('spdy/3.1') === true) {
        return new WebSocketTunnelResponse({ socket, head, protocol: String(incoming.headers['x-stream-protocol-version'] ?? '').trim() });
      }
      socket.destroy();
      throw failure(500, '', 'unable to upgrade: missing upgrade headers in response');
    },
  };
}

const isWebSocketRequest = ({ method, headers }: ServerExchange): boolean => readWebSocketRequest({ method, headers }) !== undefined;

/** An answer to a request for an upgrade that is neither that nor a refusal makes no sense to the client. */
function requireRefusal(incoming: IncomingMessage): IncomingMessage {
  if ((incoming.statusCode ?? 0) >= 400) return incoming;
  incoming.destroy();
  throw failure(500, '', `invalid upgrade response: status code ${incoming.statusCode}`);
}

/** Links on the page of a path without its slash would lead beside it. */
function redirectToRoot({ path }: Exchange, query: string): Response {
  return { status: 301, headers: { location: `${encodePath(path)}/${query === '' ? '' : `?${query}`}` }, body: new Uint8Array(0) };
}

/** Makes the backends of a server. Throws StartError when a certificate cannot be read. */
export function createBackends({ clock, logger, ...options }: ServerOptions, dial: Dial | undefined): NetworkBackends {
  const log = { clock, logger };
  const credentials = readKeyPair(
    { flag: '--kubelet-client-certificate', path: options.kubeletClientCertificate }, { flag: '--kubelet-client-key', path: options.kubeletClientKey },
    { what: 'the client certificate for kubelets', options: log },
  );
  const authorities = readAuthorities({ flag: '--kubelet-certificate-authority', path: options.kubeletCertificateAuthority }, log);
  return new NetworkBackends({ credentials, authorities }, { dial, bytesPerSecond: options.maxConnectionBytesPerSec });
}
