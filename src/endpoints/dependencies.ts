// Everything that the room is given: it does no I/O, so hashing, compression and the decisions of other rooms come in as functions.
import type { User } from '../auth/index.ts';
import type { Clock, MaybePromise, Random } from '../base/index.ts';
import type { KubeObject, Schema, SchemaSet } from '../apimachinery/index.ts';
import type { ParseYaml } from '../codec/index.ts';
import type { Admission, Catalog, Registry, Resource, Target, WriteContext } from '../registry/index.ts';
import type { Broadcasts } from './watch/broadcast.ts';
import type { Exchange, Handler, RequestInfo, Response, WatchCounts } from './exchange.ts';
import type { WriteThrottle } from './watch/write-throttle.ts';
import type { Media } from './request/media.ts';
import type { RemoteApis } from './remote/remote-apis.ts';
import type { EncodedChunkCache } from './response/encoded-chunk-cache.ts';
import type { EncodedEventCache } from './watch/encoded-event-cache.ts';

/** Hash functions; this room does not import `node:crypto`. */
export interface Hashes {
  sha256(bytes: Uint8Array): Uint8Array;
  sha512(bytes: Uint8Array): Uint8Array;
}

/** The document of `/version`. */
interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly [field: string]: string;
}

/** A create whose effect is not simply a stored object: reviews, bindings, evictions, tokens. */
export interface SpecialRequest {
  readonly target: Target;
  /** Name of the parent object for subresources; otherwise ''. */
  readonly name: string;
  /** Decoded, defaulted body. */
  readonly object: KubeObject;
  readonly context: WriteContext;
}
/** Performs such a create; returns the object to send back with 201, or a Status. */
export interface SpecialCreate {
  (request: SpecialRequest): Promise<KubeObject>;
  /** The uid of what is sent is that of the object of the path. */
  readonly keepsUid?: boolean;
  /** Completes the object in place after mutating admission, so that validating admission and the function itself see all of it; `schema` is its own. */
  readonly prepare?: (request: SpecialRequest, schema: Schema) => MaybePromise<void>;
}

/** Answers the subresources that are connections: `exec`, `log`, `proxy`. */
export type Connect = (request: {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly name: string;
  readonly subresource: string;
  /** The options of the query after admission; undefined for logs. */
  readonly options: KubeObject | undefined;
}) => Promise<Response>;

/** The request whose YAML is parsed. */
interface YamlOwner {
  readonly user: string;
  readonly signal: AbortSignal;
}

/** A large request, beside its exchange. */
interface LargeRequest {
  readonly body: Uint8Array;
  /** The resource that the request was routed to. */
  readonly resource: Resource;
}

/** How many members requests on a resource may have: those with more than `here` are handled elsewhere, those with more than `most` are refused. */
export interface MemberBounds {
  readonly here: number;
  readonly most: number;
}

/** Handles large requests outside of the main thread. */
export interface LargeRequestHandler {
  /** The bounds of a resource that has other ones than most have. */
  boundsOf(resource: Resource): MemberBounds | undefined;
  /** Says where a heavy body of few members is handled; `leave` is called when that is over. */
  placeOf(bytes: number): { readonly isHere: boolean; leave(): void };
  handle(exchange: Exchange, large: LargeRequest): Promise<Response>;
  /** Rewrites JSON for people: indented, or as YAML. */
  makeReadable(exchange: Exchange, json: Uint8Array, form: 'json' | 'yaml'): Promise<Uint8Array>;
}

/** Everything that createEndpoints needs. */
export interface EndpointsDependencies {
  readonly registry: Registry;
  /** For requests that the registry does not see: connections, and creates of what is not stored. */
  readonly admission: Admission;
  readonly catalog: Catalog;
  /** Definitions of built-in kinds: meta/v1 types are encoded by them, and OpenAPI is published from them. */
  readonly schemas: SchemaSet;
  readonly clock: Clock;
  readonly random: Random;
  readonly hashes: Hashes;
  /** Parses YAML bodies; long ones wait until their user has a turn, and are dropped when the client has left. */
  readonly parseYaml: (bytes: Uint8Array, owner?: YamlOwner) => ReturnType<ParseYaml>;
  /** gzip at level 1. */
  readonly gzip: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** The same for a body that is produced while it is sent; when the reader returns early, `chunks` is returned as well. */
  readonly gzipStream: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  readonly versionInfo: VersionInfo;
  /** host:port that discovery names. */
  readonly serverAddress: () => string;
  /** Paths outside the API that `/` lists: `/healthz`, `/metrics`, … */
  readonly otherPaths?: readonly string[];
  /** Group versions that other servers answer. */
  readonly remote: RemoteApis;
  /** Throws the reference's 403 unless the user may do what the info says; without it every user may. */
  readonly requireAccess?: (user: User, info: RequestInfo) => Promise<void>;
  /** Whether deletes may ignore that an object cannot be read (the feature gate AllowUnsafeMalformedObjectDeletion). */
  readonly allowUnsafeDeletion?: boolean;
  /** Whether CBOR is read and written (the feature gate CBORServingAndStorage). */
  readonly servesCbor?: boolean;
  /** Whether OpenAPI lists the values that fields may have (the feature gate OpenAPIEnums). */
  readonly publishesEnums: boolean;
  /** Whether lists and watches may be restricted to a shard (the feature gate ShardedListAndWatch). */
  readonly readsShards?: boolean;
  /** Creates that are not simply stored, by `group/plural` or `group/plural/subresource`. */
  readonly special?: ReadonlyMap<string, SpecialCreate>;
  readonly connect?: Connect;
  /** Handles requests that are expensive by their size; without it they are handled as all others are. */
  readonly largeRequests?: LargeRequestHandler;
  /** How a watch counts what it sends; nothing is counted unless given. */
  readonly watchCounts?: (info: RequestInfo) => WatchCounts;
  /** Shortest life of a watch without timeoutSeconds; the reference's 1800. */
  readonly minRequestTimeoutSeconds?: number;
}

/** The dependencies with the caches and queues of one set of endpoints. */
export interface EndpointsParts extends EndpointsDependencies {
  readonly media: Media;
  readonly encodedChunks: EncodedChunkCache;
  readonly encodedEvents: EncodedEventCache;
  readonly writeThrottle: WriteThrottle;
  readonly broadcasts: Broadcasts;
}

/** One request on a resource, after routing. */
export interface ResourceRequest {
  readonly exchange: Exchange;
  readonly dependencies: EndpointsParts;
  readonly target: Target;
  readonly resource: Resource;
  /** '' for collections. */
  readonly name: string;
  /** '' or the name of a subresource of the resource. */
  readonly subresource: string;
  /** The body, where reading it has begun already. */
  readonly body?: Promise<Uint8Array>;
}

/** Handles requests on resources, as a Handler does. */
export type ResourceHandler = (request: ResourceRequest) => ReturnType<Handler>;
