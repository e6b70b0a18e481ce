// One audit event on its way through the backends, and the line of the legacy format.
import type { AuditStage } from '../../auth/index.ts';
import type { RequestInfo } from '../../endpoints/index.ts';
import { type Caller, type EventFields, cutLine, encodeEvent, noAnnotations, writeAnnotations } from './event-text.ts';
import type { CutLine, StencilEvent } from './stencil.ts';

/** The annotation of events whose bodies are too large. */
export const TRUNCATED = 'audit.k8s.io/truncated';

/** What an event is made of, when it is asked for. */
export interface EventSource {
  describe(stage: AuditStage, nowMs: number): EventFields;
  /** Fills the sketch; answers the caller whose stencils it may fit, undefined where it has more than a stencil has holes for. */
  sketch(sketch: Sketch, stage: AuditStage, nowMs: number): Caller | undefined;
}

/** What stencils see of an event. All events share one, which each of them fills again: it leaves nothing to collect. */
export class Sketch implements StencilEvent {
  level = '';
  stage = '';
  status: object | undefined = undefined;
  annotations: object = noAnnotations;
  verb = '';
  namespace = '';
  name = '';
  requestUri = '';
  auditId = '';
  receivedMs = Number.NaN;
  stageMs = Number.NaN;
  event: AuditEvent | undefined = undefined;

  /** Takes the fields that come together; the others are set one by one. */
  fill(level: string, stage: string, { verb, namespace, name }: RequestInfo): void {
    this.level = level;
    this.stage = stage;
    this.verb = verb;
    this.namespace = namespace;
    this.name = name;
  }

  cut(): CutLine | undefined {
    return this.event && cutLine(this.event.fields);
  }
}

const sketch = new Sketch();

function sketchFields(fields: EventFields): Caller | undefined {
  const { request, level, stage, impersonated, found, status, requestObject, responseObject, annotations, stageMs } = fields;
  if (impersonated !== undefined || found !== undefined || requestObject !== undefined || responseObject !== undefined) return undefined;
  sketch.fill(level, stage, request.info);
  sketch.status = status;
  sketch.annotations = annotations;
  sketch.requestUri = request.requestUri;
  sketch.auditId = request.auditId;
  sketch.receivedMs = request.receivedMs;
  sketch.stageMs = stageMs;
  return request.caller;
}

/** When an event is made, and of which stage; `fields` where it has no source. */
interface EventParts {
  readonly stage: AuditStage;
  readonly nowMs: number;
  readonly weight: number;
  readonly fields: EventFields | undefined;
}

/** An event. Its fields and its JSON are made once, and not before they are asked for: those of the log are made when it is written. */
export class AuditEvent {
  /** Let go with the first look at the fields: an event may wait for long, and its source holds the request. */
  #source: EventSource | undefined;
  readonly #stage: AuditStage;
  readonly #nowMs: number;
  #fields: EventFields | undefined;
  #json: string | undefined = undefined;
  #bytes: number | undefined = undefined;
  /** About as many characters as clients have a part in: of bodies, of paths, of what is said of callers. */
  readonly weight: number;

  constructor(source: EventSource | undefined, { stage, nowMs, weight, fields }: EventParts) {
    this.#source = source;
    this.#stage = stage;
    this.#nowMs = nowMs;
    this.#fields = fields;
    this.weight = weight;
  }

  static of(fields: EventFields, weight = 0): AuditEvent {
    return new AuditEvent(undefined, { stage: fields.stage, nowMs: fields.stageMs, weight, fields });
  }

  /** Makes the fields of this moment those of the event. */
  settle(): void {
    void this.fields;
  }

  get fields(): EventFields {
    this.#fields ??= (this.#source as EventSource).describe(this.#stage, this.#nowMs);
    this.#source = undefined;
    return this.#fields;
  }

  /** Writes its line where a stencil of its caller fits; answers the end of the line, or `at`. */
  fill(bytes: Uint8Array, at: number): number {
    const fields = this.#fields;
    const caller = fields === undefined ? this.#source?.sketch(sketch, this.#stage, this.#nowMs) : sketchFields(fields);
    if (caller === undefined) return at;
    sketch.event = this;
    return caller.stencils.write(sketch, bytes, at);
  }

  get json(): string {
    return (this.#json ??= encodeEvent(this.fields));
  }

  /** The length of its line: with the newline that the reference's encoder writes. */
  get bytes(): number {
    return (this.#bytes ??= Buffer.byteLength(this.json) + 1);
  }

  /** The event without its bodies, marked as truncated. */
  truncate(): AuditEvent {
    const annotations = writeAnnotations([...this.fields.annotations.entries, [TRUNCATED, 'true']]);
    return AuditEvent.of({ ...this.fields, requestObject: undefined, responseObject: undefined, annotations });
  }
}

const quoteList = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(',');

/** The event as one line of the legacy format. */
export function formatLegacy({ fields }: AuditEvent): string {
  const { request: { auditId, requestUri, receivedMs, info, caller: { user, sourceIps, userAgent } }, impersonated, found, status } = fields;
  const groups = user === undefined || user.groups.length === 0 ? '<none>' : quoteList(user.groups);
  const shown = {
    id: auditId, stage: fields.stage, ip: sourceIps[0] ?? '<unknown>', method: info.verb,
    user: user === undefined || user.name === '' ? '<none>' : user.name, groups, as: impersonated?.user.name ?? '<self>',
    asgroups: impersonated === undefined ? '<lookup>' : quoteList(impersonated.user.groups), 'user-agent': userAgent,
    namespace: (info.isResource && (info.namespace || found?.namespace)) || '<none>', uri: requestUri,
    response: status === undefined ? '<deferred>' : String(status.code ?? 0),
  };
  const time = new Date(receivedMs).toISOString();
  return `${time} AUDIT: ${Object.entries(shown).map(([name, text]) => `${name}=${JSON.stringify(text)}`).join(' ')}`;
}
