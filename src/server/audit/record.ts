// What the audit event of one request is made of. Filters and endpoints record what they learn while the request passes; each stage makes an event
// of what is known by then.
import type { Status } from '../../apimachinery/index.ts';
import type { AuditDecision, AuditStage, User } from '../../auth/index.ts';
import type { Clock, MaybePromise } from '../../base/index.ts';
import { parseJson, stringifyJson } from '../../codec/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { AuditAnnotation } from '../../registry/index.ts';
import type { FilterAuditRecord, ServerExchange } from '../http/exchange.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import type { AuditBackend } from './backend.ts';
import { AuditEvent, TRUNCATED } from './event.ts';
import {
  type Annotations, type AuditedRequest, type EventFields, type EventStatus, type FoundObject, noAnnotations, noteDecision, recallCaller, writeAnnotations,
} from './event-text.ts';
import { LatencyMarks } from './latency.ts';
import { removeManagedFields } from './managed-fields.ts';
import type { RecentWrites } from './recent-writes.ts';

const levelsWithRequest: ReadonlySet<string> = new Set(['Request', 'RequestResponse']);
/** Bodies beyond this are not recorded: the reference has no bound, and one event of a long list would hold up all requests. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** The same where managedFields are removed: a megabyte of JSON takes 20 to 30 ms to parse and write. */
const MAX_PARSED_BYTES = 1024 * 1024;
/** Revisions of one request that are kept: the deletion of a collection makes one for each object. */
const MAX_REVISIONS = 10_000;
/** Stands before the release that removes an API, in the warning about its deprecation. */
const REMOVAL = ', unavailable in v';

/** What all records of a server share. */
export interface RecordParts {
  readonly backend: AuditBackend;
  readonly writes: Pick<RecentWrites, 'add'>;
  readonly clock: Clock;
  readonly wallTime: ReturnType<typeof createWallTime>;
  readonly metrics: AuditMetrics;
}

/** How long the difference between the two clocks is believed; a wall clock that is set shows in events after that. */
const WALL_TIME_MS = 1000;

/** Makes the function from times of the monotonic clock to those of the wall clock. The monotonic one is the finer. */
export function createWallTime(clock: Clock): (monotonicMs: number) => number {
  let [offsetMs, readMs] = [0, -Infinity];
  return (monotonicMs) => {
    if (Math.abs(monotonicMs - readMs) > WALL_TIME_MS) {
      readMs = clock.monotonicMs();
      offsetMs = clock.now() - readMs;
    }
    return monotonicMs + offsetMs;
  };
}

/** The record of one request; `user` is undefined when authentication failed. */
export class RequestAudit implements FilterAuditRecord {
  readonly wantsRequest: boolean;
  readonly wantsResponse: boolean;
  readonly maxResponseBytes: number;
  readonly latency: LatencyMarks;
  readonly #parts: RecordParts;
  readonly #exchange: ServerExchange;
  readonly #user: User | undefined;
  readonly #decision: AuditDecision;
  #request: AuditedRequest | undefined = undefined;
  /** What authorization says, as long as there are no other annotations: then it is one of them. */
  #authorized: 'allow' | 'forbid' | undefined = undefined;
  #reason = '';
  #annotations: Map<string, AuditAnnotation> | undefined = undefined;
  #impersonated: { readonly user: User; readonly constraint: string } | undefined = undefined;
  #found: FoundObject | undefined = undefined;
  #status: EventStatus | undefined = undefined;
  #requestObject: string | undefined = undefined;
  #responseObject: string | undefined = undefined;
  #isResponseLeftOut = false;
  #revisions: number[] | undefined = undefined;
  #deprecation: { readonly removedRelease: string } | undefined = undefined;

