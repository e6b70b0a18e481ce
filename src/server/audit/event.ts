// One audit event: its JSON as audit.k8s.io/v1 orders the fields, and the line of the legacy format.
import { formatSecond } from '../../base/index.ts';
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

/** The part of events that all stages of a request share; its JSON is made once. */
export class AuditedRequest {
  readonly auditId: string;
  readonly requestUri: string;
  readonly verb: string;
  /** undefined: authentication failed. */
  readonly user: User | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly receivedMs: number;
  /** What the request came by: one object for each connection. */
  readonly #connection: object;
  #head: string | undefined;
  #origin: string | undefined;

  constructor({ auditId, requestUri, verb, user, sourceIps, userAgent, receivedMs, connection }:
  Omit<AuditedRequest, 'head' | 'origin'> & { readonly connection: object }) {
    this.#connection = connection;
    this.auditId = auditId;
    this.requestUri = requestUri;
    this.verb = verb;
    this.user = user;
    this.sourceIps = sourceIps;
    this.userAgent = userAgent;
    this.receivedMs = receivedMs;
  }

  /** The fields behind the stage. */
  get head(): string {
    return (this.#head ??= `,"requestURI":${quote(this.requestUri)},"verb":"${this.verb}","user":${encodeUser(this.user)}`);
  }

  /** The fields in front of the reference to the object. */
  get origin(): string {
    return (this.#origin ??= recallOrigin(this.#connection, this));
  }
}

/** What an event says. `requestObject` and `responseObject` are JSON texts. */
export interface EventFields {
  readonly request: AuditedRequest;
  readonly level: AuditLevel;
  readonly stage: AuditStage;
  readonly impersonated: { readonly user: User; readonly constraint: string } | undefined;
  readonly objectRef: ObjectReference | undefined;
  readonly status: EventStatus | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly stageMs: number;
  readonly annotations: readonly (readonly [key: string, value: string])[];
}

interface Origin {
  readonly userAgent: string;
  readonly sourceIps: string;
  readonly text: string;
}

/** JSON texts of where requests come from: those of one connection come from the same place again and again. */
const origins = new WeakMap<object, Origin>();

function recallOrigin(connection: object, { sourceIps: addresses, userAgent }: Pick<AuditedRequest, 'sourceIps' | 'userAgent'>): string {
  const sourceIps = addresses.length === 1 ? addresses[0] as string : addresses.join();
  const known = origins.get(connection);
  if (known !== undefined && known.userAgent === userAgent && known.sourceIps === sourceIps) return known.text;
  const shown = addresses.length === 0 ? '' : `,"sourceIPs":[${addresses.map(quote).join(',')}]`;
  const text = `${shown}${encodeField('userAgent', userAgent)}`;
  origins.set(connection, { userAgent, sourceIps, text });
  return text;
}

const plainText = /^[\w./:@%?=,+ ()-]*$/;

/** A text as JSON. The texts of most requests need no escapes, and finding that out takes a tenth of the time. */
const quote = (text: string): string => (plainText.test(text) ? `"${text}"` : stringifyJson(text));

const encodeField = (name: string, text: string): string => (text === '' ? '' : `,"${name}":${quote(text)}`);

/** JSON texts of users: requests of one client bring the same object again and again. */
const userTexts = new WeakMap<User, string>();

function encodeUser(user: User | undefined): string {
  if (user === undefined) return '{}';
  let text = userTexts.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    text = stringifyJson({
      ...(name !== '' && { username: name }), ...(uid && { uid }), ...(groups.length > 0 && { groups }),
      ...(extra !== undefined && Object.keys(extra).length > 0 && { extra: Object.fromEntries(sortByKey(Object.entries(extra))) }),
    });
    userTexts.set(user, text);
  }
  return text;
}

/** Go writes maps in the order of their keys. */
const sortByKey = <T>(fields: readonly (readonly [string, T])[]): (readonly [string, T])[] => [...fields].sort(([one], [two]) => (one < two ? -1 : 1));

/** The text of the last reference: the stages of a request share one, and are often written one after the other. */
let lastReference: { readonly reference: ObjectReference | undefined; readonly text: string } = { reference: undefined, text: '' };

function encodeReference(reference: ObjectReference): string {
  if (lastReference.reference !== reference) lastReference = { reference, text: formatReference(reference) };
  return lastReference.text;
}

function formatReference({ resource, namespace, name, uid, group, apiVersion, resourceVersion, subresource }: ObjectReference): string {
  let text = resource === '' ? '' : `,"resource":${quote(resource)}`;
  if (namespace !== '') text += `,"namespace":${quote(namespace)}`;
  if (name !== '') text += `,"name":${quote(name)}`;
  if (uid !== '') text += `,"uid":${quote(uid)}`;
  if (group !== '') text += `,"apiGroup":${quote(group)}`;
  if (apiVersion !== '') text += `,"apiVersion":${quote(apiVersion)}`;
  if (resourceVersion !== '') text += `,"resourceVersion":${quote(resourceVersion)}`;
  if (subresource !== '') text += `,"subresource":${quote(subresource)}`;
  return `,"objectRef":{${text.slice(1)}}`;
}

function encodeStatus({ code, status, message, reason, details }: EventStatus): string {
  if (!status && !message && !reason && !details) return `{"metadata":{},"code":${code ?? 0}}`;
  return stringifyJson({
    metadata: {}, ...(status && { status }), ...(message && { message }), ...(reason && { reason }), ...(details && { details }), ...(code && { code }),
  });
}

/** A time as metav1.MicroTime writes it. */
function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${formatSecond(seconds)}.${String(Math.floor((ms - seconds * 1000) * 1000)).padStart(6, '0')}Z`;
}

function encodeFields(event: EventFields): string {
  const { request, impersonated, objectRef, status, requestObject, responseObject, annotations } = event;
  const id = quote(request.auditId);
  let text = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${event.level}","auditID":${id},"stage":"${event.stage}"${request.head}`;
  if (impersonated !== undefined) {
    text += `,"impersonatedUser":${encodeUser(impersonated.user)}`;
    if (impersonated.constraint !== '') text += `,"authenticationMetadata":{"impersonationConstraint":${quote(impersonated.constraint)}}`;
  }
  text += request.origin;
  if (objectRef !== undefined) text += encodeReference(objectRef);
  if (status !== undefined) text += `,"responseStatus":${encodeStatus(status)}`;
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`;
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`;
  text += `,"requestReceivedTimestamp":"${formatTime(request.receivedMs)}","stageTimestamp":"${formatTime(event.stageMs)}"`;
  return annotations.length > 0 ? `${text},"annotations":{${encodeAnnotations(annotations)}}}` : `${text}}`;
}

