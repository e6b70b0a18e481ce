// The door of resources: the built-in resources as rows. A kind without special behaviour is a row and nothing else.
export { type GroupPriority, type VersionPriority, customGroupPriority, groupPriorities } from './priorities.ts';
export { createBuiltinResources } from './table.ts';
export { defaultColumns } from './columns/common.ts';
export { formatHumanDuration } from './columns/duration.ts';
export { scaleColumns } from './columns/workloads.ts';
export { schemaData } from './schema/index.ts';