  constructor(parts: RecordParts, { exchange, user, decision }: {
    readonly exchange: ServerExchange; readonly user: User | undefined; readonly decision: AuditDecision;
  }) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#user = user;
    this.#decision = decision;
    this.latency = new LatencyMarks(exchange.startedMs);
    this.latency.mark('authentication', parts.clock.monotonicMs());
    this.wantsRequest = levelsWithRequest.has(decision.level);
    this.wantsResponse = decision.level === 'RequestResponse';
    this.maxResponseBytes = decision.omitManagedFields ? MAX_PARSED_BYTES : MAX_BODY_BYTES;
  }

  /** Filled in by filters and admission; shown from the level that each of them names. */
  get annotations(): Map<string, AuditAnnotation> {
    return (this.#annotations ??= new Map(this.#noteDecision().entries.map(([key, value]) => [key, { value, level: 'Metadata' }])));
  }

  recordDecision(decision: 'allow' | 'forbid', { reason, nowMs }: { readonly reason: string; readonly nowMs: number }): void {
    this.latency.mark('authorization', nowMs);
    this.#authorized = decision;
    this.#reason = reason;
    if (this.#annotations !== undefined) for (const [key, value] of this.#noteDecision().entries) this.annotate(key, value);
  }

  #noteDecision(): Annotations {
    return this.#authorized === undefined ? noAnnotations : noteDecision(this.#authorized, this.#reason);
  }

  recordImpersonation(user: User, constraint: string): void {
    this.#impersonated = { user, constraint };
  }

  recordRequestObject(object: unknown): void {
    const { metadata } = (object ?? {}) as { readonly metadata?: Partial<Record<'name' | 'namespace' | 'uid' | 'resourceVersion', string>> };
    if (this.#exchange.info.isResource && metadata) {
      const found = this.#found;
      this.#found = {
        namespace: found?.namespace || (metadata.namespace ?? ''), name: found?.name || (metadata.name ?? ''),
        uid: found?.uid || (metadata.uid ?? ''), resourceVersion: found?.resourceVersion || (metadata.resourceVersion ?? ''),
      };
    }
    if (this.wantsRequest) this.#requestObject = this.#encode(object);
  }

  recordPatch(patch: unknown): void {
    if (this.wantsRequest && patch !== undefined) this.#requestObject = stringifyJson(patch);
  }

  recordStatus({ status, message, reason, details, code }: Partial<Status>): void {
    this.#status = {
      ...(status && { status }), ...(message && { message }), ...(reason && { reason }), ...(details && { details }), ...(code && { code }),
    };
  }

  recordResponseObject(object: unknown): void {
    if ((object as Partial<Status> | undefined)?.kind === 'Status') this.recordStatus(object as Status);
    if (this.wantsResponse) this.#responseObject = this.#encode(object);
  }

  recordResponseJson(json: Uint8Array): void {
    if (!this.wantsResponse) return;
    if (json.length > this.maxResponseBytes) return this.leaveOutResponse();
    this.#responseObject = this.#decision.omitManagedFields ? this.#encode(parseJson(json).value) : Buffer.from(json).toString('utf8').trimEnd();
  }

  leaveOutResponse(): void {
    this.#isResponseLeftOut = true;
    this.annotate(TRUNCATED, 'true');
  }

  recordRevision(revision: number): void {
    const revisions = (this.#revisions ??= []);
    if (revisions.length < MAX_REVISIONS) revisions.push(revision);
  }

  recordDeprecation(warning: string): void {
    const [, removal] = warning.split(REMOVAL);
    this.#deprecation = { removedRelease: removal?.split('+')[0] ?? '' };
  }

  /** Adds an annotation that every level shows; the first value of a key stays. */
  annotate(key: string, value: string): void {
    if (!this.annotations.has(key)) this.annotations.set(key, { value, level: 'Metadata' });
  }

  /** Takes the code of an answer, and the Status of one that was made elsewhere. */
  recordResponse({ status: code, headers, body }: Response): void {
    const isUnknown = code >= 400 ? this.#status === undefined : this.wantsResponse && this.#responseObject === undefined && !this.#isResponseLeftOut;
    if (isUnknown && this.#exchange.info.isResource && typeof body !== 'function' && isPlainJson(headers)) {
      const isWhole = body instanceof Uint8Array;
      const size = isWhole ? body.length : body.reduce((sum, { length }) => sum + length, 0);
      if (code < 400 && size > this.maxResponseBytes) this.leaveOutResponse();
      else this.#recordBody(code, isWhole ? body : Buffer.concat(body));
    }
    this.#status = this.#status === undefined ? recallStatus(code) : { ...this.#status, code };
  }

  #recordBody(code: number, json: Uint8Array): void {
    if (code < 400) this.recordResponseJson(json);
    else this.recordResponseObject(parseJson(json).value);
  }

  /** Makes the event of the end of a request, with the annotations that belong to it. */
  complete(): MaybePromise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#deprecation !== undefined) {
      this.annotate('k8s.io/deprecated', 'true');
      if (this.#deprecation.removedRelease !== '') this.annotate('k8s.io/removed-release', this.#deprecation.removedRelease);
    }
    if (this.latency.isLong(nowMs)) for (const [key, value] of this.latency.describe(nowMs)) this.annotate(key, value);
    return this.process('ResponseComplete', nowMs);
  }

  /** Makes the event of a stage, unless the policy omits it; answers whether it is stored. */
  process(stage: AuditStage, nowMs = this.#parts.clock.monotonicMs()): MaybePromise<boolean> {
    const { omitStages } = this.#decision;
    if (omitStages.has(stage)) return true;
    const { backend, writes, metrics } = this.#parts;
    metrics.recordEvent();
    const event = new AuditEvent(() => this.#describe(stage, nowMs), this.#weigh());
    // The record changes until the last stage.
    if (stage !== 'ResponseComplete') event.settle();
    if (this.#revisions !== undefined) writes.add(event);
    return backend.process([event]);
  }

  #describe(stage: AuditStage, nowMs: number): EventFields {
    const request = this.#recallRequest();
    const { receivedMs } = request;
    return {
      request, level: this.#decision.level, stage, impersonated: this.#impersonated, found: this.#found, status: this.#status,
      requestObject: this.#requestObject, responseObject: this.#responseObject, annotations: this.#showAnnotations(), revisions: this.#revisions,
      stageMs: stage === 'RequestReceived' ? receivedMs : receivedMs + nowMs - this.#exchange.startedMs,
    };
  }

  #recallRequest(): AuditedRequest {
    const { auditId, target, info, startedMs } = this.#exchange;
    return this.#request ??= {
      auditId, requestUri: target, info, caller: recallCaller(this.#exchange, this.#user), receivedMs: this.#parts.wallTime(startedMs),
    };
  }

  /** About as many characters as clients have a part in. */
  #weigh(): number {
    const { target, headers } = this.#exchange;
    return target.length + (headers['x-forwarded-for']?.length ?? 0) + (this.#user === undefined ? 0 : weighUser(this.#user))
      + (this.#requestObject?.length ?? 0) + (this.#responseObject?.length ?? 0);
  }

  #showAnnotations(): Annotations {
    if (this.#annotations === undefined) return this.#noteDecision();
    const shown: [string, string][] = [];
    for (const [key, { value, level }] of this.#annotations) if (level === 'Metadata' || this.wantsRequest) shown.push([key, value]);
    return writeAnnotations(shown);
  }

  #encode(object: unknown): string {
    return stringifyJson(this.#decision.omitManagedFields ? removeManagedFields(object) : object);
  }
}

const isPlainJson = ({ 'content-type': type, 'content-encoding': encoding }: Response['headers']): boolean =>
  encoding === undefined && String(type).startsWith('application/json');

const weighUser = ({ name, groups }: User): number => name.length + groups.reduce((sum, { length }) => sum + length, 0);

/** Statuses of answers that have nothing but their code. */
const statuses = new Map<number, EventStatus>();

function recallStatus(code: number): EventStatus {
  let status = statuses.get(code);
  if (status === undefined) statuses.set(code, status = { code });
  return status;
}
