// The JSON of audit events, joined from texts that are prepared once: the caller (one per connection), the answer of authorization, parts of times.
// Only what is new with each request is looked at: its id, its path, its times.
//
// Measured by `npm run bench -- w14`, gets by name from 64 clients: at level Metadata without the stage RequestReceived a get took 1.22 to 1.25 times the
// CPU of one without audit while events were objects, maps and lists, and 1.10 with these texts, each in few pieces. Most lines of the log are not even
// these texts but copies of one (stencil.ts).
import { BoundedCache, formatMicroseconds } from '../../base/index.ts';
import type { Status } from '../../apimachinery/index.ts';
import type { AuditLevel, AuditStage, User } from '../../auth/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import type { RequestInfo } from '../../endpoints/index.ts';
import type { RequestHead } from '../http/exchange.ts';
import { listSourceIps } from './source-ips.ts';
import { AUDIT_ID_LENGTH, type CutLine, Stencils } from './stencil.ts';

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
  /** About as many characters as clients have a part in. */
  readonly weight: number;
  /** Lines of its events, to be filled. */
  readonly stencils = new Stencils();
  readonly #remoteAddress: string;
  readonly #shownAgent: string | undefined;
  readonly #forwarded: string | undefined;
  readonly #real: string | undefined;
  #opening: Opening | undefined = undefined;

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
    this.text = flatten(this.userText + this.originText);
    this.weight = (this.#forwarded?.length ?? 0) + (user === undefined ? 0 : weighUser(user));
  }

  /** What stands around the name of an object in the events of requests that differ in nothing else. The paths of such requests need no escapes. */
  open(info: RequestInfo): Opening {
    const { verb, resource, namespace, group, version, subresource } = info;
    const last = this.#opening;
    if (last !== undefined && last.verb === verb && last.resource === resource && last.namespace === namespace && last.group === group
      && last.version === version && last.subresource === subresource) return last;
    const before = `","verb":"${verb}"${this.text},"objectRef":{"resource":"${resource}"${namespace === '' ? '' : `,"namespace":"${namespace}"`}`;
    const after = `${group === '' ? '' : `,"apiGroup":"${group}"`},"apiVersion":"${version}"${subresource === '' ? '' : `,"subresource":"${subresource}"`}}`;
    return this.#opening = { verb, resource, namespace, group, version, subresource, before: flatten(before), after: flatten(after) };
  }

  isOf({ headers, remoteAddress }: RequestOrigin, user: User | undefined): boolean {
    return user === this.user && headers['user-agent'] === this.#shownAgent && remoteAddress === this.#remoteAddress
      && headers['x-forwarded-for'] === this.#forwarded && headers['x-real-ip'] === this.#real;
  }
}

/** The texts of a request around the name of its object. */
interface Opening extends Pick<RequestInfo, 'verb' | 'resource' | 'namespace' | 'group' | 'version' | 'subresource'> {
  readonly before: string;
  readonly after: string;
}

/** The same text in one piece: a text that was joined from others is walked through whenever it is copied. */
function flatten(text: string): string {
  text.charCodeAt(0);
  return text;
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

const weighUser = ({ name, groups }: User): number => name.length + groups.reduce((sum, { length }) => sum + length, 0);

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
  return { entries, text: text === '' ? '' : flatten(`,"annotations":{${text}}`) };
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

/** The reference to the object of a request: what the path says, and what was found besides. */
function encodeReference({ resource, namespace, name, group, version, subresource }: RequestInfo, found: FoundObject | undefined): string {
  return encodeFound({
    resource, namespace: namespace || (found?.namespace ?? ''), name: name || (found?.name ?? ''), uid: found?.uid ?? '', apiGroup: group,
    apiVersion: version, resourceVersion: found?.resourceVersion ?? '', subresource,
  });
}

function encodeFound(fields: Readonly<Record<string, string>>): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== '');
  return `,"objectRef":{${shown.map(([name, value]) => `"${name}":${quote(value)}`).join(',')}}`;
}

const codeTexts = new Map<number, string>();

/** The status of an answer that is known by its code alone. */
function recallCodeText(code: number): string {
  let text = codeTexts.get(code);
  if (text === undefined) codeTexts.set(code, text = flatten(`,"responseStatus":{"metadata":{},"code":${code}}`));
  return text;
}

