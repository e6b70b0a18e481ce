// The door of controllers: the loops that the API itself promises to its clients.
export type { AggregatedApi, AggregatedApis, AggregatedContent } from './aggregation/availability.ts';
export { findSlicePort, listReadyEndpoints, listServiceSlices } from './aggregation/service-slices.ts';
export { type Controllers, startControllers } from './controllers.ts';
export type { ServerIdentity } from './identity-lease.ts';
