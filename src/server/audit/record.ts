// What the audit event of one request is made of. Filters and endpoints record what they learn while the request passes; each stage makes an event
// of what is known by then.
import type { Status } from '../../apimachinery/index.ts';
import type { AuditDecision, AuditStage, User } from '../../auth/index.ts';
import type { Clock, MaybePromise } from '../../base/index.ts';
import { parseJson, stringifyJson } from '../../codec/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { AuditAnnotation, WebhookTime } from '../../registry/index.ts';
import type { FilterAuditRecord, ServerExchange } from '../http/exchange.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import type { AuditBackend } from './backend.ts';
import { AuditEvent, type EventSource, type Sketch, TRUNCATED } from './event.ts';
import {
  type Annotations, type AuditedRequest, type Caller, type EventFields, type EventStatus, type FoundObject, noAnnotations, noteDecision, recallCaller,
  writeAnnotations,
} from './event-text.ts';
import { type LatencyMark, type Layer, type WebhookTimes, addWebhook, describeLatency, isLongLatency, noWebhooks } from './latency.ts';
import { removeManagedFields } from './managed-fields.ts';
import type { RecentWrites } from './recent-writes.ts';

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

/** What most records do not have. */
interface RareParts {
  annotations?: Map<string, AuditAnnotation>;
  impersonated?: { readonly user: User; readonly constraint: string };
  found?: FoundObject;
  requestObject?: string;
  responseObject?: string;
  isResponseLeftOut?: boolean;
  revisions?: number[];
  deprecation?: { readonly removedRelease: string };
  marks?: LatencyMark[];
  webhooks?: WebhookTimes;
}

const noRareParts: RareParts = {};

/**
 * The record of one request; `user` is undefined when authentication failed. It is small, because each request makes one that lives as long: with rare
 * parts apart, marks of time that are numbers, and no functions, the event of a get takes 4 instead of 6.6 µs, its share of collections included.
 */
export class RequestAudit implements FilterAuditRecord, EventSource {
  readonly #parts: RecordParts;
  readonly #exchange: ServerExchange;
  readonly #user: User | undefined;
  readonly #decision: AuditDecision;
  readonly #authenticatedMs: number;
  #authorizedMs = Number.NaN;
  #receivedMs = Number.NaN;
  /** What authorization says, as annotations: all that most events have. */
  #authorized: Annotations = noAnnotations;
  #status: EventStatus | undefined = undefined;
  #caller: Caller | undefined = undefined;
  #request: AuditedRequest | undefined = undefined;
  #rare: RareParts | undefined = undefined;
  /** Whether nothing but the request itself was known at its first stage, whose event may be made later. */
  #beganBare = false;

