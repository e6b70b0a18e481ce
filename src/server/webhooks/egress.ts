// Connections through the proxies that an EgressSelectorConfiguration names: the proxy is asked by CONNECT for a way to the address. Mirrors the
// reference's egress selector for Direct and HTTPConnect, over TCP with TLS or without, and over a Unix socket.
import { type Socket, connect } from 'node:net';
import { type SecureContext, connect as connectTls } from 'node:tls';
import type { Clock } from '../../base/index.ts';
import type { Dial } from './dial.ts';
import type { MeasureCall } from './http-call.ts';
import type { Address } from './service-address.ts';

/** How connections are opened into each network; undefined: directly. */
export interface Egress {
  /** To what serves the control plane: webhooks at URLs, issuers, services for authentication, authorization and audit. */
  readonly controlplane: Dial | undefined;
  /** Into the cluster: kubelets, pods, Services. */
  readonly cluster: Dial | undefined;
  /** Whether the configuration names a network. */
  readonly isConfigured: (network: string) => boolean;
  /** Counts the requests to webhooks. */
  readonly measure?: MeasureCall;
}

/** What other servers are reached with. */
export interface Routed {
  readonly egress: Egress;
}

/** Everything is reached directly. */
export const directEgress: Egress = { controlplane: undefined, cluster: undefined, isConfigured: () => false };

/** A proxy, and how it is met. */
export type EgressProxy = { readonly shown: string } & ({ readonly path: string } | (Address & {
  /** Undefined for a proxy without TLS. */
  readonly tls: { readonly secureContext: SecureContext; readonly servername: string } | undefined;
}));

/** The time that a proxy has for its answer, as Go's dialer has. */
const CONNECT_MS = 30_000;
/** Go's bound on the headers of an answer. */
const MAX_HEADER_BYTES = 1 << 20;
const END_OF_HEADERS = '\r\n\r\n';

const formatAddress = ({ host, port }: Address): string => `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;

function connectToProxy(proxy: EgressProxy): Socket {
  if ('path' in proxy) return connect(proxy.path);
  const { host, port, tls } = proxy;
  return tls === undefined ? connect({ host, port }) : connectTls({ host, port, ...tls });
}

/** The fault of a proxy's answer; undefined where it opens a way to the address. */
function findFault(head: string, rest: number, { shown }: EgressProxy, address: string): string | undefined {
  const line = head.slice(0, head.indexOf('\r\n'));
  const status = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/.exec(line)?.[1];
  if (status === undefined) return `reading HTTP response from CONNECT to ${address} via proxy ${shown} failed: malformed HTTP response ${JSON.stringify(line)}`;
  if (status !== '200') return `proxy error from ${shown} while dialing ${address}, code ${status}: ${line.slice(line.indexOf(' ') + 1)}`;
  return rest === 0 ? undefined : `unexpected ${rest} bytes of buffered data from CONNECT proxy ${JSON.stringify(shown)}`;
}

/** Opens connections through a proxy. */
export function dialThrough(proxy: EgressProxy, clock: Clock): Dial {
  return (target) => new Promise((resolve, reject) => {
    const address = formatAddress(target);
    const socket = connectToProxy(proxy);
    const timer = clock.after(CONNECT_MS, () => socket.destroy(Object.assign(new Error('dial tcp: i/o timeout'), { code: 'ETIMEDOUT' })));
    let received = '';
    const fail = (error: Error): void => {
      timer.cancel();
      socket.destroy();
      reject(error);
    };
    const onClose = (): void => fail(new Error(`reading HTTP response from CONNECT to ${address} via proxy ${proxy.shown} failed: unexpected EOF`));
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      const end = received.indexOf(END_OF_HEADERS);
      if (end === -1 && received.length <= MAX_HEADER_BYTES) return;
      const head = end === -1 ? '' : received.slice(0, end + 2);
      const fault = findFault(head, received.length - end - END_OF_HEADERS.length, proxy, address);
      if (fault !== undefined) return fail(new Error(fault));
      timer.cancel();
      socket.off('data', onData).off('error', fail).off('close', onClose).pause();
      resolve(socket);
    };
    socket.on('data', onData).on('error', fail).on('close', onClose);
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  });
}
