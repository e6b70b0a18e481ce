// What connections lead to, as this room sees it: kubelets, pods and services are reached by functions that the server hands in.
import type { Exchange, Response } from '../../endpoints/index.ts';

/** Where a request is sent. */
export interface Location {
  readonly scheme: 'https' | 'http';
  /** A name or an address; one of IPv6 without brackets. */
  readonly host: string;
  /** '' for that of the scheme. */
  readonly port: string;
  /** Decoded. */
  readonly path: string;
  /** Encoded, without its question mark. */
  readonly query: string;
  /** How TLS is met: kubelets by the authority of the options and with the client certificate, all others without verification. */
  readonly trust: 'kubelet' | 'unverified kubelet' | 'anyone';
}

/** Streams of a container that a client asks for. */
export interface ContainerStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** How the streams of a client that speaks WebSocket reach a kubelet that only knows SPDY; `pass`: the kubelet speaks WebSocket itself. */
export type Translation = { readonly type: 'pass' } | { readonly type: 'tunnel' } | { readonly type: 'channels'; readonly streams: ContainerStreams };

/** Everything that network calls are needed for. Each throws a StatusError in the words of the reference where nothing answers. */
export interface Backends {
  /** Streams the answer to a GET as plain text. */
  streamLog(exchange: Exchange, location: Location, pod: string): Promise<Response>;
  /** Sends the request on with its body, and its answer back, with links rewritten. `location.path` is what follows `/proxy`. */
  proxy(exchange: Exchange, location: Location): Promise<Response>;
  /** Joins the client's connection with one to the location. */
  connect(exchange: Exchange, location: Location, translation: Translation): Promise<Response>;
  /** The addresses of a host, or of an address itself. */
  lookUp(host: string): Promise<readonly string[]>;
}
