// Questions that the handlers of all verbs ask of a request: the representation, the kind of its bodies, the context of its write.
import { BoundedCache } from '../../base/index.ts';
import { formatGroupVersion, type Schema } from '../../apimachinery/index.ts';
import type { ParseYaml } from '../../codec/index.ts';
import { type Resource, type Subresource, type WriteContext, subresourcesIn, versionIn } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Exchange } from '../exchange.ts';
import { type Expected, MAX_BODY_BYTES } from './decode.ts';
import { cborMedia } from './media.ts';
import { checkAccept, negotiate, type Offer, type Representation } from './negotiate.ts';
import type { WriteQuery } from './options.ts';

const MANAGER_MAX_LENGTH = 128;

/** The representations that objects of a resource have. */
export function offerOf(resource: Resource): Offer {
  return { protobuf: !resource.custom, conversions: resource.verbs.includes('get') || resource.verbs.includes('list') ? 'metadata and tables' : 'metadata' };
}

/** Subresources whose answers are no objects that a table could show. */
const plainSubresources: ReadonlySet<string> = new Set(['binding', 'eviction', 'token']);

const offers: readonly Offer['conversions'][] = ['metadata', 'metadata and tables'];

/** Checks Accept as the route of the request does, then picks a representation. */
export function negotiateRequest({ exchange, resource, subresource, dependencies: { media } }: ResourceRequest, collection = false): Representation {
  const accept = exchange.headers['accept'] ?? '';
  const whole = offerOf(resource);
  const offer: Offer = plainSubresources.has(subresource) ? { ...whole, conversions: 'metadata' } : whole;
  const route = (resource.custom ? 0 : 1) + (collection ? 2 : 0) + (media === cborMedia ? 4 : 0) + 8 * offers.indexOf(offer.conversions);
  const known = representations.peek(accept)?.[route];
  if (known !== undefined) return known;
  if (!resource.custom) checkAccept(exchange, collection ? media.collectionTypes : media.objectTypes);
  const found = negotiate(accept, offer, media);
  remember(accept, route, found);
  return found;
}

/**
 * Representations by Accept header, then by kind of route, since clients send the same few headers with every request. Measured: 10 ns instead
 * of 1.1 µs for the header of client-go and 2.5 µs for that of kubectl.
 */
const representations = new BoundedCache<string, readonly Representation[]>({ limit: 200 });
/** Longer headers are not kept. */
const LONGEST_ACCEPT = 500;

function remember(accept: string, route: number, found: Representation): void {
  if (accept.length > LONGEST_ACCEPT) return;
  const routes = Array.from(representations.peek(accept) ?? []);
  routes[route] = found;
  representations.set(accept, routes);
}

/** The subresource of a request; undefined for the object itself. */
export function subresourceOf({ resource, target, subresource }: Pick<ResourceRequest, 'resource' | 'target' | 'subresource'>): Subresource | undefined {
  return subresourcesIn(resource, target.version).find(({ name }) => name === subresource);
}

/** The schema of the resource's own kind in the API version of the request. */
export function schemaOf({ resource, target }: Pick<ResourceRequest, 'resource' | 'target'>): Schema {
  return versionIn(resource, target.version)?.schema ?? { type: 'any' };
}

/** The kind that the body of a request has to have. */
export function expectedKind(request: ResourceRequest): Expected {
  const { resource, target: { version } } = request;
  const kind = request.subresource === '' ? undefined : subresourceOf(request)?.kind;
  if (!kind || (kind.group === resource.group && kind.version === version && kind.kind === resource.kind)) {
    const { group, custom, findUnreadable } = resource;
    return { group, version, kind: resource.kind, schema: schemaOf(request), custom, ...(findUnreadable && { findUnreadable }) };
  }
  return { schema: request.dependencies.schemas.forKind(kind) ?? { type: 'any' }, custom: false, ...kind };
}

/** Schema of autoscaling/v1 Scale. */
export function scaleSchema({ dependencies }: ResourceRequest): Schema {
  return dependencies.schemas.forKind({ group: 'autoscaling', version: 'v1', kind: 'Scale' }) ?? { type: 'any' };
}

/** apiVersion of the resource's own kind. */
export function apiVersionOf({ resource, target }: Pick<ResourceRequest, 'resource' | 'target'>): string {
  return formatGroupVersion({ group: resource.group, version: target.version });
}

/**
 * Whose a text is. A class, since V8 makes a hidden class for each object literal with a getter that refers to what is around it, and keeps all of that
 * until a full collection: with such a literal for each write, 7 KB of each were moved among the old objects.
 */
class TextOwner {
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get user(): string {
    return this.#exchange.user.name;
  }

  /** Made when it is asked for: short texts need none. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

/** Parses YAML for the user of a request, as long as the client waits. */
export function yamlParserOf({ exchange, dependencies }: Pick<ResourceRequest, 'exchange' | 'dependencies'>): ParseYaml {
  return (bytes) => dependencies.parseYaml(bytes, new TextOwner(exchange));
}

/** Reads the body of a request. */
export function readBody({ exchange, body }: ResourceRequest): Promise<Uint8Array> {
  return body ?? exchange.readBody(MAX_BODY_BYTES);
}

/** The field manager of a write that names none: the program in the User-Agent header. */
function managerOfUserAgent(userAgent: string): string {
  const program = (userAgent.split('/')[0] as string).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '');
  return program.slice(0, MANAGER_MAX_LENGTH) || 'unknown';
}

/** The context of a write; `options` are the fields of its options object as admission plugins see them. */
export function writeContext({ exchange, dependencies }: ResourceRequest, query: WriteQuery, options = writeOptions(query)): WriteContext {
  const { requireAccess } = dependencies;
  const { audit } = exchange;
  return {
    authorizeCreate: requireAccess && (() => requireAccess(exchange.user, { ...exchange.info, verb: 'create' })),
    user: exchange.user, verb: exchange.info.verb, dryRun: query.dryRun.length > 0,
    fieldManager: query.fieldManager || managerOfUserAgent(exchange.headers['user-agent'] ?? ''),
    warnings: exchange.warnings, signal: exchange, auditAnnotations: exchange.auditAnnotations, options,
    noteWebhook: audit && ((call) => audit.recordWebhook(call)),
    noteRevision: audit && ((revision) => audit.recordRevision(revision)),
  };
}

/** The fields of CreateOptions and UpdateOptions; `force` of a patch is in neither. */
function writeOptions({ dryRun, fieldManager, fieldValidation }: WriteQuery): Readonly<Record<string, unknown>> {
  return { ...(dryRun.length > 0 && { dryRun }), ...(fieldManager && { fieldManager }), ...(fieldValidation && { fieldValidation }) };
}
