// The record that says what a resource is: one row for a built-in (resources/table.ts), the same row made from a CRD (crd/definition.ts).
// Everything above the registry reads rows; nothing above it knows a Pod from a custom resource.
import type { FieldError, JsonObject, KubeObject, NameRule, Schema } from '../apimachinery/index.ts';
import type { Steps } from '../base/index.ts';

/** The verbs of a resource as discovery lists them, in alphabetical order. */
export type ResourceVerb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** A column of the Table form. `cell` reads the decoded object in the version asked for. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` for the first column, else ''. */
  readonly format: string;
  readonly description: string;
  /** 0: always shown; 1: `-o wide`. */
  readonly priority: number;
  /** A cell that the reference sends without a column definition (the age of ipaddresses). */
  readonly undeclared?: boolean;
  /** The cell is the age of the object: it reads metadata.creationTimestamp and the clock, nothing else. */
  readonly age?: true;
  /** What the reference prints; `nowMs` is for ages. null when there is nothing to print. */
  readonly cell: (object: KubeObject, nowMs: number) => string | number | boolean | null;
}

/** What a Table row says besides its cells: finished pods carry one. */
export interface TableRowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** A served version of a resource. */
export interface ResourceVersionRow {
  readonly name: string;
  readonly served: boolean;
  /** Schema of the kind in this version. */
  readonly schema: Schema;
  /** The schema as the definition of a custom kind states it, prose included. Each call makes another. */
  readonly published?: () => unknown;
  /** Schema of the status subresource's object etc. is that of the kind; scale is autoscaling/v1. */
  readonly columns: readonly Column[];
  /** The columns are name and creation time, since the kind states none. */
  readonly hasDefaultColumns?: boolean;
  /** Those of the row's selectable fields that this version has; absent: all. */
  readonly selectableFields?: readonly string[];
  /** The schema has a default for `status` as a whole. */
  readonly defaultsStatus?: boolean;
  /** Names of those of the row's subresources that this version has; absent: all. */
  readonly subresources?: readonly string[];
  /** What the scale subresource of this version reads and writes. */
  readonly scale?: ScaleFields;
  /** `conditions` of a Table row; left out when empty. */
  readonly rowConditions?: (object: KubeObject) => readonly TableRowCondition[];
  /** `Warning` header of every request to this version, if it is deprecated. */
  readonly deprecationWarning?: string;
}

/** Where an object has the replicas and the selector of its Scale: field paths such as `.spec.replicas`. */
export interface ScaleFields {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly selector?: string;
}

/** A path below an object: `status`, `scale`, `finalize`, `approval`, `eviction`, `token`, … */
export interface Subresource {
  readonly name: string;
  readonly verbs: readonly ResourceVerb[];
  /** Kind of the bodies, when it is not that of the parent; bodies of a former version read the same. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string; readonly formerVersions?: readonly string[] };
  /** Verbs of connect subresources (`exec`, `proxy`) as discovery lists them are in `verbs`; they have no strategy. */
  readonly connect?: boolean;
  /** An apply by this path creates an object that is absent. */
  readonly createsByApply?: boolean;
}

/** An authenticated (or anonymous) caller. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a strategy may know of the request besides the objects. Pure data. */
export interface StrategyContext {
  readonly nowMs: number;
  readonly namespace: string;
  readonly user: User;
  /** The version of the objects handed in. */
  readonly version: string;
  readonly subresource: string;
  /** Adds a `Warning` header. For warnings about a change that the prepare functions make; others come from `warnings`. */
  readonly warn?: (text: string) => void;
}

/** Where a validation that takes turns is at work. */
export interface PreparedWork {
  readonly context: StrategyContext;
  /** What an update replaces. */
  readonly old: KubeObject | undefined;
  /** A turn for others, when one is due; throws when the client is gone. */
  readonly pause: () => Promise<void> | undefined;
}

/** What a delete says of the dependents of the object. */
export interface Propagation {
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
}

/**
 * What makes a kind special. All functions are optional, synchronous (but for prepareValidation) and pure except that the prepareFor
 * functions change the new object in place. Its members and what is in them are its own; deeper parts it may share with the object that it replaces.
 * Objects are in the version of the request, defaulted and typed by the schema.
 */
export interface Strategy {
  /**
   * Defaults that the schema cannot express (upstream's SetDefaults_* functions); idempotent; runs after decoding. What an update shares with
   * `before`, the object that it replaces, has them.
   */
  applyDefaults?(object: KubeObject, version: string, before?: KubeObject): void;
  /** Clears what a creator may not set (status), sets what the server decides (phase, generation). */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** The same for updates: `old` is what is stored. Generation is compared here or by the default, see `tracksGeneration`. */
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): void;
  /**
   * Does what takes long about the validation that follows, in turns: calls `pause` between its steps, and waits for what it answers. Kinds
   * without it are validated in one turn, those that answer undefined were quick; validation after it finds the same problems that it finds without.
   */
  prepareValidation?(object: KubeObject, work: PreparedWork): Promise<void> | undefined;
  /** Problems of name and generateName beyond those of their rule, wherever the metadata is checked like that of a new object. */
  validateName?(object: KubeObject): readonly FieldError[];
  validate?(object: KubeObject, context: StrategyContext): readonly FieldError[];
  validateUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): readonly FieldError[];
  /** Texts for `Warning` headers. */
  warnings?(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): readonly string[];
  /** Adds what the reference stores without and puts into the object whenever it reads it (labels of jobs): neither validation nor admission sees it. */
  completeStored?(object: KubeObject): void;
  /** Text for a `Warning` header of deletes that say nothing of dependents, where orphaning them may surprise (jobs). */
  readonly deletionWarning?: string;
  /** Seconds of grace that a delete gives the object (pods); `requested` is what the options say. Kinds without it are deleted at once. */
  gracePeriodSeconds?(object: KubeObject, requested: number | undefined): number;
  /** Why the object of a name is never deleted by itself (PriorityClasses of the system); deletions of a collection do not ask. */
  refuseDeletion?(name: string): string | undefined;
  /** Puts an object that a delete found alive into its dying phase, in place (namespaces); with it a first delete never removes or adds finalizers. */
  terminate?(object: KubeObject, options: Propagation): void;
  /** Something besides metadata.finalizers keeps a deleted object alive (spec.finalizers of namespaces). */
  holdsDeletion?(object: KubeObject): boolean;
}

/**
 * A step of the validation of an update: the metadata like that of a new object, or like that of an update; the lenient steps do without the rule
 * that names of finalizers have a domain. `kind` is the kind's own validation of updates, `new` that of new objects.
 */
export type MetadataCheck = 'object' | 'lenient-object' | 'update' | 'lenient-update' | 'kind' | 'new';

/** A version in which objects may be stored and which is served no more. */
export interface FormerVersion {
  /** The kind in this version, where its fields are others than those of the storage version. Called when such an object is read. */
  readonly schema?: () => Schema;
  /** An object of this version as one of the storage version, with the defaults that are this version's own; may change the one given. */
  readonly convert?: (object: KubeObject) => KubeObject;
}

/** Reads a field of a stored object; '' when it is absent. */
export interface FieldReader {
  (object: KubeObject): string;
  /** All that it looks at, as paths of ASCII names; absent: anything. Of large objects it is shown nothing else, and no list or object of over 64 KB. */
  readonly paths?: readonly (readonly string[])[];
}

/** Everything about a resource that is data. */
export interface Resource {
  /**
   * Writes are answered when the cache has them: the server itself reads the resource by watch, and the caller's next request depends on it
   * (definitions of custom resources). A store whose watch follows its writes later (etcd) is waited for, 3 s at most.
   */
  readonly answersFromCache?: boolean;
  /** `group/plural/name` of the object that a custom row was made from. */
  readonly definedBy?: string;
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  /** The name in URLs. */
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** In order of preference. */
  readonly versions: readonly ResourceVersionRow[];
  /** The version that is stored; one of `versions`. */
  readonly storageVersion: string;
  /** Empty for resources that are only created and never stored (reviews, bindings). */
  readonly verbs: readonly ResourceVerb[];
  readonly subresources: readonly Subresource[];
  /** The feature gate without which the reference does not serve the resource, in any version. */
  readonly gate?: string;
  /** Rule for metadata.name. */
  readonly nameRule: NameRule;
  /**
   * How often updates have their metadata checked besides the check that all kinds have, in order. The reference repeats these checks differently
   * from kind to kind, and clients see the causes as often. Absent: lenient-update and kind for custom kinds; update, kind and object for others.
   */
  readonly metadataChecks?: readonly MetadataCheck[];
  /** The same for the status path. Absent: those for updates of metadata, if there are any, and kind. */
  readonly statusMetadataChecks?: readonly MetadataCheck[];
  /** Field selectors besides metadata.name and metadata.namespace: label → value in the stored object ('' when absent). */
  readonly selectableFields: Readonly<Record<string, FieldReader>>;
  /** What the reference says of a field that cannot be selected by, where it has words of its own for the kind. */
  readonly unknownField?: (field: string, version: string) => string;
  /** PUT of an absent name creates. */
  readonly createOnUpdate: boolean;
  /** PUT without resourceVersion is allowed. */
  readonly unconditionalUpdate: boolean;
  /** DELETE answers the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** What a delete without propagation policy does to dependents. */
  readonly defaultPropagation: 'Background' | 'Orphan';
  /** metadata.generation starts at 1 and grows when anything but metadata and status changes. */
  readonly tracksGeneration: boolean;
  /** Custom resources: unknown fields in `metadata` etc. follow other rules, items of lists carry their kind, no protobuf, no strategic merge. */
  readonly custom: boolean;
  /** Key prefix of the reference under its root, when it is not `<plural>` or `<group>/<plural>`: e.g. `minions`, `services/specs`. */
  readonly storagePrefix: string;
  /** Turns an object of one version into another; needed only where versions differ in more than their name. */
  readonly convert?: (object: KubeObject, from: string, to: string) => KubeObject;
  /**
   * The version in which the reference stores the kind, where that is none of those served here: its hash is in discovery, and what another
   * server has stored in it is read (by `convert`, if there is one).
   */
  readonly upstreamStorageVersion?: string;
  /** Versions that are read in the store and served no more, by `group/version`: those that the reference still decodes. */
  readonly formerVersions?: Readonly<Record<string, FormerVersion>>;
  /**
   * Completes an object that another release or program has stored without the fields that later releases added, whenever such an object is read.
   * Changes it. What this program stores is complete.
   */
  readonly completeForeign?: (object: KubeObject) => void;
  /** What the defaults of the kind depend on besides its schema. Objects that were stored under another key are given their defaults when they are read. */
  readonly defaultsKey?: string;
  /**
   * Custom resources: a stored object, in whichever version of the row it was written, as it reads in `version`: pruned, defaulted,
   * converted. Rows without it show what is stored as it is. May change the object given.
   */
  readonly readStored?: (object: KubeObject, version: string) => KubeObject;
  /**
   * Custom resources with a large schema: compiles what reading and writing in a version need, in steps; undefined where that is done. Without it
   * the first read or write does so, in one turn.
   */
  readonly prepare?: (version: string) => Steps<void> | undefined;
  /**
   * Custom resources whose versions a webhook converts: the objects, each in any version of the row and without resourceVersion, in
   * version `to`, in their order; those that are in it already are answered as they are. Rejects with a Status. With it `readStored` is only
   * asked for the version that an object was written in.
   */
  readonly convertRemotely?: (objects: readonly KubeObject[], to: string) => Promise<readonly KubeObject[]>;
  /**
   * The same objects under another group (core and events.k8s.io Events): `group/plural` of the row that stores them. `convert` of such
   * a row gets whole group versions (`v1`, `events.k8s.io/v1`) and works in both directions.
   */
  readonly storedAs?: string;
  /** Why the reference cannot read an object that fits its schema: the text of its own conversion. Asked of what clients send. */
  readonly findUnreadable?: (object: KubeObject) => string | undefined;
  /** Annotations that stand for fields of whole objects: metadata alone is shown without them. */
  readonly fieldAnnotations?: readonly string[];
  /** By subresource ('' for the object itself): field paths that requests to it never write and so never own, where not the default. */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /**
   * Whether reading shows more of a new object than its creation stores, because defaults are put into it again: then the first update stores that,
   * even if it changes nothing, and gives the object a new resourceVersion.
   */
  readonly isStoredInPart?: (object: KubeObject) => boolean;
  /** What the reference shows of an object of the kind that nothing was read into; absent: the zeros of the schema. */
  readonly blank?: JsonObject;
  /** Seconds after which an object is deleted by itself (Events). */
  readonly ttlSeconds?: number;
  /** A creator may bring a status (nodes); elsewhere it is cleared. */
  readonly statusOnCreate?: boolean;
  /** Never stored (reviews, bindings, componentstatuses): another room answers its requests. */
  readonly virtual?: boolean;
  /** Custom resources: changes whenever the definition does, and is the same in all processes: what is made of it can be kept, and stored. */
  readonly fingerprint?: string;
  /** The order of the rows of a table, within a page, where it is not that of keys. Few objects: they are sorted for each list. */
  readonly tableOrder?: (a: KubeObject, b: KubeObject) => number;
  readonly strategy: Strategy;
}

/** Whether a version is neither alpha nor beta: built-in kinds are served in such versions unless others are asked for. */
export function isStable(version: string): boolean {
  return /^v\d+$/.test(version);
}

/** A row in one of its versions; undefined where it has no such version. */
export function versionIn({ versions }: Pick<Resource, 'versions'>, version: string | undefined): ResourceVersionRow | undefined {
  return versions.find(({ name }) => name === version);
}

/** The subresources of a row in one of its versions. */
export function subresourcesIn(resource: Resource, version: string): readonly Subresource[] {
  const { subresources } = resource;
  const own = versionIn(resource, version)?.subresources;
  return own === undefined ? subresources : subresources.filter(({ name }) => own.includes(name));
}
