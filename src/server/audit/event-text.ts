// The JSON of audit events, joined from texts that are prepared once: the caller (one per connection), the answer of authorization, parts of times.
// Only what is new with each request is looked at: its id, its path, its times.
//
// Measured by `npm run bench -- w14`, gets by name from 64 clients: at level Metadata without the stage RequestReceived a get took 1.22 to 1.25 times the
// CPU of one without audit while events were objects, maps and lists, and takes 1.07 to 1.15 times with these texts; most of what is left is the write to
// the file (1.05 with /dev/null).
import { BoundedCache, formatSecond } from '../../base/index.ts';
import type { Status } from '../../apimachinery/index.ts';
import type { AuditLevel, AuditStage, User } from '../../auth/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import type { RequestInfo } from '../../endpoints/index.ts';
import type { RequestHead } from '../http/exchange.ts';
import { listSourceIps } from './source-ips.ts';

/** What the path of a request does not say of its object. */
export type FoundObject = Readonly<Partial<Record<'namespace' | 'name' | 'uid' | 'resourceVersion', string>>>;

/** The parts of a Status that events show. */
export type EventStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>>;

/** The part of events that all stages of a request share. */
export interface AuditedRequest {
  readonly auditId: string;
  readonly requestUri: string;
  readonly info: RequestInfo;
  readonly caller: Caller;
  readonly receivedMs: number;
}

/** What an event says. `requestObject` and `responseObject` are JSON texts. */
export interface EventFields {
  readonly request: AuditedRequest;
  readonly level: AuditLevel;
  readonly stage: AuditStage;
  readonly impersonated: { readonly user: User; readonly constraint: string } | undefined;
  readonly found: FoundObject | undefined;
  readonly status: EventStatus | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly stageMs: number;
  readonly annotations: Annotations;
  /** Those that the request made in the store. They are not in the text of the event. */
  readonly revisions: readonly number[] | undefined;
}

/** Bytes of user agents that events show. */
const MAX_USER_AGENT_LENGTH = 1024;

const plainText = /^[\w./:@%?=,+ ()-]*$/;
/** Without escapes: what is taken from such a path needs none either. */
const plainTarget = /^[\w./:@?=,+ ()-]*$/;

/** A text as JSON. The texts of most requests need no escapes, and finding that out takes a tenth of the time. */
const quote = (text: string): string => (plainText.test(text) ? `"${text}"` : stringifyJson(text));

/** The caller of requests, and the place where they come from. */
export class Caller {
  /** undefined: authentication failed. */
  readonly user: User | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  /** The fields of the user, and those in front of the reference to the object: an impersonated user comes between them. */
  readonly userText: string;
  readonly originText: string;
  /** Both. */
  readonly text: string;
  readonly #remoteAddress: string;
  readonly #shownAgent: string | undefined;
  readonly #forwarded: string | undefined;
  readonly #real: string | undefined;

  constructor(head: RequestOrigin, user: User | undefined) {
    const { 'user-agent': userAgent = '' } = head.headers;
    this.#remoteAddress = head.remoteAddress;
    this.#shownAgent = head.headers['user-agent'];
    this.#forwarded = head.headers['x-forwarded-for'];
    this.#real = head.headers['x-real-ip'];
    this.user = user;
    this.sourceIps = listSourceIps(head);
    this.userAgent = userAgent.length > MAX_USER_AGENT_LENGTH ? `${userAgent.slice(0, MAX_USER_AGENT_LENGTH)}...TRUNCATED` : userAgent;
    this.userText = `,"user":${encodeUser(user)}`;
    const shown = this.sourceIps.length === 0 ? '' : `,"sourceIPs":[${this.sourceIps.map(quote).join(',')}]`;
    this.originText = this.userAgent === '' ? shown : `${shown},"userAgent":${quote(this.userAgent)}`;
    this.text = this.userText + this.originText;
  }

  isOf({ headers, remoteAddress }: RequestOrigin, user: User | undefined): boolean {
    return user === this.user && headers['user-agent'] === this.#shownAgent && remoteAddress === this.#remoteAddress
      && headers['x-forwarded-for'] === this.#forwarded && headers['x-real-ip'] === this.#real;
  }
}

type RequestOrigin = Pick<RequestHead, 'headers' | 'remoteAddress'>;

/** The last caller of each connection: requests of one connection come from the same client again and again. */
const callers = new WeakMap<object, Caller>();

/** Answers the caller of a request. */
export function recallCaller(head: RequestOrigin & Pick<RequestHead, 'connection'>, user: User | undefined): Caller {
  const known = callers.get(head.connection);
  if (known?.isOf(head, user) === true) return known;
  const caller = new Caller(head, user);
  callers.set(head.connection, caller);
  return caller;
}

