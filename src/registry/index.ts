// The door of the registry: what a create, an update, a watch mean. The one room where the two towers meet.
export type {
  Admission, AdmissionAttributes, AuditAnnotation, Catalog, DeleteOptions, DeleteResult, GroupVersionKind, ListOptions, ListResult, ListRun, ObjectType,
  Preconditions, Predicate, Registry, RegistryEvent, RegistryWatch, RequestOptions, RequestSignal, Reserver, StoredObject, Target, WatchOptions, WebhookTime,
  WriteContext, WriteResult,
} from './contract.ts';
export type {
  Column, FieldReader, FormerVersion, MetadataCheck, PreparedWork, Propagation, Resource, ResourceVerb, ResourceVersionRow, ScaleFields, Strategy,
  StrategyContext, Subresource, TableRowCondition, User,
} from './resource.ts';
export { isStable, subresourcesIn, versionIn } from './resource.ts';
export { compareVersions, createCatalog, customGroupPriority } from './catalog.ts';
export { type IsHidden, hideVersions } from './served-catalog.ts';
export { type OwnedRegistry, createRegistry } from './registry.ts';
export type { StorageFormat, ValueCipher } from './objects/storage-codec.ts';
export { defaultObject } from './fields/defaults.ts';
export { findCurrent, findKnown, findKnownObject } from './reads/find.ts';
export { type ComputedObjects, withComputedReads } from './reads/computed-reads.ts';
export {
  type ReflectedWatch, type Reflector, type ReflectorListener, type ReflectorSource, followSource, startReflector,
} from './reads/reflector.ts';
export {
  type ObjectKey, type SystemClient, completeObject, createClientOf, createSystemClient, createSystemContext, hasReason, isTerminating,
} from './reads/system-client.ts';
export { type QueueObserver, WorkQueue } from './reads/work-queue.ts';
export { buildPredicate, everything } from './reads/predicate.ts';
export { checkIdentity, dedupeOwners, generateName, namelessObject } from './metadata.ts';
export { type ResourceObserver, checkSignal } from './core.ts';
export { groupResource } from './errors.ts';
export { deleteProblems, listProblems, refuseOptions } from './options.ts';
export { type UnstoredRequest, admitUnstored } from './verbs/admit.ts';
export { formatTime } from './timestamps.ts';
export { applyScale, checkScaleUid, describeMisfit, toScale, UNSET_REPLICAS } from './fields/scale.ts';
export { toPatchedScale } from './fields/scale-owners.ts';
export { readWithout } from './reads/outline.ts';
export { objectKey } from './objects/keys.ts';
export { convertObject } from './objects/layout.ts';
export { cloneJson, copySharing } from './values.ts';
export { applyObject, trackUpdate } from './fields/field-manager.ts';
