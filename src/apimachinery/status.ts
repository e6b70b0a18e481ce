// metav1.Status and the errors that handlers throw, as k8s.io/apimachinery's api/errors makes them: code, reason, message, details.
import { type GroupResource, type GroupVersionKind, formatGroupResource, formatGroupVersion } from './object.ts';
import { quoteGo } from './quote.ts';

interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}
interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}
/** The answer to a failed (or a bodiless successful) request. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string; resourceVersion?: string };
  status?: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** The only thing that a handler throws on purpose. */
export class StatusError extends Error {
  readonly status: Status;
  constructor(status: Status) {
    super(status.message ?? '');
    this.name = 'StatusError';
    this.status = status;
  }
  get code(): number {
    return this.status.code ?? 500;
  }
  get reason(): string {
    return this.status.reason ?? '';
  }
}

/** Builds a failure; fields left out of `more` are left out of the Status too. */
export function failure(code: number, reason: string, message: string, details?: StatusDetails): StatusError {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message };
  if (reason !== '') status.reason = reason;
  if (details !== undefined) status.details = details;
  status.code = code;
  return new StatusError(status);
}

/** details{name, group, kind: resource} without the empty ones, in the reference's order. */
function resourceDetails(resource: GroupResource, name: string): StatusDetails {
  return { ...(name && { name }), ...(resource.group && { group: resource.group }), ...(resource.resource && { kind: resource.resource }) };
}

/** There is no such object. */
export const notFound = (resource: GroupResource, name: string): StatusError =>
  failure(404, 'NotFound', `${formatGroupResource(resource)} ${quoteGo(name)} not found`, resourceDetails(resource, name));

/** The name is taken. */
export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  failure(409, 'AlreadyExists', `${formatGroupResource(resource)} ${quoteGo(name)} already exists`, resourceDetails(resource, name));

/** The object is not what the writer thought it was. */
export const conflict = (resource: GroupResource, name: string, why: string): StatusError =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${quoteGo(name)}: ${why}`, resourceDetails(resource, name));

/** The caller may not, or no caller may. */
export const forbidden = (resource: GroupResource, name: string, why: string): StatusError => {
  const what = resource.resource === '' ? 'forbidden' : name === '' ? `${formatGroupResource(resource)} is forbidden`
    : `${formatGroupResource(resource)} ${quoteGo(name)} is forbidden`;
  return failure(403, 'Forbidden', `${what}: ${why}`, resourceDetails(resource, name));
};

/** The caller's identity is not proved. */
export const unauthorized = (): StatusError => failure(401, 'Unauthorized', 'Unauthorized');

/** The request cannot be understood. */
export const badRequest = (message: string): StatusError => failure(400, 'BadRequest', message);

/** Objects of this kind do not have this verb. */
export const methodNotSupported = (resource: GroupResource, action: string): StatusError =>
  failure(405, 'MethodNotAllowed', `${action} is not supported on resources of kind "${formatGroupResource(resource)}"`, resourceDetails(resource, ''));

/** The name of the scheme of built-in kinds in messages. */
export const BUILT_IN_SCHEME = 'pkg/api/legacyscheme/scheme.go:30';

/** Text about a kind that no scheme knows. */
export function notRegistered(type: GroupVersionKind, scheme = BUILT_IN_SCHEME): string {
  const [kind, version, place] = [type.kind, formatGroupVersion(type), scheme].map(quoteGo);
  return `no kind ${kind} is registered for version ${version} in scheme ${place}`;
}

/** Something broke that is not the caller's doing. */
export const internalError = (why: string): StatusError =>
  failure(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });

/** The wanted revision is compacted. */
export const expired = (message: string): StatusError => failure(410, 'Expired', message);

/** It took too long; the caller may try again after so many seconds. */
export const timeoutError = (message: string, retryAfterSeconds = 0): StatusError =>
  failure(504, 'Timeout', `Timeout: ${message}`, retryAfterSeconds > 0 ? { retryAfterSeconds } : {});

/** There is no room for the request at the moment. */
export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, { retryAfterSeconds });

/** There is no server to answer. */
export const serviceUnavailable = (message: string): StatusError => failure(503, 'ServiceUnavailable', message);

/** The body is over its limit. */
export const requestEntityTooLarge = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);

/** No representation that the caller takes is to be had. */
export const notAcceptable = (accepted: readonly string[]): StatusError =>
  failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

/** The body is of a type that is not read here. */
export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  failure(415, 'UnsupportedMediaType', `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`);

/** The read of a resource version that does not exist yet. */
export const tooLargeResourceVersion = (wanted: number | string, current: number): StatusError =>
  failure(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 });

/** One problem of one field; `type` is the text that the reference prints before the detail, see field-error.ts. */
export interface FieldError {
  readonly reason: string;
  /** Path such as `spec.containers[0].name`; empty for the whole object. */
  readonly field: string;
  /** Text after the path. */
  readonly message: string;
  /**
   * The condition of servers that have this problem, with `!` in front for those where it does not hold; absent: all have it. `strict` is the
   * condition of servers that refuse the forms of older releases (ip/lenient.ts); other conditions are features that are on.
   */
  readonly when?: string;
}

/** 422 with a cause per field error; message as `Kind.group "name" is invalid: …`. */
export function invalid(kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
  const why = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const qualified = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return failure(422, 'Invalid', errors.length === 0 ? `${qualified} ${quoteGo(name)} is invalid` : `${qualified} ${quoteGo(name)} is invalid: ${why}`, {
    ...(name && { name }), ...(kind.group && { group: kind.group }), ...(kind.kind && { kind: kind.kind }),
    ...(errors.length > 0 && { causes: errors.map((e) => ({ reason: e.reason, message: e.message, field: e.field })) }),
  });
}

/** Success without an object: the answer to a finished delete. */
export function success(details?: StatusDetails): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...(details && { details }) };
}

