// One audit event: its JSON as audit.k8s.io/v1 orders the fields, and the line of the legacy format.
import type { Status } from '../../apimachinery/index.ts';
import type { AuditLevel, AuditStage, User } from '../../auth/index.ts';
import { stringifyJson } from '../../codec/index.ts';

/** The object that a request is about; empty fields are absent from events. */
export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** The parts of a Status that events show. */
export type EventStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>>;

/** What an event says. `requestObject` and `responseObject` are JSON texts. */
export interface EventFields {
  readonly level: AuditLevel;
  readonly stage: AuditStage;
  readonly auditId: string;
  readonly requestUri: string;
  readonly verb: string;
  /** undefined: authentication failed. */
  readonly user: User | undefined;
  readonly impersonated: { readonly user: User; readonly constraint: string } | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly status: EventStatus | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly receivedMs: number;
  readonly stageMs: number;
  readonly annotations: ReadonlyMap<string, string>;
}

/** JSON texts of users: requests of one client bring the same object again and again. */
const userTexts = new WeakMap<User, string>();

function encodeUser(user: User | undefined): string {
  if (user === undefined) return '{}';
  let text = userTexts.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    text = stringifyJson({
      ...(name !== '' && { username: name }), ...(uid && { uid }), ...(groups.length > 0 && { groups }),
      ...(extra !== undefined && Object.keys(extra).length > 0 && { extra: sortFields(extra) }),
    });
    userTexts.set(user, text);
  }
  return text;
}

/** Go writes maps in the order of their keys. */
function sortFields<T>(fields: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(fields).sort(([one], [two]) => (one < two ? -1 : 1)));
}

function encodeReference({ resource, namespace, name, uid, group, apiVersion, resourceVersion, subresource }: ObjectReference): string {
  return stringifyJson({
    ...(resource !== '' && { resource }), ...(namespace !== '' && { namespace }), ...(name !== '' && { name }), ...(uid !== '' && { uid }),
    ...(group !== '' && { apiGroup: group }), ...(apiVersion !== '' && { apiVersion }), ...(resourceVersion !== '' && { resourceVersion }),
    ...(subresource !== '' && { subresource }),
  });
}

/** Microseconds as metav1.MicroTime writes them; the clock counts milliseconds. */
const formatTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`;

function encodeFields(event: EventFields): string {
  const { impersonated, sourceIps, userAgent, objectRef, status, requestObject, responseObject, annotations } = event;
  const head = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${event.level}","auditID":${stringifyJson(event.auditId)},"stage":"${event.stage}"`;
  const request = `,"requestURI":${stringifyJson(event.requestUri)},"verb":${stringifyJson(event.verb)},"user":${encodeUser(event.user)}`;
  let text = head + request;
  if (impersonated !== undefined) {
    text += `,"impersonatedUser":${encodeUser(impersonated.user)}`;
    if (impersonated.constraint !== '') text += `,"authenticationMetadata":${stringifyJson({ impersonationConstraint: impersonated.constraint })}`;
  }
  if (sourceIps.length > 0) text += `,"sourceIPs":${stringifyJson(sourceIps)}`;
  if (userAgent !== '') text += `,"userAgent":${stringifyJson(userAgent)}`;
  if (objectRef !== undefined) text += `,"objectRef":${encodeReference(objectRef)}`;
  if (status !== undefined) text += `,"responseStatus":${stringifyJson({ metadata: {}, ...status })}`;
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`;
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`;
  text += `,"requestReceivedTimestamp":"${formatTime(event.receivedMs)}","stageTimestamp":"${formatTime(event.stageMs)}"`;
  if (annotations.size > 0) text += `,"annotations":${stringifyJson(sortFields(Object.fromEntries(annotations)))}`;
  return `${text}}`;
}

/** The annotation of events whose bodies are too large. */
export const TRUNCATED = 'audit.k8s.io/truncated';

/** An event on its way through the backends; its JSON is made once. */
export class AuditEvent {
  readonly fields: EventFields;
  #json: string | undefined;

  constructor(fields: EventFields) {
    this.fields = fields;
  }

  get json(): string {
    return (this.#json ??= encodeFields(this.fields));
  }

  /** The event without its bodies, marked as truncated. */
  truncate(): AuditEvent {
    return new AuditEvent({
      ...this.fields, requestObject: undefined, responseObject: undefined, annotations: new Map([...this.fields.annotations, [TRUNCATED, 'true']]),
    });
  }
}

const quoteList = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(',');

/** The event as one line of the legacy format. */
export function formatLegacy({ fields }: AuditEvent): string {
  const { user, impersonated, objectRef, status, sourceIps } = fields;
  const groups = user === undefined || user.groups.length === 0 ? '<none>' : quoteList(user.groups);
  const shown = {
    id: fields.auditId, stage: fields.stage, ip: sourceIps[0] ?? '<unknown>', method: fields.verb,
    user: user === undefined || user.name === '' ? '<none>' : user.name, groups, as: impersonated?.user.name ?? '<self>',
    asgroups: impersonated === undefined ? '<lookup>' : quoteList(impersonated.user.groups), 'user-agent': fields.userAgent,
    namespace: objectRef?.namespace || '<none>', uri: fields.requestUri, response: status === undefined ? '<deferred>' : String(status.code ?? 0),
  };
  const time = new Date(fields.receivedMs).toISOString();
  return `${time} AUDIT: ${Object.entries(shown).map(([name, text]) => `${name}=${JSON.stringify(text)}`).join(' ')}`;
}
