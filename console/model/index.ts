// The door of model: what the page knows, without a browser and without a request.
export {
  type Action, type Caller, type Grant, type Policy, findCaller, grantsFor, grantsOf, subjectsFor,
} from './access.ts';
export {
  type Kind, type KindPath, type Section, apiVersionOf, findSection, formatPath, groupKinds, namespacesKind, readKinds, scoreKind, selectName,
} from './kind.ts';
export { type Route, createRoute, formatRoute, kindOfRoute, listRoute, objectRoute, parseRoute } from './route.ts';
export { type Arrangement, type Column, type Row, type RowChange, type TableRow, TableModel, byName, compareCells, measureColumns } from './table.ts';
export {
  type Choice, type Metrics, growthBy, growthOf, largestOf, parseMetrics, quantileOf, sumBy, sumOf,
} from './metrics.ts';
export { type Entry, beginValue, findEntry, isShownAtFirst, listFields, readText } from './form.ts';
export { type OpenApiDocument, findSchema } from './openapi.ts';
export { type Change, findRevision, timeOf } from './past.ts';
export { type Place, findPlace } from './place.ts';
export { type Schema, type SchemaRule, childrenOf, describeBounds, describeType, findField, listPlaces, listRules, sampleOf, typesOf } from './schema.ts';
export { type Branch, type Owned, countBranches, findDependents } from './tree.ts';
export { type Tone, findTone, formatAge, formatBytes, formatCount, formatDuration } from './format.ts';
