// What the registry offers to endpoints, controllers and the library: seven verbs over rows, and objects that know their own bytes.
import type { Clock, Random, MaybePromise, Steps } from '../base/index.ts';
import type { FieldError, KubeObject, ManagedFieldsEntry, ObjectMeta, StatusError } from '../apimachinery/index.ts';
import type { Propagation, Resource, User } from './resource.ts';

/**
 * JSON, protobuf or CBOR; `single` carries kind and apiVersion, `line` is the same with a newline at its end, `item` is how a typed list holds it
 * (JSON and CBOR of built-ins: without them).
 */
export type EncodedForm = 'json-single' | 'json-line' | 'json-item' | 'protobuf-single' | 'protobuf-item' | 'cbor-single' | 'cbor-item';

/**
 * One version of one stored object. Immutable. Bytes are made once per form and version and kept while something uses them.
 * Objects handed out are shared: copy before changing.
 */
export interface StoredObject {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** '' when it has none. */
  readonly uid: string;
  /** A member of metadata, read without the rest of the object. */
  member<Name extends keyof ObjectMeta>(name: Name): ObjectMeta[Name] | undefined;
  /** Length of the stored bytes. */
  readonly size: number;
  /** Decoded, in the served version asked for, with kind, apiVersion and resourceVersion. */
  object(version: string): KubeObject;
  /** The same, shared with other readers: it must not be changed. */
  shared(version: string): KubeObject;
  /** Encoded. protobuf-single is the whole `k8s\0` envelope, protobuf-item the message; cbor-single has the mark of CBOR. */
  bytes(version: string, form: EncodedForm): Uint8Array;
  /** Whether the object's JSON, in some version, has this text (ASCII) anywhere. Copies and parses nothing. */
  contains(text: string): boolean;
}

/** What an object says that it is. */
export type ObjectType = Pick<KubeObject, 'apiVersion' | 'kind'>;

/** Where a request points. */
export interface Target {
  readonly resource: Resource;
  /** Served version of the request. */
  readonly version: string;
  /** '' for cluster-scoped resources and for reads across namespaces. */
  readonly namespace: string;
}

/** What selectors read of an object besides its key. */
export interface SelectedParts extends Pick<StoredObject, 'labels'> {
  /** Values of the row's selectable fields, in the order of the row. */
  readonly fields: readonly string[];
}

/** Parsed selectors of a read; `matches` looks at one object version. */
export interface Predicate {
  /** Nothing is filtered out. */
  readonly everything: boolean;
  /** Set when `metadata.name=X` restricts the read to one name. */
  readonly name?: string;
  /** The shard that restricts a read. */
  readonly shard?: string;
  /** Set when `metadata.namespace=X` restricts a read. */
  readonly namespace?: string;
  matches(version: StoredObject): boolean;
  /** Hashes of label and field values, one of which an object must have in each group to match. */
  readonly wanted?: readonly (readonly number[])[];
  /** A selectable field, by its place in the row, and the value that it must have to match. */
  readonly only?: { readonly column: number; readonly value: string };
  /** The same in two parts: the test of keys, and the test of labels and selectable fields (undefined: there is none). */
  split?(): { readonly keys: Predicate; readonly content: ((parts: SelectedParts) => boolean) | undefined };
  /** The rest of the test for objects whose keys have been chosen by `name`, by `namespace`, or by both. */
  beyond?(keys: { readonly name: boolean; readonly namespace: boolean }): Predicate;
}

/** How new an object must be. */
export interface GetOptions {
  /** undefined or '': most recent; '0': any; N: not older than. */
  readonly resourceVersion?: string;
}

/** Which objects of a collection, from where on, and how new. */
export interface ListOptions {
  readonly predicate: Predicate;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly limit?: number;
  readonly continue?: string;
}

