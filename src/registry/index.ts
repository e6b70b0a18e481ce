// The door of the registry: what a create, an update, a watch mean. The one room where the two towers meet.
export type {
  Admission, AdmissionAttributes, Catalog, CreateRequest, DeleteOptions, DeleteRequest, DeleteResult, EncodedForm, GetOptions, ListOptions,
  ListResult, ObjectVersion, Preconditions, Predicate, Registry, RegistryDependencies, RegistryEvent, RegistryWatch, Target, TrackUpdate,
  UpdateRequest, WatchOptions, WriteContext, WriteResult,
} from './contract.ts';
export type { Column, Resource, ResourceVerb, ResourceVersionRow, Strategy, StrategyContext, Subresource, TableRowCondition } from './resource.ts';
