// A cluster of etcd servers as one: the server that answered last is asked first, the next one when it fails. Reads are tried again
// until their time is up; writes only where it is certain that nothing happened, since the outcome of the others is unknown.
import { delay, systemClock } from '../../../base/index.ts';
import { StorageClosedError, StorageUnavailableError } from '../../errors.ts';
import { type ChannelTls, type GrpcStream, type StreamSink, GrpcError, statusCode } from '../../../grpc/index.ts';
import { Endpoint } from './endpoint.ts';
import { isTransient, isUntouched } from './etcd-error.ts';

/** How a call may be repeated and how long it may take. */
interface CallOptions {
  readonly type: 'read' | 'write';
  /** Of one attempt, where there is another server to try. */
  readonly attemptMs?: number;
  /** Of all attempts. */
  readonly totalMs?: number;
}

const READ_ATTEMPT_MS = 1_500;
const READ_TOTAL_MS = 4_000;
const WRITE_TOTAL_MS = 8_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/** The connection of one Store to its cluster. */
export class EtcdConnection {
  readonly #endpoints: readonly Endpoint[];
  #preferred = 0;
  #closed = false;

  constructor(endpoints: readonly string[], tls: ChannelTls | undefined) {
    if (endpoints.length === 0) throw new RangeError('etcd needs at least one endpoint');
    this.#endpoints = endpoints.map((url) => new Endpoint(url, tls));
  }

  /** One call; rejects with GrpcError for what etcd refuses, StorageUnavailableError when no server answers in time. */
  async call(method: string, bytes: Buffer, options: CallOptions): Promise<Buffer> {
    const isWrite = options.type === 'write';
    const totalMs = options.totalMs ?? (isWrite ? WRITE_TOTAL_MS : READ_TOTAL_MS);
    const deadline = systemClock.monotonicMs() + totalMs;
    for (let attempt = 0; ; attempt += 1) {
      const endpoint = this.#pick();
      const leftMs = deadline - systemClock.monotonicMs();
      const attemptMs = isWrite || this.#endpoints.length === 1 ? leftMs : Math.min(options.attemptMs ?? READ_ATTEMPT_MS, leftMs);
      try {
        return await endpoint.call(method, bytes, attemptMs);
      } catch (error) {
        if (this.#closed) throw new StorageClosedError();
        if (!isTransient(error)) throw error;
        this.#avoid(endpoint);
        const pauseMs = this.#pauseAfter(attempt);
        const isOver = systemClock.monotonicMs() + pauseMs >= deadline;
        if (isOver || (isWrite && !isUntouched(error))) throw this.#describe(error, !isWrite || isUntouched(error));
        if (pauseMs > 0) await delay(systemClock, pauseMs);
      }
    }
  }

  /** A watch stream to a server that can be reached; rejects when none can. */
  async openWatch(sink: StreamSink): Promise<GrpcStream> {
    let failure: unknown;
    for (let attempt = 0; attempt < this.#endpoints.length; attempt += 1) {
      const endpoint = this.#pick();
      try {
        return await endpoint.open('/etcdserverpb.Watch/Watch', sink);
      } catch (error) {
        if (this.#closed) throw new StorageClosedError();
        failure = error;
        this.#avoid(endpoint);
      }
    }
    throw failure;
  }

  /** The next watch is opened on another server, if there is one. */
  moveOn(): void {
    this.#avoid(this.#pick());
  }

  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  #pick(): Endpoint {
    if (this.#closed) throw new StorageClosedError();
    const inOrder = this.#endpoints.map((_, index) => (this.#preferred + index) % this.#endpoints.length);
    const index = inOrder.find((candidate) => !(this.#endpoints[candidate] as Endpoint).isSuspect) ?? this.#preferred;
    this.#preferred = index;
    return this.#endpoints[index] as Endpoint;
  }

  #avoid(endpoint: Endpoint): void {
    endpoint.suspect();
    if (this.#endpoints[this.#preferred] === endpoint) this.#preferred = (this.#preferred + 1) % this.#endpoints.length;
  }

  /** None until every server was asked once. */
  #pauseAfter(attempt: number): number {
    const round = Math.floor((attempt + 1) / this.#endpoints.length);
    return round === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (round - 1), LONGEST_PAUSE_MS);
  }

  #describe(error: GrpcError, outcomeKnown: boolean): StorageUnavailableError {
    const where = this.#endpoints.map(({ url }) => url).join(', ');
    const what = error.code === statusCode.deadlineExceeded ? 'does not answer in time' : error.details;
    return new StorageUnavailableError(`etcd (${where}): ${what}`, { outcomeKnown, cause: error });
  }
}