/** Objects in key order that are neighbours in memory: `chunk` is the same (===) for all lists that share it, so its bytes can be kept. */
export interface ListRun {
  readonly chunk: readonly { readonly value: StoredObject }[];
  readonly from: number;
  readonly to: number;
  /** The JSON items of the run in the storage version, a comma before each; where possible a view of memory that lists share. */
  joined(): Steps<Uint8Array>;
}

/** A page of objects at one revision. */
export interface ListResult {
  /** The list's resourceVersion. */
  readonly revision: number;
  /** Matching objects in key order; may be iterated more than once. */
  readonly items: Iterable<StoredObject>;
  /** The same objects as runs of shared chunks, when nothing was filtered out of them. */
  readonly runs?: Iterable<ListRun>;
  /** Number of items. */
  readonly count: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** The shard selector that restricts the list. */
  readonly shard?: string;
}

/** Which changes, and from where on. */
export interface WatchOptions {
  readonly predicate: Predicate;
  readonly resourceVersion?: string;
  /** Whether the state comes first; unset: if no version is given, or 0, and without a bookmark at its end. */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
}

/** What a watch yields. `object` of a DELETED event is the last state with the revision of the deletion. */
export type RegistryEvent =
  | {
    readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject; readonly revision: number;
    /** The object before it was MODIFIED, as a deletion would show it; for watches that select by converted objects. */
    readonly previous?: StoredObject;
  }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean };

/** A watch: pull what is there, be woken when there is more. */
export interface RegistryWatch {
  /** Up to `limit` events that are ready, in order. */
  take(limit: number): readonly RegistryEvent[];
  /** Calls `wake` once when take() has something again (at once if it has). */
  onReadable(wake: () => void): void;
  /** Revision up to which everything was taken; for bookmarks. 0 while the initial state is not out: no bookmark may be sent yet. */
  readonly revision: number;
  /** Set when there will be no more and everything was taken: `expired` becomes an ERROR event, see `error`. */
  readonly end: 'expired' | 'closed' | undefined;
  /** The Status of the ERROR event when `end` is `expired`: 410 Expired, or 504 for a state that did not come. */
  readonly error?: StatusError | undefined;
  /** Another watch of the same that continues where this one is. Not before the initial state is out. */
  fork(): RegistryWatch;
  close(): void;
}

/** What an object must be for a write to happen. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** When a request ends whether or not it is done. */
export interface RequestSignal {
  readonly aborted: boolean;
  /** Aborted with the request. Made when it is first read. */
  readonly signal?: AbortSignal;
  /** Monotonic milliseconds of the clock at which it ends. */
  readonly deadlineMs?: number | undefined;
}

/** Something that the audit event of a request is to carry; `level` is the least level of events that show it. */
export interface AuditAnnotation {
  readonly value: string;
  readonly level: 'Metadata' | 'Request';
}

/** A call of an admission webhook. */
export interface WebhookTime {
  readonly isMutating: boolean;
  readonly tookMs: number;
}

/** The user of a write, and how it is done; the same for every write verb. */
export interface WriteContext {
  readonly user: User;
  /** The verb of the request; absent for writes of the server's own. */
  readonly verb?: string;
  readonly dryRun: boolean;
  /** Name in managedFields. */
  readonly fieldManager: string;
  /** Texts for Warning headers are added here. */
  readonly warnings: string[];
  /** Looked at between the steps of the write. */
  readonly signal?: RequestSignal;
  /** Annotations for the audit event of the request, by key; admission adds them. */
  readonly auditAnnotations?: Map<string, AuditAnnotation> | undefined;
  /** Hears of each call of a webhook, how long it took. */
  readonly noteWebhook?: ((call: WebhookTime) => void) | undefined;
  /** Hears of each revision that the request makes in the store. */
  readonly noteRevision?: ((revision: number) => void) | undefined;
  /** Asked before an update creates what is absent; throws when the writer may not create. */
  readonly authorizeCreate?: (() => Promise<void>) | undefined;
  /** Fields of the request's options object (fieldManager, fieldValidation, dryRun, those of a delete), for admission; without kind and `force`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Another request's admission covers this write (the delete of an eviction, the update of a binding): no plugin runs. */
  readonly admitted?: boolean;
}