/** Most events have two, which come in their order. */
function encodeAnnotations(annotations: EventFields['annotations']): string {
  let text = '';
  let last = '';
  for (const [key, value] of annotations) {
    if (key < last) return sortByKey(annotations).map(([name, content]) => `${quote(name)}:${quote(content)}`).join(',');
    text += `${text === '' ? '' : ','}${quote(key)}:${quote(value)}`;
    last = key;
  }
  return text;
}

/** The annotation of events whose bodies are too large. */
export const TRUNCATED = 'audit.k8s.io/truncated';

/** An event on its way through the backends; its JSON is made once. */
export class AuditEvent {
  readonly fields: EventFields;
  #json: string | undefined;
  #bytes: number | undefined;

  constructor(fields: EventFields) {
    this.fields = fields;
  }

  get json(): string {
    return (this.#json ??= encodeFields(this.fields));
  }

  /** The length of its line: with the newline that the reference's encoder writes. */
  get bytes(): number {
    return (this.#bytes ??= Buffer.byteLength(this.json) + 1);
  }

  /** The event without its bodies, marked as truncated. */
  truncate(): AuditEvent {
    return new AuditEvent({
      ...this.fields, requestObject: undefined, responseObject: undefined, annotations: [...this.fields.annotations, [TRUNCATED, 'true']],
    });
  }
}

const quoteList = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(',');

/** The event as one line of the legacy format. */
export function formatLegacy({ fields }: AuditEvent): string {
  const { request, impersonated, objectRef, status } = fields;
  const { user, sourceIps } = request;
  const groups = user === undefined || user.groups.length === 0 ? '<none>' : quoteList(user.groups);
  const shown = {
    id: request.auditId, stage: fields.stage, ip: sourceIps[0] ?? '<unknown>', method: request.verb,
    user: user === undefined || user.name === '' ? '<none>' : user.name, groups, as: impersonated?.user.name ?? '<self>',
    asgroups: impersonated === undefined ? '<lookup>' : quoteList(impersonated.user.groups), 'user-agent': request.userAgent,
    namespace: objectRef?.namespace || '<none>', uri: request.requestUri, response: status === undefined ? '<deferred>' : String(status.code ?? 0),
  };
  const time = new Date(request.receivedMs).toISOString();
  return `${time} AUDIT: ${Object.entries(shown).map(([name, text]) => `${name}=${JSON.stringify(text)}`).join(' ')}`;
}
