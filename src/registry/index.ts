// The door of the registry: what a create, an update, a watch mean. The one room where the two towers meet.
export type {
  Admission, AdmissionAttributes, Catalog, CreateRequest, DeleteOptions, DeleteRequest, DeleteResult, EncodedForm, GetOptions, ListOptions,
  ListResult, ListRun, ObjectVersion, Preconditions, Predicate, Registry, RegistryDependencies, RegistryEvent, RegistryWatch, Reserver, Target, TrackUpdate,
  UpdateRequest, WatchOptions, WriteContext, WriteResult,
} from './contract.ts';
export type { Column, Resource, ResourceVerb, ResourceVersionRow, Strategy, StrategyContext, Subresource, TableRowCondition } from './resource.ts';
export { type GroupPriority, compareVersions, createCatalog, customGroupPriority } from './catalog.ts';
export type { RegistryOptions } from './core.ts';
export { type OwnedRegistry, createRegistry } from './registry.ts';
export { findCurrent, findKnown, findKnownObject } from './find.ts';
export { buildPredicate, everything } from './predicate.ts';
export { checkIdentity } from './metadata.ts';
export { groupResource } from './errors.ts';
export { formatTime } from './lifecycle.ts';
export { type ReadOptions, validateDeleteOptions, validateListOptions, validateWatchOptions } from './options.ts';
export { applyScale, toScale, unsetReplicas } from './scale.ts';
export { cloneJson, equalJson } from './values.ts';
export { type ApplyRequest, applyObject, trackUpdate } from './field-manager.ts';