/** The object after a write; for dry runs it was not stored. */
export interface WriteResult {
  readonly object: StoredObject;
  /** True when the write made the object (201 instead of 200). */
  readonly created: boolean;
}

/** A new object, and how it is made. */
export interface CreateRequest extends Target {
  readonly object: KubeObject;
  readonly context: WriteContext;
}

/** What an apply states of a custom resource is stored as it came: fields that the schema does not know, empty metadata. Reading drops that. */
export interface UnreadParts {
  /** The metadata before it was decoded. */
  readonly metadata: object;
  /** Whether reading drops anything else. */
  readonly hasUnknown: boolean;
}

/** One change of one object. The loop calls `transform` again with the fresh object when another write came first. */
export interface UpdateRequest extends Target {
  readonly name: string;
  /** '' or a subresource such as `status`. */
  readonly subresource: string;
  /**
   * From the current object (undefined when absent) to the one wanted. It must not change the current object, and what it returns belongs to the
   * registry: it is the current object itself, where nothing is to change, or shares nothing with it that can change. May throw StatusError.
   */
  readonly transform: (current: KubeObject | undefined) => KubeObject;
  /** How managedFields are computed: `update` (the default) compares, with `keep` the transform has set them. */
  readonly managedFields?: 'update' | 'keep';
  /** A PATCH: duplicate owner references are removed after admission only. */
  readonly isPatch?: boolean;
  /** What an apply leaves in a custom resource until it is read; known once the transform has run. */
  readonly unread?: (() => UnreadParts | undefined) | undefined;
  /** The type that the result of the transform, which has run, was given where it is another than that of the row; only custom resources have it. */
  readonly otherType?: (() => ObjectType | undefined) | undefined;
  /** An absent object is created: PUT of rows with createOnUpdate, and apply. */
  readonly createIfAbsent: boolean;
  readonly preconditions?: Preconditions;
  readonly context: WriteContext;
}

