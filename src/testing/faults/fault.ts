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
  /**
   * A watch: `end` closes it, `expire` sends an ERROR event of 410 first, `stall` keeps it open and silent, `cut` breaks it off; `bookmark` gives one
   * that allows bookmarks a BOOKMARK event at once, and continues.
   */
  readonly watch?: 'end' | 'expire' | 'stall' | 'cut' | 'bookmark';
  /** With `watch`: after so many events; 0 when absent. */
  readonly afterEvents?: number;
  /**
   * Gets and lists show the state at a resourceVersion, as a cache that is behind does; `true`: that of the moment at which the fault was added. A request
   * for a later resourceVersion is refused with 504.
   */
  readonly stale?: true | number;
}

/** A webhook whose calls fail: those to URLs or Services (`namespace/name`) that contain the text; '' for all. */
export interface WebhookFault {
  readonly webhook: string;
  /** `timeout`: as if no answer came in time; `refuse`: as if the port were closed. */
  readonly outcome: 'timeout' | 'refuse';
  readonly times?: number;
}

/** A server whose time is ahead of its clock (or behind, below 0); the fault added last counts. Connections are not affected. */
export interface SkewFault {
  readonly clockSkewMs: number;
}

/** A fault of requests, of calls of webhooks, or of the time. */
export type Fault = (FaultMatch & FaultEffect) | WebhookFault | SkewFault;

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

/** What a field takes, and what an error says of it. */
interface Field {
  readonly fits: (value: unknown) => boolean;
  readonly wanted: string;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0;
const oneOrMore = (fits: Field['fits']): Field['fits'] => (value) => fits(value) || (Array.isArray(value) && value.every(fits));
const between = (low: number, high: number): Field['fits'] => (value) => typeof value === 'number' && value >= low && value <= high;
const oneOf = (...values: readonly unknown[]): Field['fits'] => (value) => values.includes(value);

const texts: Field = { fits: oneOrMore(isText), wanted: 'a text or a list of texts' };
const flag: Field = { fits: oneOf(true, false), wanted: 'true or false' };
const statusFields: Readonly<Record<string, Field['fits']>> = {
  code: isStatusCode, reason: isText, message: isText, retryAfterSeconds: between(0, Number.MAX_SAFE_INTEGER),
};

function isStatusCode(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600;
}

/** A code, or an object that has one and no field beside those of FaultStatus. */
function isStatus(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isStatusCode(value);
  return 'code' in value && Object.entries(value).every(([key, part]) => part === undefined || statusFields[key]?.(part) === true);
}

/** A hundred years. */
const MAX_SKEW_MS = 100 * 365 * 86_400_000;

const fields: ReadonlyMap<string, Field> = new Map(Object.entries({
  user: texts, verb: texts, group: texts, resource: texts, namespace: texts, name: texts,
  nth: { fits: oneOrMore(isCount), wanted: 'a number from 1 on or a list of such' }, times: { fits: isCount, wanted: 'a number from 1 on' },
  probability: { fits: between(0, 1), wanted: 'between 0 and 1' }, latencyMs: { fits: between(0, 2 ** 31 - 1), wanted: 'a number of milliseconds' },
  status: { fits: isStatus, wanted: 'a code from 400 to 599, or such a code with reason, message and retryAfterSeconds' },
  afterCommit: flag, cut: flag, watch: { fits: oneOf('end', 'expire', 'stall', 'cut', 'bookmark'), wanted: 'end, expire, stall, cut or bookmark' },
  afterEvents: { fits: (value) => value === 0 || isCount(value), wanted: 'a number from 0 on' },
  stale: { fits: (value) => value === true || isCount(value), wanted: 'true or a resourceVersion as a number' },
  webhook: { fits: isText, wanted: 'a text' }, outcome: { fits: oneOf('timeout', 'refuse'), wanted: 'timeout or refuse' },
  clockSkewMs: { fits: between(-MAX_SKEW_MS, MAX_SKEW_MS), wanted: 'a number of milliseconds' },
} satisfies Record<string, Field>));
const webhookFields: ReadonlySet<string> = new Set(['webhook', 'outcome', 'times']);

/** Why a fault cannot be; undefined when it can. */
export function findFaultProblem(fault: unknown): string | undefined {
  if (typeof fault !== 'object' || fault === null) return 'a fault is an object';
  const given = Object.entries(fault).filter(([, value]) => value !== undefined);
  for (const [key, value] of given) {
    const field = fields.get(key);
    if (field === undefined) return `unknown field ${key}`;
    if (!field.fits(value)) return `${key} must be ${field.wanted}`;
  }
  const names = new Set(given.map(([key]) => key));
  if (names.has('clockSkewMs')) {
    const foreign = [...names].find((key) => key !== 'clockSkewMs');
    return foreign && `a fault of the clock has no ${foreign}`;
  }
  if (names.has('webhook')) {
    const foreign = [...names].find((key) => !webhookFields.has(key));
    if (foreign !== undefined) return `a webhook fault has no ${foreign}`;
    return names.has('outcome') ? undefined : 'a webhook fault needs an outcome';
  }
  if (names.has('outcome')) return 'outcome needs webhook';
  if (!effects.some((effect) => names.has(effect))) return `nothing happens: one of ${effects.join(', ')} is needed`;
  const { afterCommit, status, cut, afterEvents, watch } = fault as FaultEffect;
  if (afterCommit === true && status === undefined && cut !== true) return 'afterCommit needs status or cut';
  return afterEvents !== undefined && watch === undefined ? 'afterEvents needs watch' : undefined;
}
