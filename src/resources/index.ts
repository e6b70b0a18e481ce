// The door of resources: the built-in resources as rows. A kind without special behaviour is a row and nothing else.
export { type GroupPriority, type VersionPriority, customGroupPriority, groupPriorities } from './priorities.ts';
export { createBuiltinResources } from './table.ts';
