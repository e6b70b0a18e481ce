// Content negotiation. Upstream decides twice: the router of built-in APIs first refuses an Accept header that names none of the route's
// types (with a 406 text of its own, and no wildcard but `*/*`), then the handler picks a clause with its parameters (as, g, v).
import { failure, notAcceptable } from '../../apimachinery/index.ts';
import { matchContentType, matchesRoute, negotiate as negotiateType, type Transform } from '../../codec/index.ts';
import type { Exchange } from '../exchange.ts';
import { CBOR_SEQUENCE_TYPE, type Form, JSON_TYPE, type Media, plainMedia, PROTOBUF_TYPE } from './media.ts';

/** A kind of meta.k8s.io that objects are converted to for the answer. */
export interface Conversion {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly version: 'v1' | 'v1beta1';
}

/** The outcome: an encoding, and a conversion where the client asked for one. */
export interface Representation {
  readonly form: Form;
  readonly conversion?: Conversion;
}

/** The representations that a handler can produce. */
export interface Offer {
  /** Whether the kind can be encoded as protobuf; custom resources cannot, only their conversions. */
  readonly protobuf: boolean;
  /** What objects of the kind can be shown as besides. */
  readonly conversions: 'metadata' | 'metadata and tables';
}

const conversions: readonly string[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

function allowsConversion(form: string, { kind, group, version }: Transform, offer: Offer): boolean {
  if (kind === 'Table' && offer.conversions === 'metadata') return false;
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return false;
  return conversions.includes(kind) && (kind !== 'Table' || form === 'json' || form === 'yaml');
}

function pick(accept: string | undefined, forms: readonly Form[], offer: Offer): Representation | undefined {
  const found = negotiateType(accept, forms, (form, transform) =>
    (transform === undefined ? form !== 'protobuf' || offer.protobuf : allowsConversion(form, transform, offer)));
  if (found === undefined) return undefined;
  const form = found.type as Form;
  return found.transform ? { form, conversion: { kind: found.transform.kind, version: found.transform.version } as Conversion } : { form };
}

/** Picks the representation of a successful answer, or throws the 406 of the handlers. */
export function negotiate(accept: string | undefined, offer: Offer, media: Media): Representation {
  const found = pick(accept, media.forms, offer);
  if (found === undefined) throw notAcceptable(media.objectTypes);
  return found;
}

/** Throws the 406 of a watch unless the encoding that was picked exists as a stream, even if another acceptable one does. */
export function checkStream({ form }: Representation, media: Media): void {
  if (!media.streamForms.includes(form)) throw notAcceptable(media.streamTypes);
}

/** The encoding of an error, without conversions; undefined when none is acceptable, and then indented JSON is sent. */
export function negotiateError(accept: string | undefined, media: Media): Form | undefined {
  return negotiateType(accept, media.forms)?.type as Form | undefined;
}

/** Throws the 406 of the router of built-in APIs unless the header names a type of the route. */
export function checkAccept(exchange: Exchange, produces: readonly string[]): void {
  if (matchesRoute(exchange.headers['accept'], produces)) return;
  throw failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`, {});
}

/** Throws the router's 415 unless the Content-Type is one that the route consumes. */
export function checkContentType(exchange: Exchange, consumes: readonly string[]): void {
  const header = exchange.headers['content-type'];
  // A wildcard names no type of a body.
  if (header !== undefined && header !== '' && matchesRoute(header.replaceAll('*/*', '*'), consumes)) return;
  throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** What the router of built-in APIs asks of a request for a document: a Content-Type counts where there is one, without a body, too. Throws its 415. */
export function checkDocumentType(exchange: Exchange, consumes: readonly string[]): void {
  if (exchange.headers['content-type']) checkContentType(exchange, consumes);
}

/** Content-Type of a watch stream. */
export function streamType(form: Form): string {
  if (form === 'cbor') return CBOR_SEQUENCE_TYPE;
  return form === 'protobuf' ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE;
}

/** Whether the client wants indented JSON: its query or Accept header asks for it, or it is curl, Wget or a browser. */
export function wantsPretty({ query, headers }: Exchange): boolean {
  const accept = headers['accept'];
  if (accept?.includes('pretty=1') && negotiateType(accept, plainMedia.forms, () => true)?.pretty === true) return true;
  const pretty = query.get('pretty');
  if (pretty !== null) return pretty === '1' || pretty === 'true';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '');
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameterPattern = new RegExp(`^\\s*(${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")\\s*$`);
/** Longer headers are refused. */
const MAX_CONTENT_TYPE = 1000;

/** Whether the parameters of a media type are pairs with different names, as Go's mime.ParseMediaType wants them; the last may be empty. */
function hasValidParameters(contentType: string): boolean {
  if (contentType.length > MAX_CONTENT_TYPE) return false;
  const parameters = contentType.split(';').slice(1);
  if (parameters.at(-1)?.trim() === '') parameters.pop();
  const names = parameters.map((parameter) => parameterPattern.exec(parameter)?.[1]?.toLowerCase());
  return !names.includes(undefined) && new Set(names).size === names.length;
}

/** The encoding that a Content-Type names, JSON when it is absent; undefined for an unsupported one. */
export function bodyForm(contentType: string | undefined, media: Media): Form | undefined {
  if (contentType !== undefined && !hasValidParameters(contentType)) return undefined;
  return matchContentType(contentType, media.forms) as Form | undefined;
}
