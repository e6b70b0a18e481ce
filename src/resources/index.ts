// The door of resources: the built-in resources as rows. A kind without special behaviour is a row and nothing else.
export { groupPriorities } from './priorities.ts';
export { createBuiltinResources } from './table.ts';
export { formatHumanDuration } from './columns/duration.ts';
export { schemaData } from './schema/index.ts';
