// What the room is given from outside: it does no I/O, so hashing, compression and everything that other rooms decide come in here.
import type { User } from '../auth/index.ts';
import type { Clock, Random } from '../base/index.ts';
import type { KubeObject, SchemaSet } from '../apimachinery/index.ts';
import type { ParseYaml } from '../codec/index.ts';
import type { Admission, Catalog, Registry, Resource, Target, WriteContext } from '../registry/index.ts';
import type { Broadcasts } from './watch/broadcast.ts';
import type { Exchange, RequestInfo, Response } from './exchange.ts';
import type { WriteThrottle } from './watch/write-throttle.ts';
import type { EncodedChunkCache } from './response/encoded-chunk-cache.ts';

/** Hashes, as functions because `node:crypto` is out of reach here. */
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

/** A create on something that is not stored, or that is more than a write: reviews, bindings, evictions, tokens. */
export interface SpecialRequest {
  readonly target: Target;
  /** Name of the parent object for subresources; otherwise ''. */
  readonly name: string;
  /** Decoded, defaulted body. */
  readonly object: KubeObject;
  readonly context: WriteContext;
}
/** Answers the object to send back with 201 (or a Status). */
export interface SpecialCreate {
  (request: SpecialRequest): Promise<KubeObject>;
  /** Completes the object after mutating admission, in place, as validating admission and the function itself are to see it. */
  readonly prepare?: (request: SpecialRequest) => void;
}

/** Where a subresource has a connection behind it (`exec`, `log`, `proxy`), who answers. */
export type Connect = (request: {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly name: string;
  readonly subresource: string;
}) => Promise<Response>;

/** Whose YAML is parsed. */
interface YamlOwner {
  readonly user: string;
  readonly signal: AbortSignal;
}

/** What a large request needs elsewhere besides its exchange. */
interface LargeRequest {
  readonly body: Uint8Array;
  /** The row that the request was routed to. */
  readonly resource: Resource;
}

/** Where large requests are handled. */
export interface Elsewhere {
  /** Whether requests on a resource may be handled there: what takes effect in this process may not. */
  accepts(resource: Resource): boolean;
  handle(exchange: Exchange, large: LargeRequest): Promise<Response>;
  /** Writes JSON as it is written for people: indented, or as YAML. */
  makeReadable(exchange: Exchange, json: Uint8Array, form: 'json' | 'yaml'): Promise<Uint8Array>;
}

/** Everything that createEndpoints needs. */
export interface EndpointsDependencies {
  readonly registry: Registry;
  /** For requests that the registry does not see: connections, and creates of what is not stored. */
  readonly admission: Admission;
  readonly catalog: Catalog;
  /** Definitions of built-in kinds; meta/v1 types are encoded by them, and OpenAPI is published from them. */
  readonly schemas: SchemaSet;
  readonly clock: Clock;
  readonly random: Random;
  readonly hashes: Hashes;
  /** Parses YAML bodies; long ones wait for the turn of their user, and are dropped when the client has left. */
  readonly parseYaml: (bytes: Uint8Array, owner?: YamlOwner) => ReturnType<ParseYaml>;
  /** gzip at level 1. */
  readonly gzip: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** The same of what is made meanwhile; ending the reading ends `pieces`. */
  readonly gzipPieces: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  readonly version: VersionInfo;
  /** host:port that discovery names. */
  readonly serverAddress: () => string;
  /** Paths outside the API that `/` lists: `/healthz`, `/metrics`, … */
  readonly otherPaths?: readonly string[];
  /** Whether another server should answer a group version that this one does not serve. */
  readonly isRemote?: (group: string, version: string) => boolean;
  /** Throws the reference's 403 unless the user may do what the info says; without it everybody may. */
  readonly requireAccess?: (user: User, info: RequestInfo) => Promise<void>;
  /** Whether deletes may ignore that an object cannot be read (the feature gate AllowUnsafeMalformedObjectDeletion). */
  readonly allowUnsafeDeletion?: boolean;
  /** By `group/plural` or `group/plural/subresource`. */
  readonly special?: ReadonlyMap<string, SpecialCreate>;
  readonly connect?: Connect;
  /** Where requests are handled that are expensive by their size; without it they are handled as all others are. */
  readonly elsewhere?: Elsewhere;
  /** Shortest life of a watch without timeoutSeconds; the reference's 1800. */
  readonly minRequestTimeoutSeconds?: number;
}

/** The same with what one set of endpoints keeps. */
export interface EndpointsParts extends EndpointsDependencies {
  readonly encodedChunks: EncodedChunkCache;
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
  /** '' or the name of a subresource of the row. */
  readonly subresource: string;
  /** The body, where it has been read already. */
  readonly body?: Promise<Uint8Array>;
}
