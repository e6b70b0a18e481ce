// The console of a cluster that is somewhere else: a port of this machine that serves the page, and sends the API requests of its sessions on with the
// credentials of a kubeconfig. Only a session reaches the cluster, and a session begins with the code of the link alone.
import type { IncomingMessage } from 'node:http';
import type { Clock, Random } from '../../base/index.ts';
import { type Response, passClientHeaders } from '../../endpoints/index.ts';
import type { ClusterAccess } from '../../kubeconfig/index.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { createListener } from '../http/listener.ts';
import type { Logger } from '../observability/logger.ts';
import { type ForwardTarget, answerPlainText, forwardRequest, passAnswer, passRequest } from '../proxy/forward.ts';
import { Upstreams } from '../proxy/upstream.ts';
import { describeConnection } from '../webhooks/describe-failure.ts';
import { createConsoleHandler } from './console-handler.ts';
import { SESSION_HEADER, Sessions } from './sessions.ts';

/** A console that is served. */
export interface ClusterConsole {
  /** The link that logs in once. */
  readonly link: string;
  close(): Promise<void>;
}

interface ClusterConsoleOptions {
  readonly target: ClusterAccess;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** 0 picks a free one. */
  readonly port: number;
}

const ADDRESS = '127.0.0.1';
const STREAMS = 100;
/** Headers that are the browser's business with this port; impersonation is the user's with the cluster. */
const own: ReadonlySet<string> = new Set(['cookie', 'origin', 'referer', SESSION_HEADER]);

const rules = { refusesRedirects: true, rewriteLocation: (text: string) => text, isDropped: (name: string) => name === 'set-cookie' };

/** Starts it; rejects where the port is taken. */
export async function startClusterConsole({ target, clock, random, logger, port }: ClusterConsoleOptions): Promise<ClusterConsole> {
  const sessions = new Sessions<object>({ clock, random, isSecure: false });
  const upstreams = new Upstreams(undefined);
  const handleConsole = createConsoleHandler({ sessions, identify: async () => undefined, isGood: async () => true, noteLogin: () => {} });
  let hosts: readonly string[] = [];
  const handler = async (exchange: ServerExchange): Promise<Response> => {
    // A name of another site that leads to this machine is not this origin.
    if (!hosts.includes(exchange.headers['host'] ?? '')) return answerPlainText(421, 'this address is not served here');
    if (exchange.path === '/') return { status: 302, headers: { location: '/console/' }, body: new Uint8Array() };
    if (exchange.path === '/console' || exchange.path.startsWith('/console/')) return handleConsole(exchange);
    if (sessions.find(exchange) === undefined) return answerStatus(401, 'Unauthorized', 'Unauthorized');
    // A watch lasts as long as its page.
    exchange.longRunning = true;
    return forward(exchange, target, upstreams);
  };
  const listener = createListener({ clock, random, logger, maxStreamsPerConnection: STREAMS, handler: handler as never });
  const chosen = await listener.listen(port, ADDRESS);
  hosts = [`${ADDRESS}:${chosen}`, `localhost:${chosen}`];
  const { code } = sessions.issueCode({ user: target.name, credentials: {} });
  return {
    link: `http://${ADDRESS}:${chosen}/console/#code=${code}`,
    async close() {
      await listener.close(0);
      upstreams.close();
    },
  };
}

function answerStatus(code: number, reason: string, message: string): Response {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body: Buffer.from(JSON.stringify(status)) };
}

/** Sends a request on as the user of the kubeconfig; 502 where there are no credentials or no answer. */
async function forward(exchange: ServerExchange, target: ClusterAccess, upstreams: Upstreams): Promise<Response> {
  const credentials = await target.credentials().catch((error: Error) => error);
  if (credentials instanceof Error) return answerStatus(502, 'BadGateway', credentials.message);
  const { authorities = '', verifies, serverName = '' } = target;
  const url = new URL(target.url);
  const { certificate, key, headers: shown } = credentials;
  const trust = { authorities, skipsVerification: !verifies, serverName, ...(certificate !== undefined && { certificate }), ...(key !== undefined && { key }) };
  const given = exchange.headerValues();
  const headers = passClientHeaders({ headers: given, remoteAddress: '' });
  for (const name of headers.keys()) if (own.has(name) || (name.startsWith('sec-') && !name.startsWith('sec-websocket-'))) headers.delete(name);
  for (const [name, values] of given) if (name.startsWith('impersonate-')) headers.set(name, values);
  headers.set('host', [url.host]);
  for (const [name, value] of Object.entries(shown)) headers.set(name, [value]);
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const request: ForwardTarget = {
    ...passRequest(exchange), scheme, host: url.hostname, port: url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port),
    path: `${url.pathname.replace(/\/$/, '')}${exchange.target}`, headers, agent: scheme === 'https' ? upstreams.agentFor(trust) : undefined,
    answer: (incoming: IncomingMessage) => passAnswer(exchange, incoming, rules),
  };
  try {
    return await forwardRequest(exchange, request);
  } catch (error) {
    return answerStatus(502, 'BadGateway', `${url.host} does not answer: ${describeConnection(error as Error)}`);
  }
}
