// Media types: what an Accept header asks for and what a Content-Type says, matched against what is offered. Two layers, as upstream:
// first the route must produce one of the accepted types literally (`matchesRoute`, half wildcards do not count there), then
// `negotiate` picks the serializer and the transformation. Neither a quality of 0 nor an unknown parameter makes a clause unacceptable.

/** The formats that are read or written here, by their short names. */
export type MediaTypeName = 'json' | 'yaml' | 'protobuf' | 'cbor';

/** What Content-Type calls each of them. */
export const mediaTypeNames: Readonly<Record<MediaTypeName, string>> = Object.freeze({
  json: 'application/json', yaml: 'application/yaml', protobuf: 'application/vnd.kubernetes.protobuf', cbor: 'application/cbor',
});

/** The kind that the object shall be turned into: `as`, `g` and `v` of the clause, empty where not given. */
export interface Transform {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

interface MediaType {
  readonly type: MediaTypeName;
  readonly transform?: Transform;
  readonly stream?: string;
  readonly pretty?: boolean;
  /** Asks for a variant of discovery (`nopeer`). */
  readonly profile?: string;
}

interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly params: ReadonlyMap<string, string>;
}

/** More clauses, and parameters of one, are not read: a header may be a megabyte, and no client means more. */
const MAX_CLAUSES = 100;
const MAX_PARAMS = 100;

/** The clauses by quality, then concrete types before wildcards, then as listed; what is no `type/subtype` is left out. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(',', MAX_CLAUSES).map(parseClause).filter((clause) => clause !== undefined);
  const wildcards = (clause: AcceptClause): number => (clause.type === '*' ? 2 : 0) + (clause.subtype === '*' ? 1 : 0);
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function parseClause(text: string): AcceptClause | undefined {
  const [range = '', ...rest] = text.split(';', MAX_PARAMS + 1);
  const parts = range.trim().split('/').map((part) => part.trim());
  const type = parts[0] as string;
  const subtype = parts[1] ?? (type === '*' ? '*' : '');
  if (parts.length > 2 || subtype === '') return undefined;
  const params = new Map<string, string>();
  for (const param of rest) {
    const pair = param.split('=');
    if (pair.length === 2) params.set((pair[0] as string).trim(), (pair[1] as string).trim());
  }
  const quality = params.get('q');
  params.delete('q');
  return { type, subtype, quality: quality === undefined ? 1 : Number.parseFloat(quality) || 0, params };
}

/** Does the route allow this type and transformation? Without a transformation the second argument is undefined. */
type AllowsTransform = (type: MediaTypeName, transform: Transform | undefined) => boolean;

const allowNone: AllowsTransform = (_, transform) => transform === undefined;

/**
 * The first offer that a clause accepts, clauses in their order of preference; the first offer of all when there is no header.
 * Undefined: 406. By default no transformation is allowed.
 */
export function negotiate(accept: string | undefined, offers: readonly MediaTypeName[], allows: AllowsTransform = allowNone): MediaType | undefined {
  if (accept === undefined || accept === '') return offers[0] && { type: offers[0] };
  for (const clause of parseAccept(accept)) {
    for (const type of offers) {
      if (!matchesClause(clause, type)) continue;
      const found = readParams(clause.params, type);
      if (found !== undefined && allows(type, found.transform)) return found;
    }
  }
  return undefined;
}

function matchesClause(clause: AcceptClause, type: MediaTypeName): boolean {
  if (clause.type === '*') return clause.subtype === '*';
  return clause.subtype === '*' ? clause.type === 'application' : `${clause.type}/${clause.subtype}` === mediaTypeNames[type];
}

function readParams(params: ReadonlyMap<string, string>, type: MediaTypeName): MediaType | undefined {
  const stream = params.get('stream');
  if (stream !== undefined && stream !== 'watch') return undefined;
  const transformed = params.has('as') || params.has('g') || params.has('v');
  const profile = params.get('profile');
  return {
    type,
    ...(transformed && { transform: { kind: params.get('as') ?? '', group: params.get('g') ?? '', version: params.get('v') ?? '' } }),
    ...(stream !== undefined && { stream }),
    ...(params.get('pretty') === '1' && { pretty: true }),
    ...(profile !== undefined && { profile }),
  };
}

/** Does one clause of the header (without its parameters) name one of `types` literally, or everything? `types` may hold any type a route has. */
export function matchesRoute(header: string | undefined, types: readonly string[]): boolean {
  if (header === undefined || header === '') return true;
  return header.split(',', MAX_CLAUSES).some((clause) => {
    const type = (clause.split(';', 1)[0] as string).trim();
    return type === '*/*' || types.includes(type) || types.includes('*/*');
  });
}

/** What a header says before its first semicolon. */
export function withoutParameters(header: string): string {
  const end = header.indexOf(';');
  return (end === -1 ? header : header.slice(0, end)).trim();
}

/** The type without parameters, lower-case; empty when the header is absent or no media type. */
export function parseContentType(header: string | undefined): string {
  const type = withoutParameters(header ?? '').toLowerCase();
  return /^[^\s/()<>@,;:\\"[\]?=]+\/[^\s/()<>@,;:\\"[\]?=]+$/.test(type) ? type : '';
}

/** The offer that a body's Content-Type names; the first offer when there is no header. Undefined: 415. */
export function matchContentType(header: string | undefined, offers: readonly MediaTypeName[]): MediaTypeName | undefined {
  if (header === undefined || header === '') return offers[0];
  const type = parseContentType(header);
  return offers.find((offer) => mediaTypeNames[offer] === type);
}
