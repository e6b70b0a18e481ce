// EventRateLimit: how many Events are taken a second, in all, from a namespace, from a user, or about one object by one source. Each limit is a
// token bucket; of the buckets of a limit the ones used last are kept.
import { failure } from '../../../apimachinery/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';

/** One limit of the configuration. */
export interface EventLimit {
  readonly type: 'Server' | 'Namespace' | 'User' | 'SourceAndObject';
  readonly qps: number;
  readonly burst: number;
  /** Buckets kept at the most; 4,096 where none is given. */
  readonly cacheSize?: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const DEFAULT_CACHE_SIZE = 4096;

interface EventSource {
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly involvedObject?: Readonly<Record<string, string | undefined>>;
}

function keyOf(type: EventLimit['type'], { namespace, context, object }: AdmissionAttributes): string {
  if (type === 'Server') return '';
  if (type === 'Namespace') return namespace;
  if (type === 'User') return context.user.name;
  const { source = {}, involvedObject = {} } = (object ?? {}) as EventSource;
  const { kind, namespace: place, name, uid, apiVersion } = involvedObject;
  return [source.component, source.host, kind, place, name, uid, apiVersion].join('');
}

/** Characters of all keys of a limit together, which are the clients': where there are more, the buckets used last are kept. */
const KEPT_CHARACTERS = 2 ** 21;

/** The buckets of one limit. */
class Limiter {
  readonly #limit: EventLimit;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();
  #characters = 0;

  constructor(limit: EventLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Takes a token; reports why there is none. */
  take(attributes: AdmissionAttributes): string | undefined {
    const { type, qps, burst, cacheSize = DEFAULT_CACHE_SIZE } = this.#limit;
    const key = keyOf(type, attributes);
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#take(key) ?? { tokens: burst, atMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * qps);
    bucket.atMs = nowMs;
    this.#buckets.set(key, bucket);
    this.#characters += key.length;
    for (const [oldest] of this.#buckets) {
      if (this.#buckets.size <= cacheSize && (this.#characters <= KEPT_CHARACTERS || oldest === key)) break;
      this.#take(oldest);
    }
    if (bucket.tokens < 1) return `limit reached on type ${type} for key ${key}`;
    bucket.tokens -= 1;
    return undefined;
  }

  #take(key: string): Bucket | undefined {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return undefined;
    this.#buckets.delete(key);
    this.#characters -= key.length;
    return bucket;
  }
}

/** Makes the plugin. */
export function createEventRateLimit(limits: readonly EventLimit[], clock: Clock): AdmissionPlugin {
  const limiters = limits.map((limit) => new Limiter(limit, clock));
  return {
    name: 'EventRateLimit',
    handles: ({ operation, kind, context }) => (operation === 'CREATE' || operation === 'UPDATE') && kind.group === '' && kind.kind === 'Event'
      && !context.dryRun,
    validate(attributes) {
      const problems = limiters.map((limiter) => limiter.take(attributes)).filter((problem) => problem !== undefined);
      if (problems.length === 0) return;
      const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
      throw failure(429, 'TooManyRequests', `Too many requests: ${text as string}`);
    },
  };
}
