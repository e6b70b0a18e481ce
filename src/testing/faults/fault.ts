// Faults that a test asks for: which requests they befall, and what happens to those.

/** One value or several of which one fits. */
type OneOf<T> = T | readonly T[];

/** Which requests a fault befalls: those that fit everything that is given. Only requests of connections, never those of the test server itself. */
export interface FaultMatch {
  readonly user?: OneOf<string>;
  /** get, list, watch, create, update, patch, delete, deletecollection; `write` is all that change something, `read` the others. */
  readonly verb?: OneOf<string>;
  readonly group?: OneOf<string>;
  /** The plural, `pods`, or with a subresource, `pods/status`. Without a subresource those of the object itself fit. */
  readonly resource?: OneOf<string>;
  readonly namespace?: OneOf<string>;
  readonly name?: OneOf<string>;
  /** Which of the requests that fit, counted from 1. */
  readonly nth?: OneOf<number>;
  /** At most so many requests. */
  readonly times?: number;
  /** Chance that a request that fits is befallen; by the seed of the server. */
  readonly probability?: number;
}

/** A Status to be answered. */
export interface FaultStatus {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  /** Seconds, in the header Retry-After and in the Status. */
  readonly retryAfterSeconds?: number;
}

/** What happens; several can be combined where that makes sense (latency and a Status). */
export interface FaultEffect {
  /** A Status is the answer: 409, 410, 429, 500, 503 … */
  readonly status?: number | FaultStatus;
  /** With `status` or `cut`: the request is done first, and its answer is lost. */
  readonly afterCommit?: boolean;
  /** Real milliseconds before anything else happens. */
  readonly latencyMs?: number;
  /** The connection breaks off without an answer. */
  readonly cut?: boolean;
  /** A watch: `end` closes it, `expire` sends an ERROR event of 410 first, `stall` keeps it open and silent, `cut` breaks it off. */
  readonly watch?: 'end' | 'expire' | 'stall' | 'cut';
  /** With `watch`: after so many events; 0 when absent. */
  readonly afterEvents?: number;
  /** Lists show the state at a resourceVersion; `true`: that of the moment at which the fault was added. */
  readonly stale?: true | number;
}

/** A webhook whose calls fail: those to URLs or Services (`namespace/name`) that contain the text; '' for all. */
export interface WebhookFault {
  readonly webhook: string;
  /** `timeout`: as if no answer came in time; `refuse`: as if the port were closed. */
  readonly outcome: 'timeout' | 'refuse';
  readonly times?: number;
}

/** A fault of requests, or of calls of webhooks. */
export type Fault = (FaultMatch & FaultEffect) | WebhookFault;

/** A fault that has been added. */
export interface ActiveFault {
  readonly id: number;
  readonly fault: Fault;
  /** How many requests or calls it has befallen. */
  readonly hits: number;
  remove(): void;
}

/** The faults of a server. */
export interface Faults {
  /** Adds a fault; throws TypeError for one that says nothing or contradicts itself. */
  add(fault: Fault): ActiveFault;
  list(): readonly ActiveFault[];
  clear(): void;
}

const effects = ['status', 'latencyMs', 'cut', 'watch', 'stale'];
const known = new Set([
  ...effects, 'afterCommit', 'afterEvents', 'user', 'verb', 'group', 'resource', 'namespace', 'name', 'nth', 'times', 'probability', 'webhook', 'outcome',
]);

/** Why a fault cannot be; undefined when it can. */
export function findFaultProblem(fault: unknown): string | undefined {
  if (typeof fault !== 'object' || fault === null) return 'a fault is an object';
  const unknown = Object.keys(fault).find((key) => !known.has(key));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  if ('webhook' in fault) {
    const { outcome } = fault as WebhookFault;
    return outcome === 'timeout' || outcome === 'refuse' ? undefined : 'outcome of a webhook fault must be timeout or refuse';
  }
  const { status, afterCommit, cut, watch, afterEvents, probability } = fault as FaultMatch & FaultEffect;
  if (!effects.some((effect) => effect in fault)) return `nothing happens: one of ${effects.join(', ')} is needed`;
  const code = typeof status === 'object' ? status.code : status;
  if (status !== undefined && !(Number.isInteger(code) && (code as number) >= 400 && (code as number) < 600)) return 'status must be a code from 400 to 599';
  if (afterCommit === true && status === undefined && cut !== true) return 'afterCommit needs status or cut';
  if (watch !== undefined && !['end', 'expire', 'stall', 'cut'].includes(watch)) return 'watch must be end, expire, stall or cut';
  if (afterEvents !== undefined && watch === undefined) return 'afterEvents needs watch';
  return probability !== undefined && !(probability >= 0 && probability <= 1) ? 'probability must be between 0 and 1' : undefined;
}