function encodeUser(user: User | undefined): string {
  if (user === undefined) return '{}';
  const { name, uid, groups, extra } = user;
  return stringifyJson({
    ...(name !== '' && { username: name }), ...(uid && { uid }), ...(groups.length > 0 && { groups }),
    ...(extra !== undefined && Object.keys(extra).length > 0 && { extra: Object.fromEntries(sortByKey(Object.entries(extra))) }),
  });
}

/** Go writes maps in the order of their keys. */
const sortByKey = <T>(fields: readonly (readonly [string, T])[]): (readonly [string, T])[] => [...fields].sort(([one], [two]) => (one < two ? -1 : 1));

/** Annotations of an event with their text. */
export interface Annotations {
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly text: string;
}

/** Answers annotations in the order of the reference; without any the field is absent. */
export function writeAnnotations(entries: Annotations['entries']): Annotations {
  const text = sortByKey(entries).map(([name, content]) => `${quote(name)}:${quote(content)}`).join(',');
  return { entries, text: text === '' ? '' : `,"annotations":{${text}}` };
}

export const noAnnotations: Annotations = { entries: [], text: '' };

/** Characters of reasons that are kept. */
const MAX_REASONS_LENGTH = 1024 * 1024;
const notes = {
  allow: new BoundedCache<string, Annotations>({ limit: MAX_REASONS_LENGTH, sizeOf: (_, reason) => reason.length + 1 }),
  forbid: new BoundedCache<string, Annotations>({ limit: MAX_REASONS_LENGTH, sizeOf: (_, reason) => reason.length + 1 }),
};

/** What authorization says about a request, as annotations. */
export function noteDecision(decision: keyof typeof notes, reason: string): Annotations {
  const known = notes[decision];
  return known.peek(reason) ?? known.set(reason,
    writeAnnotations([['authorization.k8s.io/decision', decision], ['authorization.k8s.io/reason', reason]]));
}

/** The reference to the object of a request: what the path says, and what was found besides. `isPlain`: nothing in the path needs escapes. */
function encodeReference({ resource, namespace, name, group, version, subresource }: RequestInfo, found: FoundObject | undefined, isPlain: boolean): string {
  if (!isPlain || found !== undefined || resource === '' || version === '') {
    return encodeFound({
      resource, namespace: namespace || (found?.namespace ?? ''), name: name || (found?.name ?? ''), uid: found?.uid ?? '', apiGroup: group,
      apiVersion: version, resourceVersion: found?.resourceVersion ?? '', subresource,
    });
  }
  let text = `,"objectRef":{"resource":"${resource}"`;
  if (namespace !== '') text += `,"namespace":"${namespace}"`;
  if (name !== '') text += `,"name":"${name}"`;
  if (group !== '') text += `,"apiGroup":"${group}"`;
  text += `,"apiVersion":"${version}"`;
  return subresource === '' ? `${text}}` : `${text},"subresource":"${subresource}"}`;
}

function encodeFound(fields: Readonly<Record<string, string>>): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== '');
  return `,"objectRef":{${shown.map(([name, value]) => `"${name}":${quote(value)}`).join(',')}}`;
}

function encodeStatus({ code, status, message, reason, details }: EventStatus): string {
  if (!status && !message && !reason && !details) return `{"metadata":{},"code":${code ?? 0}}`;
  return stringifyJson({
    metadata: {}, ...(status && { status }), ...(message && { message }), ...(reason && { reason }), ...(details && { details }), ...(code && { code }),
  });
}

const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

/** A time as metav1.MicroTime writes it. */
function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const micros = Math.floor((ms - seconds * 1000) * 1000);
  const millis = Math.floor(micros / 1000);
  return `${formatSecond(seconds)}.${threeDigits[millis] as string}${threeDigits[micros - millis * 1000] as string}Z`;
}

/** The event as JSON, its fields in the order of the reference. */
export function encodeEvent(event: EventFields): string {
  const { request, impersonated, status, requestObject, responseObject, annotations } = event;
  const { info, requestUri, caller } = request;
  const isPlain = plainTarget.test(requestUri);
  let text = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${event.level}","auditID":${quote(request.auditId)}`
    + `,"stage":"${event.stage}","requestURI":${isPlain ? `"${requestUri}"` : quote(requestUri)},"verb":"${info.verb}"`;
  if (impersonated === undefined) {
    text += caller.text;
  } else {
    text += `${caller.userText},"impersonatedUser":${encodeUser(impersonated.user)}`;
    if (impersonated.constraint !== '') text += `,"authenticationMetadata":{"impersonationConstraint":${quote(impersonated.constraint)}}`;
    text += caller.originText;
  }
  if (info.isResource) text += encodeReference(info, event.found, isPlain);
  if (status !== undefined) text += `,"responseStatus":${encodeStatus(status)}`;
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`;
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`;
  return `${text},"requestReceivedTimestamp":"${formatTime(request.receivedMs)}","stageTimestamp":"${formatTime(event.stageMs)}"${annotations.text}}`;
}
