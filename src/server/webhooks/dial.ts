// Agents whose connections do not lead straight to the host of a request: to an address that is looked up for each connection, through a proxy, or
// both. A connection that is kept stays with the address that it was made to, as Go's does.
import { Agent as PlainAgent, type RequestOptions } from 'node:http';
import { Agent, type AgentOptions } from 'node:https';
import type { X509Certificate } from 'node:crypto';
import { type Socket, isIP } from 'node:net';
import { type ConnectionOptions, type SecureContext, type TLSSocket, connect as connectSecure } from 'node:tls';
import type { Address } from './service-address.ts';

/** Opens a connection to an address; rejects with why there is none. */
export type Dial = (address: Address) => Promise<Socket>;

/** How connections are made; what is absent is as usual. */
export interface Route {
  /** Where the server is at the moment, whatever the host of the request. */
  readonly findAddress?: (() => Promise<Address>) | undefined;
  readonly dial?: Dial | undefined;
}

/** What a server is met with whose certificate OpenSSL takes for one that signed itself; undefined: none that is trusted has issued it. */
export type TrustLeaf = (leaf: X509Certificate) => SecureContext | undefined;

/** How the other side of a connection is verified, and what it is shown. */
export interface SecureOptions extends ConnectionOptions {
  readonly trustLeaf?: TrustLeaf | undefined;
}

interface SecureTarget extends SecureOptions {
  readonly host: string;
  readonly port: number;
}

type Callback = (error: Error | null, socket: Socket) => void;

/** The address of a connection that is asked for. */
const findTarget = async ({ findAddress }: Route, { host, port }: Pick<RequestOptions, 'host' | 'port'>): Promise<Address> =>
  (findAddress === undefined ? { host: host ?? '', port: Number(port) } : findAddress());

/** What a promise becomes, given to a callback of Node's agents. */
function giveTo(callback: Callback | undefined, opened: Promise<Socket>): undefined {
  opened.then((socket) => callback?.(null, socket), (error: Error) => callback?.(error, undefined as unknown as Socket));
  return undefined;
}

/** Resolves when the handshake is over: the time that a request waits for its connection includes it. */
function handshake<S extends Socket>(socket: S): Promise<S> {
  return new Promise((resolve, reject) => {
    const closed = (): void => reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    socket.once('error', reject);
    socket.once('close', closed);
    socket.once('secureConnect', () => {
      socket.off('error', reject).off('close', closed);
      resolve(socket);
    });
  });
}

async function openOnce(options: Omit<SecureTarget, 'trustLeaf'>, route: Route, signal: AbortSignal): Promise<TLSSocket> {
  const address = await findTarget(route, options);
  const named = { servername: isIP(options.host) === 0 ? options.host : '', ...options };
  const socket = connectSecure(route.dial === undefined ? { ...named, ...address } : { ...named, socket: await route.dial(address) });
  const close = (): void => void socket.destroy();
  if (signal.aborted) close();
  signal.addEventListener('abort', close);
  try {
    return await handshake(socket);
  } finally {
    signal.removeEventListener('abort', close);
  }
}

/**
 * Opens a connection to where the route leads and resolves when the handshake is over; rejects with why there is none. Once the signal is aborted the
 * connection is closed as soon as it is there.
 *
 * OpenSSL takes a certificate for one that signed itself where its subject is that of its issuer and it names no key of the issuer, as the webhooks of
 * Knative and Tekton make theirs; Go looks at the signature. Such a certificate is read from a connection over which nothing is sent. If `trustLeaf` finds its
 * issuer, the server is met again with the certificate itself among the authorities, and verified as any other.
 */
export async function openSecure({ trustLeaf, ...options }: SecureTarget, route: Route, signal: AbortSignal): Promise<TLSSocket> {
  try {
    return await openOnce(options, route, signal);
  } catch (error) {
    if (trustLeaf === undefined || (error as NodeJS.ErrnoException).code !== 'DEPTH_ZERO_SELF_SIGNED_CERT') throw error;
    const shown = await openOnce({ ...options, rejectUnauthorized: false }, route, signal);
    const leaf = shown.getPeerX509Certificate();
    shown.destroy();
    const secureContext = leaf && trustLeaf(leaf);
    if (secureContext === undefined) throw error;
    return openOnce({ ...options, secureContext }, route, signal);
  }
}

class RoutedAgent extends Agent {
  readonly #route: Route;

  constructor(options: AgentOptions, route: Route) {
    super(options);
    this.#route = route;
  }

  override createConnection(options: RequestOptions, callback?: Callback): undefined {
    const connect = super.createConnection.bind(this) as (options: object) => Socket;
    const { dial } = this.#route;
    const opened = findTarget(this.#route, options).then(async (address) =>
      (dial === undefined ? connect({ ...options, ...address }) : handshake(connect({ ...options, socket: await dial(address) }))));
    return giveTo(callback, opened);
  }
}

class RoutedPlainAgent extends PlainAgent {
  readonly #dial: Dial;

  constructor(options: AgentOptions, dial: Dial) {
    super(options);
    this.#dial = dial;
  }

  override createConnection(options: RequestOptions, callback?: Callback): undefined {
    return giveTo(callback, findTarget({}, options).then(this.#dial));
  }
}

/** An agent for servers with TLS. */
export function createAgent(options: AgentOptions, route: Route): Agent {
  return route.findAddress === undefined && route.dial === undefined ? new Agent(options) : new RoutedAgent(options, route);
}

/** An agent for servers without. */
export function createPlainAgent(options: AgentOptions, dial: Dial | undefined): PlainAgent {
  return dial === undefined ? new PlainAgent(options) : new RoutedPlainAgent(options, dial);
}