  constructor(parts: RecordParts, exchange: ServerExchange, { user, decision }: { readonly user: User | undefined; readonly decision: AuditDecision }) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#user = user;
    this.#decision = decision;
    this.#authenticatedMs = parts.clock.monotonicMs();
  }

  get wantsRequest(): boolean {
    const { level } = this.#decision;
    return level === 'RequestResponse' || level === 'Request';
  }

  get wantsResponse(): boolean {
    return this.#decision.level === 'RequestResponse';
  }

  get maxResponseBytes(): number {
    return this.#decision.omitManagedFields ? MAX_PARSED_BYTES : MAX_BODY_BYTES;
  }

  /** Filled in by filters and admission; shown from the level that each of them names. */
  get annotations(): Map<string, AuditAnnotation> {
    return (this.#makeRare().annotations ??= new Map(this.#authorized.entries.map(([key, value]) => [key, { value, level: 'Metadata' }])));
  }

  #makeRare(): RareParts {
    return (this.#rare ??= {});
  }

  markLatency(layer: Layer, nowMs: number): void {
    (this.#makeRare().marks ??= []).push([layer, nowMs]);
  }

  recordDecision(decision: 'allow' | 'forbid', { reason, nowMs }: { readonly reason: string; readonly nowMs: number }): void {
    this.#authorizedMs = nowMs;
    this.#authorized = noteDecision(decision, reason);
    if (this.#rare?.annotations !== undefined) for (const [key, value] of this.#authorized.entries) this.annotate(key, value);
  }

  recordImpersonation(user: User, constraint: string): void {
    this.#makeRare().impersonated = { user, constraint };
  }

  recordRequestObject(object: unknown): void {
    const { metadata } = (object ?? {}) as { readonly metadata?: Partial<Record<'name' | 'namespace' | 'uid' | 'resourceVersion', string>> };
    const rare = this.#makeRare();
    if (this.#exchange.info.isResource && metadata) {
      const { found } = rare;
      rare.found = {
        namespace: found?.namespace || (metadata.namespace ?? ''), name: found?.name || (metadata.name ?? ''),
        uid: found?.uid || (metadata.uid ?? ''), resourceVersion: found?.resourceVersion || (metadata.resourceVersion ?? ''),
      };
    }
    if (this.wantsRequest) rare.requestObject = this.#encode(object);
  }

  recordPatch(patch: unknown): void {
    if (this.wantsRequest && patch !== undefined) this.#makeRare().requestObject = stringifyJson(patch);
  }

  recordStatus({ status, message, reason, details, code }: Partial<Status>): void {
    this.#status = {
      ...(status && { status }), ...(message && { message }), ...(reason && { reason }), ...(details && { details }), ...(code && { code }),
    };
  }

  recordResponseObject(object: unknown): void {
    if ((object as Partial<Status> | undefined)?.kind === 'Status') this.recordStatus(object as Status);
    if (this.wantsResponse) this.#makeRare().responseObject = this.#encode(object);
  }

  recordResponseJson(json: Uint8Array): void {
    if (!this.wantsResponse) return;
    if (json.length > this.maxResponseBytes) return this.leaveOutResponse();
    this.#makeRare().responseObject = this.#decision.omitManagedFields ? this.#encode(parseJson(json).value) : Buffer.from(json).toString('utf8').trimEnd();
  }

  leaveOutResponse(): void {
    this.#makeRare().isResponseLeftOut = true;
    this.annotate(TRUNCATED, 'true');
  }

  recordRevision(revision: number): void {
    const revisions = (this.#makeRare().revisions ??= []);
    if (revisions.length < MAX_REVISIONS) revisions.push(revision);
  }

  recordWebhook(call: WebhookTime): void {
    const rare = this.#makeRare();
    rare.webhooks = addWebhook(rare.webhooks ?? noWebhooks, call);
  }

  recordDeprecation(warning: string): void {
    const [, removal] = warning.split(REMOVAL);
    this.#makeRare().deprecation = { removedRelease: removal?.split('+')[0] ?? '' };
  }

  /** Adds an annotation that every level shows; the first value of a key stays. */
  annotate(key: string, value: string): void {
    if (!this.annotations.has(key)) this.annotations.set(key, { value, level: 'Metadata' });
  }

  /** Takes the code of an answer, and the Status of one that was made elsewhere. */
  recordResponse({ status: code, headers, body }: Response): void {
    const rare = this.#rare;
    const isUnknown = code >= 400 ? this.#status === undefined : this.wantsResponse && !rare?.isResponseLeftOut && rare?.responseObject === undefined;
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
    const deprecation = this.#rare?.deprecation;
    if (deprecation !== undefined) {
      this.annotate('k8s.io/deprecated', 'true');
      if (deprecation.removedRelease !== '') this.annotate('k8s.io/removed-release', deprecation.removedRelease);
    }
    // A watch takes as long as its client wants.
    if (this.#exchange.info.verb !== 'watch' && isLongLatency(nowMs - this.#exchange.startedMs)) this.#annotateLatency(nowMs);
    return this.process('ResponseComplete', nowMs);
  }

  #annotateLatency(nowMs: number): void {
    const marks: LatencyMark[] = [['authentication', this.#authenticatedMs], ...(this.#rare?.marks ?? [])];
    if (!Number.isNaN(this.#authorizedMs)) marks.push(['authorization', this.#authorizedMs]);
    const course = { startedMs: this.#exchange.startedMs, marks, webhooks: this.#rare?.webhooks, endedMs: nowMs };
    for (const [key, value] of describeLatency(course)) this.annotate(key, value);
  }

  /** Makes the event of a stage, unless the policy omits it; answers whether it is stored. */
  process(stage: AuditStage, nowMs = this.#parts.clock.monotonicMs()): MaybePromise<boolean> {
    const { omitStages } = this.#decision;
    if (omitStages.has(stage)) return true;
    const { backend, writes, metrics } = this.#parts;
    metrics.recordEvent();
    const event = new AuditEvent(this, { stage, nowMs, weight: this.#weigh(), fields: undefined });
    // The record changes until the last stage; what the first one says of most requests follows from what does not.
    if (stage === 'RequestReceived') this.#beganBare = this.#rare === undefined;
    // A request that was given up may still be at work; what comes of it later is not what its event reports.
    if (stage === 'ResponseComplete' && this.#exchange.aborted) event.settle();
    if (stage === 'ResponseStarted' || stage === 'Panic' || (stage === 'RequestReceived' && !this.#beganBare)) event.settle();
    if (this.#rare?.revisions !== undefined) writes.add(event);
    return backend.process([event]);
  }

  describe(stage: AuditStage, nowMs: number): EventFields {
    const { auditId, target, info } = this.#exchange;
    const request = (this.#request ??= { auditId, requestUri: target, info, caller: this.#recallCaller(), receivedMs: this.#recallReceived() });
    const isBare = stage === 'RequestReceived' && this.#beganBare;
    const { impersonated, found, requestObject, responseObject, revisions } = (isBare ? undefined : this.#rare) ?? noRareParts;
    return {
      request, level: this.#decision.level, stage, impersonated, found, status: isBare ? undefined : this.#status, requestObject, responseObject,
      annotations: isBare ? noAnnotations : this.#showAnnotations(), revisions, stageMs: this.#stageMs(stage, request.receivedMs, nowMs),
    };
  }

  sketch(sketch: Sketch, stage: AuditStage, nowMs: number): Caller | undefined {
    const isBare = stage === 'RequestReceived' && this.#beganBare;
    if (this.#rare !== undefined && !isBare) return undefined;
    const exchange = this.#exchange;
    sketch.fill(this.#decision.level, stage, exchange.info);
    sketch.status = isBare ? undefined : this.#status;
    sketch.annotations = isBare ? noAnnotations : this.#authorized;
    sketch.requestUri = exchange.target;
    sketch.auditId = exchange.auditId;
    sketch.receivedMs = this.#recallReceived();
    sketch.stageMs = this.#stageMs(stage, sketch.receivedMs, nowMs);
    return this.#recallCaller();
  }

  /** One time for all stages, though the wall clock may be set between them. */
  #recallReceived(): number {
    if (Number.isNaN(this.#receivedMs)) this.#receivedMs = this.#parts.wallTime(this.#exchange.startedMs);
    return this.#receivedMs;
  }

  #stageMs(stage: AuditStage, receivedMs: number, nowMs: number): number {
    return stage === 'RequestReceived' ? receivedMs : receivedMs + nowMs - this.#exchange.startedMs;
  }

  #recallCaller(): Caller {
    return (this.#caller ??= recallCaller(this.#exchange, this.#user));
  }

  /** About as many characters as clients have a part in. */
  #weigh(): number {
    const weight = this.#exchange.target.length + this.#recallCaller().weight;
    const rare = this.#rare;
    return rare === undefined ? weight : weight + (rare.requestObject?.length ?? 0) + (rare.responseObject?.length ?? 0);
  }

  #showAnnotations(): Annotations {
    const annotations = this.#rare?.annotations;
    if (annotations === undefined) return this.#authorized;
    const shown: [string, string][] = [];
    for (const [key, { value, level }] of annotations) if (level === 'Metadata' || this.wantsRequest) shown.push([key, value]);
    return writeAnnotations(shown);
  }

  #encode(object: unknown): string {
    return stringifyJson(this.#decision.omitManagedFields ? removeManagedFields(object) : object);
  }
}

const isPlainJson = ({ 'content-type': type, 'content-encoding': encoding }: Response['headers']): boolean =>
  encoding === undefined && String(type).startsWith('application/json');

/** Statuses of answers that have nothing but their code. */
const statuses = new Map<number, EventStatus>();

function recallStatus(code: number): EventStatus {
  let status = statuses.get(code);
  if (status === undefined) statuses.set(code, status = { code });
  return status;
}
