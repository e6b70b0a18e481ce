// Which representation is answered. Upstream decides twice: the router of built-in APIs first refuses an Accept that names none of
// the route's types (its own 406 text, no wildcards but `*/*`), then the handler picks a clause with its parameters (as, g, v).
import { failure, notAcceptable } from '../../apimachinery/index.ts';
import { matchContentType, matchesRoute, negotiate as negotiateType, type Transform } from '../../codec/index.ts';
import type { Exchange } from '../exchange.ts';
import { type Form, JSON_TYPE, OBJECT_TYPES, PROTOBUF_TYPE, STREAM_TYPES } from './media.ts';

/** A form other than the object itself. */
export interface Conversion {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly version: 'v1' | 'v1beta1';
}

/** What was agreed on. */
export interface Representation {
  readonly form: Form;
  readonly conversion?: Conversion;
}

/** What a handler can offer. */
export interface Offer {
  /** The kind has a protobuf form (custom resources do not, outside of conversions). */
  readonly protobuf: boolean;
  /** Objects of the kind can be shown as tables and metadata. */
  readonly conversions: boolean;
}

const OBJECT_FORMS: readonly Form[] = ['json', 'yaml', 'protobuf'];
const STREAM_FORMS: readonly Form[] = ['json', 'protobuf'];
const CONVERSIONS: readonly string[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];

function allowsConversion(form: string, { kind, group, version }: Transform): boolean {
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return false;
  return CONVERSIONS.includes(kind) && (kind !== 'Table' || form !== 'protobuf');
}

function pick(accept: string | undefined, forms: readonly Form[], offer: Offer): Representation | undefined {
  const found = negotiateType(accept, forms, (form, transform) =>
    (transform === undefined ? form !== 'protobuf' || offer.protobuf : offer.conversions && allowsConversion(form, transform)));
  if (found === undefined) return undefined;
  const form = found.type as Form;
  return found.transform ? { form, conversion: { kind: found.transform.kind, version: found.transform.version } as Conversion } : { form };
}

/** Picks the representation of a successful answer, or throws the 406 of the handlers. */
export function negotiate(accept: string | undefined, offer: Offer): Representation {
  const found = pick(accept, OBJECT_FORMS, offer);
  if (found === undefined) throw notAcceptable(OBJECT_TYPES);
  return found;
}

/** The same for a watch: what is picked must exist as a stream, whatever else would be acceptable. */
export function negotiateStream(accept: string | undefined, offer: Offer): Representation {
  const found = negotiate(accept, offer);
  if (!STREAM_FORMS.includes(found.form)) throw notAcceptable(STREAM_TYPES);
  return found;
}

/** The form of an error: no conversions are considered, and undefined means that nothing was acceptable (plain JSON is sent). */
export function negotiateError(accept: string | undefined): Form | undefined {
  return negotiateType(accept, OBJECT_FORMS)?.type as Form | undefined;
}

/** Throws the 406 of the router of built-in APIs unless the header names a type of the route. */
export function checkAccept(exchange: Exchange, produces: readonly string[]): void {
  if (matchesRoute(exchange.headers['accept'], produces)) return;
  throw failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`, {});
}

/** Throws the router's 415 unless the Content-Type is one that the route consumes. */
export function checkContentType(exchange: Exchange, consumes: readonly string[]): void {
  const header = exchange.headers['content-type'];
  if (header !== undefined && header !== '' && matchesRoute(header, consumes)) return;
  throw failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** Types of a route that lists or watches. */
export const COLLECTION_PRODUCES: readonly string[] = [...OBJECT_TYPES, ...STREAM_TYPES];

/** Content-Type of a watch stream. */
export function streamType(form: Form): string {
  return form === 'protobuf' ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE;
}

/** Whether the client wants indented JSON: it says so, or it is a tool that people read over the shoulder of. */
export function wantsPretty({ query, headers }: Exchange): boolean {
  const accept = headers['accept'];
  if (accept?.includes('pretty=1') && negotiateType(accept, OBJECT_FORMS, () => true)?.pretty === true) return true;
  const pretty = query.get('pretty');
  if (pretty !== null) return pretty === '1' || pretty === 'true';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '');
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(`^\\s*(${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")\\s*$`);
/** Longer parameters than these are not read. */
const MAX_CONTENT_TYPE = 1000;

/** Whether the parameters of a media type are pairs with different names, as Go's mime.ParseMediaType wants them; the last may be empty. */
function hasValidParameters(contentType: string): boolean {
  if (contentType.length > MAX_CONTENT_TYPE) return false;
  const parameters = contentType.split(';').slice(1);
  if (parameters.at(-1)?.trim() === '') parameters.pop();
  const names = parameters.map((parameter) => PARAMETER.exec(parameter)?.[1]?.toLowerCase());
  return !names.includes(undefined) && new Set(names).size === names.length;
}

/** Form that a body's Content-Type names; absent means JSON. undefined: unsupported. */
export function bodyForm(contentType: string | undefined): Form | undefined {
  if (contentType !== undefined && !hasValidParameters(contentType)) return undefined;
  return matchContentType(contentType, OBJECT_FORMS) as Form | undefined;
}
