// One audit event on its way through the backends, and the line of the legacy format.
import { type EventFields, encodeEvent, writeAnnotations } from './event-text.ts';

/** The annotation of events whose bodies are too large. */
export const TRUNCATED = 'audit.k8s.io/truncated';

/** An event; its JSON is made once. */
export class AuditEvent {
  readonly fields: EventFields;
  #json: string | undefined = undefined;
  #bytes: number | undefined = undefined;

  constructor(fields: EventFields) {
    this.fields = fields;
  }

  get hasBodies(): boolean {
    return this.fields.requestObject !== undefined || this.fields.responseObject !== undefined;
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
