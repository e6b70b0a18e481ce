// Leases for puts with a time to live, shared as kube-apiserver shares them: a lease lives a little longer than asked for and is used
// again for that long, by a thousand keys at most, so that a storm of events does not become a storm of leases.
import { BoundedCache, type Clock } from '../../base/index.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { GrpcError, statusCode } from '../../grpc/index.ts';
import { decodeLeaseAnswer, decodeLeaseGrant, encodeLeaseGrant, encodeLeaseQuestion } from './grpc/messages.ts';
import { readRange } from './range.ts';

interface SharedLease {
  readonly id: Promise<bigint>;
  /** Until then it may be given to another key. */
  readonly usableUntilMs: number;
  uses: number;
}

const REUSE_SECONDS = 60;
const REUSE_SHARE = 0.05;
const USES_LIMIT = 1000;
const QUESTIONS_AT_ONCE = 32;
const everything = { start: '\u0000', end: '\u{10ffff}' };
/** Times to live whose newest lease is kept. */
const KINDS_LIMIT = 64;

/** The leases that one Store has taken. */
export class Leases {
  readonly #connection: EtcdConnection;
  readonly #clock: Clock;
  readonly #shared = new BoundedCache<number, SharedLease>({ limit: KINDS_LIMIT });

  constructor(connection: EtcdConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** A lease under which a key put now lives for `ttlSeconds`, or a little longer. */
  take(ttlSeconds: number): Promise<bigint> {
    const ttl = Math.ceil(ttlSeconds);
    const known = this.#shared.get(ttl);
    if (known !== undefined && known.uses < USES_LIMIT && this.#clock.monotonicMs() <= known.usableUntilMs) {
      known.uses += 1;
      return known.id;
    }
    return this.#grant(ttl);
  }

  /** A lease that etcd does not know any more is not given out again. */
  drop(ttlSeconds: number): void {
    this.#shared.delete(Math.ceil(ttlSeconds));
  }

  #grant(ttl: number): Promise<bigint> {
    const reuse = Math.min(REUSE_SECONDS, Math.floor(ttl * REUSE_SHARE));
    const id = this.#connection.call('/etcdserverpb.Lease/LeaseGrant', encodeLeaseGrant(ttl + reuse), { type: 'read' }).then((bytes) => {
      const { id: granted, error } = decodeLeaseGrant(bytes);
      if (error !== '') throw new GrpcError({ code: statusCode.internal, details: error });
      return granted;
    });
    id.catch(() => this.drop(ttl));
    this.#shared.set(ttl, { id, usableUntilMs: this.#clock.monotonicMs() + reuse * 1000, uses: 1 });
    return id;
  }
}

/** Seconds that are left of the leases of all keys, by the revision of their puts. */
export async function readTimesToLive(connection: EtcdConnection): Promise<ReadonlyMap<number, number>> {
  const { kvs } = await readRange(connection, { ...everything, keysOnly: true });
  const leased = kvs.filter(({ lease }) => lease !== undefined);
  const ids = [...new Set(leased.map(({ lease }) => lease as bigint))];
  const seconds = new Map<bigint, number>();
  for (let at = 0; at < ids.length; at += QUESTIONS_AT_ONCE) {
    await Promise.all(ids.slice(at, at + QUESTIONS_AT_ONCE).map(async (id) => {
      const answer = await connection.call('/etcdserverpb.Lease/LeaseTimeToLive', encodeLeaseQuestion(id), { type: 'read' });
      seconds.set(id, Math.max(1, decodeLeaseAnswer(answer)));
    }));
  }
  return new Map(leased.map(({ modRevision, lease }) => [modRevision, seconds.get(lease as bigint) ?? 1]));
}
