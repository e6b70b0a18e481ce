// Responses: the headers that all of them have, Status in the negotiated encoding, compression of large bodies, Warning headers.
import type { MaybePromise } from '../../base/index.ts';
import { internalError, type Schema, type SchemaSet, type Status, StatusError } from '../../apimachinery/index.ts';
import { byteLength, type Encodable, encodeBody, encodePretty, encodeText, joinBytes } from './encoding.ts';
import type { Exchange, Response } from '../exchange.ts';
import { formTypes, type Form, JSON_TYPE, type Media, plainMedia, TEXT_TYPE } from '../request/media.ts';
import { negotiateError, wantsPretty } from '../request/negotiate.ts';
import { formatWarnings } from './warnings.ts';

type Headers = Record<string, string | readonly string[]>;

/** Bodies up to this size are never compressed. */
export const GZIP_MIN_BYTES = 128 * 1024;
const STATUS_SCHEMA = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';

/** The dependencies of a response. */
interface Responder {
  readonly schemas: SchemaSet;
  readonly gzip: (bytes: Uint8Array) => Promise<Uint8Array>;
}

/** Headers of a response with a body of this type, with the warnings so far. */
export function headersFor(exchange: Exchange, contentType: string): Headers {
  const headers: Headers = { 'content-type': contentType, 'cache-control': 'no-cache, private' };
  if (exchange.warnings.length === 0) return headers;
  const warnings = formatWarnings(exchange.warnings);
  if (warnings.length > 0) headers['warning'] = warnings;
  return headers;
}

/** 304: what the client has is what there is. As in Go, it says nothing of the document but how it is cached. */
export function respondUnchanged({ 'content-type': _type, 'last-modified': _modified, ...headers }: Headers): Response {
  return { status: 304, headers, body: new Uint8Array(0) };
}

/** Whether the client can read gzip. */
export const acceptsGzip = (exchange: Exchange): boolean =>
  (exchange.headers['accept-encoding'] ?? '').split(',').some((token) => token.trim() === 'gzip');

/** Headers of a compressed response. */
export const gzipHeaders = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } as const;

/** Answers with bytes, compressed when they are large and the client can read gzip. */
export function respondBytes(
  exchange: Exchange, responder: Pick<Responder, 'gzip'>, answer: { status: number; contentType: string; body: readonly Uint8Array[] },
): MaybePromise<Response> {
  const headers = headersFor(exchange, answer.contentType);
  const { status, body } = answer;
  if (byteLength(body) <= GZIP_MIN_BYTES || !acceptsGzip(exchange)) return { status, headers, body };
  return responder.gzip(joinBytes(body)).then((zipped) =>
    ({ status, headers: { ...headers, ...gzipHeaders }, body: zipped }));
}

/** Answers with a value in an encoding. */
export function respondValue(
  exchange: Exchange, responder: Responder, answer: { status: number; form: Form; value: Encodable },
): MaybePromise<Response> {
  exchange.audit?.recordResponseObject(answer.value.value);
  const body = encodeBody(answer.value, answer.form, answer.form === 'json' && wantsPretty(exchange));
  return respondBytes(exchange, responder, { status: answer.status, contentType: formTypes[answer.form], body: [body] });
}

/** The schema of Status; undefined when the schema set has no meta types (then Status is always JSON). */
export function statusSchema(schemas: SchemaSet): Schema | undefined {
  return schemas.definition(STATUS_SCHEMA);
}

/** The Status of an error; an error other than StatusError is a bug of the server and becomes a 500. */
function toStatus(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  return internalError(error instanceof Error ? error.message : String(error)).status;
}

/** The schema set that has Status, without which it is always text; and the encodings to choose from. */
interface ErrorContext {
  readonly schemas?: SchemaSet;
  readonly media?: Media;
}

/** Answers an error: a Status in the accepted encoding, indented JSON when none is acceptable. */
export function respondError(exchange: Exchange, error: unknown, { schemas, media = plainMedia }: ErrorContext = {}): Response {
  const status = toStatus(error);
  const code = status.code ?? 500;
  let form = negotiateError(exchange.headers['accept'], media);
  // As in the reference, an answer that could not be negotiated is not recorded.
  if (form !== undefined) exchange.audit?.recordResponseObject(status);
  const schema = schemas && form === 'protobuf' ? statusSchema(schemas) : undefined;
  if (form === 'protobuf' && !schema) form = 'json';
  const body = form === undefined ? encodePretty(status) : encodeBody({ value: status, schema }, form, form === 'json' && wantsPretty(exchange));
  const headers = headersFor(exchange, formTypes[form ?? 'json']);
  const retryAfter = status.details?.retryAfterSeconds;
  return { status: code, headers: retryAfter ? { ...headers, 'retry-after': String(retryAfter) } : headers, body };
}

/** Plain text, as Go's http.Error and http.NotFound write it. */
export function respondText(exchange: Exchange, status: number, text: string): Response {
  return { status, headers: { ...headersFor(exchange, TEXT_TYPE), 'x-content-type-options': 'nosniff' }, body: encodeText(text) };
}

/** The answer for paths that are not served. */
export function respondNotFoundText(exchange: Exchange): Response {
  return respondText(exchange, 404, '404 page not found\n');
}

/** Answers indented JSON, whatever Accept says: `/version`, `/`. */
export function respondRawJson(exchange: Exchange, value: unknown): Response {
  return { status: 200, headers: headersFor(exchange, JSON_TYPE), body: encodePretty(value) };
}