/** How an object is removed, and what becomes of its dependents. */
export interface DeleteOptions extends Propagation {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: Preconditions;
  /** Removes what cannot be read, and nothing else, without asking admission. */
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

/** The removal of one object. */
export interface DeleteRequest extends Target {
  readonly name: string;
  /** One of a deletecollection: admission sees no name. */
  readonly inCollection?: boolean;
  /** Called once admission lets the removal pass, before it is committed. */
  readonly onAdmitted?: () => void;
  readonly options: DeleteOptions;
  readonly context: WriteContext;
}

/** `gone`: removed from the store now. `pending`: marked, waits for finalizers or grace. */
export interface DeleteResult {
  /** `blank`: gone in a dry run that took its last finalizers away, for which the reference shows an object of the kind that nothing was read into. */
  readonly type: 'blank' | 'gone' | 'pending';
  readonly object: StoredObject;
}

/** The semantics of every resource behind seven verbs. All throw StatusError for what a client did wrong. */
export interface Registry {
  /** Returns, or throws, in the same turn where nothing has to be waited for. */
  get(target: Target & { readonly name: string }, options: GetOptions): MaybePromise<StoredObject>;
  list(target: Target, options: ListOptions): Promise<ListResult>;
  /** The revision that the cache of a row has reached: its objects at one revision are always the same. 0 before it is filled. */
  cachedRevision(target: Target): number;
  watch(target: Target, options: WatchOptions): Promise<RegistryWatch>;
  create(request: CreateRequest): Promise<WriteResult>;
  update(request: UpdateRequest): Promise<WriteResult>;
  delete(request: DeleteRequest): Promise<DeleteResult>;
  deleteCollection(target: Target, list: ListOptions, options: DeleteOptions, context: WriteContext): Promise<ListResult>;
}

/** The type of an object in a request. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The options object of a request, with its kind and apiVersion: CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1. */
export interface RequestOptions {
  readonly kind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions';
  readonly apiVersion: 'meta.k8s.io/v1';
  readonly [field: string]: unknown;
}

/**
 * One request as every admission plugin sees it; `context` has the user, dryRun and the warnings of the request. Updates make new attributes
 * for every round of their loop, deletecollection for each of its objects.
 */
export interface AdmissionAttributes extends Target {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly subresource: string;
  /** Type of `object` and `oldObject`: that of the resource, or of the subresource where it has its own (Scale, Binding, PodExecOptions). */
  readonly kind: GroupVersionKind;
  /** Name in the path, or of the object that a create brings; '' while a name is generated, and for the objects of a deletecollection. */
  readonly name: string;
  /**
   * The object to write; undefined for DELETE; the options of the connection for CONNECT. A mutating plugin changes it in place, or sets
   * another one that is typed and defaulted. It has neither uid nor creationTimestamp while a create is mutated.
   */
  object: KubeObject | undefined;
  /** What an update or a delete found; it is shared: plugins must not change it. */
  readonly oldObject: KubeObject | undefined;
  /** A PATCH has UpdateOptions, or CreateOptions where it creates; undefined for CONNECT. */
  readonly options: RequestOptions | undefined;
  readonly context: WriteContext;
  /** Set by a mutating plugin: what only a look at other objects or rights shows to be wrong. It is refused with the problems of validation, before them. */
  problems?: readonly FieldError[];
}

/**
 * The whole chain as the registry sees it. `mutate` runs before the object is validated, `validate` after it and before the commit; both
 * throw StatusError to refuse. After `mutate` the registry puts broken managedFields back, with a warning.
 */
export interface Admission {
  mutate(attributes: AdmissionAttributes): Promise<void> | void;
  validate(attributes: AdmissionAttributes): Promise<void> | void;
}

/** Something scarce that objects hold beyond themselves (addresses and ports of Services). */
export interface Reserver {
  holds(resource: Resource): boolean;
  /**
   * Takes what a new or changed object needs and writes it into `attributes.object`; throws StatusError when that cannot be had. The
   * returned function is called with whether the object was stored. Dry runs take nothing.
   */
  reserve(attributes: AdmissionAttributes): Promise<(written: boolean) => Promise<void>>;
  /** Gives back what an object held that is gone from the store. */
  release(removed: KubeObject): Promise<void>;
}

/** managedFields after a write that is not an apply; the implementation is apimachinery/apply. */
export type TrackUpdate = (input: {
  readonly resource: Resource; readonly version: string; readonly subresource: string; readonly manager: string; readonly nowMs: number;
  readonly old: KubeObject | undefined; readonly object: KubeObject;
}) => ManagedFieldsEntry[] | undefined;

/** What the registry is given from outside. */
export interface RegistryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: Admission;
  readonly trackUpdate: TrackUpdate;
  readonly reserver?: Reserver;
  /** Called with every update that was stored, and with the object as it was and as it is; not with dry runs. */
  readonly onUpdated?: (update: AdmissionAttributes) => void;
}

/** The resources that are served right now: rows by group, version and plural. Discovery, OpenAPI and routes are views of it. */
export interface Catalog {
  /** The row that serves this path, if that version of it is served. */
  find(group: string, version: string, plural: string): Resource | undefined;
  findKind(group: string, kind: string): Resource | undefined;
  /** The row whatever its versions. */
  findResource(group: string, plural: string): Resource | undefined;
  /** All rows, in the order of discovery: groups by priority, resources by name. */
  resources(): readonly Resource[];
  /** Groups in order of priority, each with its versions in order of preference. */
  groups(): readonly { readonly name: string; readonly priority: number; readonly versions: readonly string[] }[];
  /** Grows whenever rows are added or removed, so that views can be cached. */
  readonly generation: number;
  /** Calls `listener` after rows were added or removed, once for all of one turn, until the function that it answers is called. */
  onChange(listener: () => void): () => void;
  add(resource: Resource): void;
  remove(group: string, plural: string): void;
}
