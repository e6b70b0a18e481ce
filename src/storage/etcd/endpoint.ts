// One etcd server: its gRPC channel, single calls and streams on it. Relies on @grpc/grpc-js for connections, TLS and keep-alive;
// which server is asked, and again, is decided in connection.ts.
import { Client, type ClientDuplexStream, type ServiceError, Metadata, connectivityState, credentials, status } from '@grpc/grpc-js';
import { type Clock, systemClock } from '../../base/index.ts';
import { StorageClosedError } from '../errors.ts';

/** Certificates of a connection, as PEM. */
export interface EtcdTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Both directions of a watch. */
export type EtcdStream = ClientDuplexStream<Buffer, Buffer>;

/** What an etcd server answered instead of a result, or what happened to the connection. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly code: number;
  readonly details: string;

  constructor(error: Pick<ServiceError, 'code' | 'details'>) {
    super(error.details);
    this.code = error.code;
    this.details = error.details;
  }

  /** True for what another server, or the same one later, may answer better. */
  get isTransient(): boolean {
    return transientCodes.has(this.code);
  }

  /** True when the server refused before it did anything. */
  get isUntouched(): boolean {
    return this.details === 'etcdserver: no leader' || this.details === unreachable;
  }
}

const transientCodes: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED, status.INTERNAL, status.UNKNOWN]);
const unreachable = 'cannot be reached';
/** Receive limit of one message; ranges are paged far below it. gRPC's default is 4 MB. */
const receiveLimitBytes = 64 << 20;
/** Servers refuse pings more often than every 5 s. */
const keepAliveMs = 6_000;
const keepAliveTimeoutMs = 3_000;
const connectMs = 1_000;
/** A call that takes longer makes its server suspect while there are others. */
const slowMs = 1_000;
const suspectMs = 2_000;

const channelOptions = {
  'grpc.keepalive_time_ms': keepAliveMs,
  'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': receiveLimitBytes,
  'grpc.max_send_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.client_idle_timeout_ms': 2 ** 31 - 1,
  'grpc-node.flow_control_window': 4 << 20,
};

const same = (bytes: Buffer): Buffer => bytes;

/** A server without a leader answers with an error at once, and its watches end, instead of serving what it had. */
function requireLeader(): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  return metadata;
}

/** One server of a cluster. */
export class Endpoint {
  readonly url: string;
  readonly #client: Client;
  readonly #clock: Clock;
  #suspectUntilMs = 0;
  #closed = false;

  constructor(url: string, tls: EtcdTls | undefined, clock: Clock = systemClock) {
    this.url = url;
    this.#clock = clock;
    const { protocol, host } = parseEndpoint(url);
    this.#client = new Client(host, protocol === 'https:' ? makeCredentials(tls) : credentials.createInsecure(), channelOptions);
  }

  get isSuspect(): boolean {
    return this.#clock.monotonicMs() < this.#suspectUntilMs;
  }

  /** Others are asked first for a while. */
  suspect(): void {
    this.#suspectUntilMs = this.#clock.monotonicMs() + suspectMs;
  }

  /** One call; rejects with EtcdError. `bytes` are not sent unless the connection stands. */
  async call(method: string, bytes: Buffer, timeoutMs: number): Promise<Buffer> {
    await this.#connect(timeoutMs);
    const slow = this.#clock.after(slowMs, () => this.suspect());
    return new Promise<Buffer>((resolve, reject) => {
      const options = { deadline: this.#clock.now() + timeoutMs };
      this.#client.makeUnaryRequest(method, same, same, bytes, requireLeader(), options, (error, answer) => {
        slow.cancel();
        if (error) reject(new EtcdError(error));
        else resolve(answer as Buffer);
      });
    });
  }

  /** A stream in both directions, on a connection that stands. */
  async open(method: string): Promise<EtcdStream> {
    await this.#connect(connectMs);
    return this.#client.makeBidiStreamRequest(method, same, same, requireLeader());
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#client.close();
  }

  /** Resolves on a connection that stands; rejects as soon as an attempt has failed. */
  async #connect(timeoutMs: number): Promise<void> {
    if (this.#closed) throw new StorageClosedError();
    const channel = this.#client.getChannel();
    const deadline = this.#clock.now() + Math.min(timeoutMs, connectMs);
    for (;;) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return;
      if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) break;
      const changed = await new Promise<boolean>((resolve) => channel.watchConnectivityState(state, deadline, (error) => resolve(!error)));
      if (!changed) break;
      if (this.#closed) throw new StorageClosedError();
    }
    throw new EtcdError({ code: status.UNAVAILABLE, details: unreachable });
  }
}

/** Scheme and host:port of an endpoint; throws RangeError for what is none. */
function parseEndpoint(url: string): { readonly protocol: string; readonly host: string } {
  const match = /^(?:(https?):\/\/)?([^/\s]+)\/?$/.exec(url);
  if (match === null) throw new RangeError(`${JSON.stringify(url)} is not an endpoint of etcd such as https://10.0.0.1:2379`);
  const host = match[2] as string;
  return { protocol: `${match[1] ?? 'http'}:`, host: /:\d+$/.test(host) ? host : `${host}:2379` };
}

function makeCredentials({ ca, cert, key }: EtcdTls = {}): ReturnType<typeof credentials.createSsl> {
  const bytes = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert));
}
