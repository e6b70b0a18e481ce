// One audit event on its way through the backends, and the line of the legacy format.
import { type EventFields, cutLine, encodeEvent, writeAnnotations } from './event-text.ts';
import type { CutLine, StencilEvent } from './stencil.ts';

/** The annotation of events whose bodies are too large. */
export const TRUNCATED = 'audit.k8s.io/truncated';

/** An event. Its fields and its JSON are made once, and not before they are asked for: those of the log are made when it is written. */
export class AuditEvent implements StencilEvent {
  #fields: EventFields | (() => EventFields);
  #json: string | undefined = undefined;
  #bytes: number | undefined = undefined;
  /** About as many characters as clients have a part in: of bodies, of paths, of what is said of callers. */
  readonly weight: number;

  constructor(fields: EventFields | (() => EventFields), weight = 0) {
    this.#fields = fields;
    this.weight = weight;
  }

  /** Makes the fields of this moment those of the event. */
  settle(): void {
    void this.fields;
  }

  get fields(): EventFields {
    const fields = this.#fields;
    return typeof fields === 'function' ? this.#fields = fields() : fields;
  }

  get level(): string {
    return this.fields.level;
  }

  get stage(): string {
    return this.fields.stage;
  }

  get status(): object | undefined {
    return this.fields.status;
  }

  get annotations(): object {
    return this.fields.annotations;
  }

  get verb(): string {
    return this.fields.request.info.verb;
  }

  get namespace(): string {
    return this.fields.request.info.namespace;
  }

  get name(): string {
    return this.fields.request.info.name;
  }

  get requestUri(): string {
    return this.fields.request.requestUri;
  }

  get auditId(): string {
    return this.fields.request.auditId;
  }

  get receivedMs(): number {
    return this.fields.request.receivedMs;
  }

  get stageMs(): number {
    return this.fields.stageMs;
  }

  cut(): CutLine | undefined {
    return cutLine(this.fields);
  }

  /** Writes its line where a stencil of its caller fits; answers the end of the line, or `at`. */
  fill(bytes: Uint8Array, at: number): number {
    const { request, impersonated, found, requestObject, responseObject } = this.fields;
    const isSimple = impersonated === undefined && found === undefined && requestObject === undefined && responseObject === undefined;
    return isSimple ? request.caller.stencils.write(this, bytes, at) : at;
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
    return new AuditEvent({ ...this.fields, requestObject: undefined, responseObject: undefined, annotations });
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
