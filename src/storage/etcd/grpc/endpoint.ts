// One etcd server as its cluster sees it: its channel, and whether others are to be asked first. Which server is asked, and again, is
// decided in connection.ts.
import { type Clock, systemClock } from '../../../base/index.ts';
import { StorageClosedError } from '../../errors.ts';
import { Channel, type ChannelTls, type GrpcStream, type StreamSink } from '../../../grpc/index.ts';

/** A call that takes longer makes its server suspect while there are others. */
const SLOW_MS = 1_000;
const SUSPECT_MS = 2_000;
/** A server without a leader answers with an error at once, and its watches end, instead of serving what it had. */
const requireLeader = { hasleader: 'true' };

/** One server of a cluster. */
export class Endpoint {
  readonly url: string;
  readonly #channel: Channel;
  readonly #clock: Clock;
  #suspectUntilMs = 0;
  #closed = false;

  constructor(url: string, tls: ChannelTls | undefined, clock: Clock = systemClock) {
    this.url = url;
    this.#clock = clock;
    const { protocol, host, socketPath } = parseEndpoint(url);
    const place = { url: `${protocol}//${host}`, ...(socketPath !== undefined && { socketPath }) };
    this.#channel = new Channel({ ...place, tls: protocol === 'https:' ? tls : undefined, headers: requireLeader, clock });
  }

  get isSuspect(): boolean {
    return this.#clock.monotonicMs() < this.#suspectUntilMs;
  }

  /** Others are asked first for a while. */
  suspect(): void {
    this.#suspectUntilMs = this.#clock.monotonicMs() + SUSPECT_MS;
  }

  /** One call; rejects with GrpcError. `bytes` are not sent unless the connection stands. */
  async call(method: string, bytes: Buffer, timeoutMs: number): Promise<Buffer> {
    if (this.#closed) throw new StorageClosedError();
    const slow = this.#clock.after(SLOW_MS, () => this.suspect());
    try {
      return await this.#channel.call(method, bytes, timeoutMs);
    } finally {
      slow.cancel();
    }
  }

  /** A stream in both directions, on a connection that stands. */
  async open(method: string, sink: StreamSink): Promise<GrpcStream> {
    if (this.#closed) throw new StorageClosedError();
    return this.#channel.open(method, sink);
  }

  close(): void {
    this.#closed = true;
    this.#channel.close();
  }
}

interface EndpointAddress {
  readonly protocol: string;
  readonly host: string;
  readonly socketPath?: string;
}

/** Scheme and host:port of an endpoint, or the path of its Unix socket (`unix:///run/etcd.sock`, `unixs:` with TLS); throws RangeError for what is none. */
function parseEndpoint(url: string): EndpointAddress {
  const unix = /^unix(s?):\/\/(\S+)$/.exec(url);
  if (unix !== null) return { protocol: unix[1] === 's' ? 'https:' : 'http:', host: 'localhost', socketPath: unix[2] as string };
  const match = /^(?:(https?):\/\/)?([^/\s]+)\/?$/.exec(url);
  if (match === null) throw new RangeError(`${JSON.stringify(url)} is not an endpoint of etcd such as https://10.0.0.1:2379`);
  const host = match[2] as string;
  return { protocol: `${match[1] ?? 'http'}:`, host: /:\d+$/.test(host) ? host : `${host}:2379` };
}
