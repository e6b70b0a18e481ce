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
import { AuditEvent, AuditedRequest, type EventStatus, type ObjectReference, TRUNCATED } from './event.ts';
import { LatencyMarks } from './latency.ts';
import { removeManagedFields } from './managed-fields.ts';
import { listSourceIps } from './source-ips.ts';

/** Bytes of user agents that events show. */
const MAX_USER_AGENT_LENGTH = 1024;
const levelsWithRequest: ReadonlySet<string> = new Set(['Request', 'RequestResponse']);
/** Bodies beyond this are not recorded: the reference has no bound, and one event of a long list would hold up all requests. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** The same where managedFields are removed: a megabyte of JSON takes 20 to 30 ms to parse and write. */
const MAX_PARSED_BYTES = 1024 * 1024;
/** Stands before the release that removes an API, in the warning about its deprecation. */
const REMOVAL = ', unavailable in v';

/** What all records of a server share. */
export interface RecordParts {
  readonly backend: AuditBackend;
  readonly clock: Clock;
  readonly metrics: AuditMetrics;
}

/** The record of one request; `user` is undefined when authentication failed. */
export class RequestAudit implements FilterAuditRecord {
  readonly wantsRequest: boolean;
  readonly wantsResponse: boolean;
  readonly maxResponseBytes: number;
  /** Filled in by filters and admission; shown from the level that each of them names. */
  readonly annotations = new Map<string, AuditAnnotation>();
  readonly latency: LatencyMarks;
  readonly #parts: RecordParts;
  readonly #exchange: ServerExchange;
  readonly #decision: AuditDecision;
  readonly #request: AuditedRequest;
  #impersonated: { readonly user: User; readonly constraint: string } | undefined;
  #objectRef: ObjectReference | undefined;
  #status: EventStatus | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;
  #isResponseLeftOut = false;
  #deprecation: { readonly removedRelease: string } | undefined;

  constructor(parts: RecordParts, { exchange, user, decision }: {
    readonly exchange: ServerExchange; readonly user: User | undefined; readonly decision: AuditDecision;
  }) {
    const { clock } = parts;
    this.#parts = parts;
    this.#exchange = exchange;
    this.#decision = decision;
    const { auditId, target, info: { verb }, headers } = exchange;
    const { 'user-agent': userAgent = '' } = headers;
    this.#request = new AuditedRequest({
      auditId, requestUri: target, verb, user, sourceIps: listSourceIps(exchange),
      userAgent: userAgent.length > MAX_USER_AGENT_LENGTH ? `${userAgent.slice(0, MAX_USER_AGENT_LENGTH)}...TRUNCATED` : userAgent,
      receivedMs: clock.now() - (clock.monotonicMs() - exchange.startedMs), connection: exchange.connection,
    });
    this.latency = new LatencyMarks(clock, exchange.startedMs);
    this.wantsRequest = levelsWithRequest.has(decision.level);
    this.wantsResponse = decision.level === 'RequestResponse';
    this.maxResponseBytes = decision.omitManagedFields ? MAX_PARSED_BYTES : MAX_BODY_BYTES;
    const { isResource, resource, namespace, name, group, version, subresource } = exchange.info;
    if (isResource) this.#objectRef = { resource, namespace, name, uid: '', group, apiVersion: version, resourceVersion: '', subresource };
  }

  recordImpersonation(user: User, constraint: string): void {
    this.#impersonated = { user, constraint };
  }

  recordRequestObject(object: unknown): void {
    const { metadata } = (object ?? {}) as { readonly metadata?: Partial<Record<'name' | 'namespace' | 'uid' | 'resourceVersion', string>> };
    const known = this.#objectRef;
    if (known !== undefined && metadata) {
      this.#objectRef = {
        ...known, namespace: known.namespace || (metadata.namespace ?? ''), name: known.name || (metadata.name ?? ''),
        uid: known.uid || (metadata.uid ?? ''), resourceVersion: known.resourceVersion || (metadata.resourceVersion ?? ''),
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
    const isJson = String(headers['content-type']).startsWith('application/json') && headers['content-encoding'] === undefined;
    const { isResource } = this.#exchange.info;
    const isWanted = this.wantsResponse && this.#responseObject === undefined && !this.#isResponseLeftOut;
    const isUnknown = code >= 400 ? this.#status === undefined : isWanted;
    if (isResource && isJson && isUnknown && typeof body !== 'function') {
      const isWhole = body instanceof Uint8Array;
      const size = isWhole ? body.length : body.reduce((sum, { length }) => sum + length, 0);
      if (code < 400 && size > this.maxResponseBytes) this.leaveOutResponse();
      else this.#recordBody(code, isWhole ? body : Buffer.concat(body));
    }
    this.#status = { ...this.#status, code };
  }

  #recordBody(code: number, json: Uint8Array): void {
    if (code < 400) this.recordResponseJson(json);
    else this.recordResponseObject(parseJson(json).value);
  }

  /** Annotations that belong to the end of a request. */
  complete(): void {
    if (this.#deprecation !== undefined) {
      this.annotate('k8s.io/deprecated', 'true');
      if (this.#deprecation.removedRelease !== '') this.annotate('k8s.io/removed-release', this.#deprecation.removedRelease);
    }
    for (const [key, value] of this.latency.describe()) this.annotate(key, value);
  }

  /** Makes the event of a stage, unless the policy omits it; answers whether it is stored. */
  process(stage: AuditStage): MaybePromise<boolean> {
    if (this.#decision.omitStages.has(stage)) return true;
    const { backend, clock, metrics } = this.#parts;
    const { receivedMs } = this.#request;
    metrics.recordEvent();
    return backend.process([new AuditEvent({
      request: this.#request, level: this.#decision.level, stage, impersonated: this.#impersonated, objectRef: this.#objectRef, status: this.#status,
      requestObject: this.#requestObject, responseObject: this.#responseObject, annotations: this.#showAnnotations(),
      stageMs: stage === 'RequestReceived' ? receivedMs : receivedMs + clock.monotonicMs() - this.#exchange.startedMs,
    })]);
  }

  #showAnnotations(): [string, string][] {
    const shown: [string, string][] = [];
    for (const [key, { value, level }] of this.annotations) if (level === 'Metadata' || this.wantsRequest) shown.push([key, value]);
    return shown;
  }

  #encode(object: unknown): string {
    return stringifyJson(this.#decision.omitManagedFields ? removeManagedFields(object) : object);
  }
}