function encodeStatus({ code, status, message, reason, details }: EventStatus): string {
  if (!status && !message && !reason && !details) return recallCodeText(code ?? 0);
  return `,"responseStatus":${stringifyJson({
    metadata: {}, ...(status && { status }), ...(message && { message }), ...(reason && { reason }), ...(details && { details }), ...(code && { code }),
  })}`;
}

const startOf = (level: AuditLevel): string => `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":"`;
const starts: Readonly<Record<AuditLevel, string>> = {
  None: startOf('None'), Metadata: startOf('Metadata'), Request: startOf('Request'), RequestResponse: startOf('RequestResponse'),
};
const middleOf = (stage: AuditStage): string => `","stage":"${stage}","requestURI":"`;
const middles: Readonly<Record<AuditStage, string>> = {
  RequestReceived: middleOf('RequestReceived'), ResponseStarted: middleOf('ResponseStarted'), ResponseComplete: middleOf('ResponseComplete'),
  Panic: middleOf('Panic'),
};

/** What stands between the path and the status: verb, caller and object. */
function encodeCallerAndObject({ request: { info, caller }, impersonated, found }: EventFields): string {
  let text = `","verb":"${info.verb}"`;
  if (impersonated === undefined) {
    text += caller.text;
  } else {
    text += `${caller.userText},"impersonatedUser":${encodeUser(impersonated.user)}`;
    if (impersonated.constraint !== '') text += `,"authenticationMetadata":{"impersonationConstraint":${quote(impersonated.constraint)}}`;
    text += caller.originText;
  }
  return info.isResource ? text + encodeReference(info, found) : text;
}

/** The event as JSON, its fields in the order of the reference. */
export function encodeEvent(event: EventFields): string {
  const { request, impersonated, found, status, requestObject, responseObject } = event;
  const { auditId, info, requestUri, caller } = request;
  const isPlain = plainTarget.test(requestUri);
  let text = starts[event.level] + (plainText.test(auditId) ? auditId : stringifyJson(auditId).slice(1, -1)) + middles[event.stage]
    + (isPlain ? requestUri : stringifyJson(requestUri).slice(1, -1));
  if (isPlain && impersonated === undefined && found === undefined && info.isResource && info.resource !== '' && info.version !== '') {
    const { before, after } = caller.open(info);
    text += info.name === '' ? before + after : `${before},"name":"${info.name}"${after}`;
  } else {
    text += encodeCallerAndObject(event);
  }
  if (status !== undefined) text += encodeStatus(status);
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`;
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`;
  return `${text},"requestReceivedTimestamp":"${formatMicroseconds(request.receivedMs)}","stageTimestamp":"${formatMicroseconds(event.stageMs)}"${event.annotations.text}}`;
}

const BEFORE_NAME = ',"name":"';
const BEFORE_STAGE_TIME = '","stageTimestamp":"';
const TIME_LENGTH = 'yyyy-mm-ddThh:mm:ss.ffffffZ'.length;

/** The line of an event, and where in it stands what differs between events of one shape; undefined where the line has more that does. */
export function cutLine(event: EventFields): CutLine | undefined {
  const { request: { auditId, requestUri, info, caller }, impersonated, found, requestObject, responseObject, annotations } = event;
  if (impersonated !== undefined || found !== undefined || requestObject !== undefined || responseObject !== undefined) return undefined;
  if (auditId.length !== AUDIT_ID_LENGTH || !plainText.test(auditId) || !plainTarget.test(requestUri)) return undefined;
  const hasName = info.name !== '';
  if (hasName && (!info.isResource || info.resource === '' || info.version === '')) return undefined;
  const line = `${encodeEvent(event)}\n`;
  if (Buffer.byteLength(line) !== line.length) return undefined;
  const idAt = starts[event.level].length;
  const uriEnd = idAt + AUDIT_ID_LENGTH + middles[event.stage].length + requestUri.length;
  const stageAt = line.length - '"}\n'.length - annotations.text.length - TIME_LENGTH;
  return {
    line, idAt, stageAt, receivedAt: stageAt - BEFORE_STAGE_TIME.length - TIME_LENGTH,
    names: hasName ? [uriEnd - info.name.length, uriEnd + caller.open(info).before.length + BEFORE_NAME.length] : undefined,
  };
}
