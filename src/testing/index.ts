// The door of testing, and the public surface of `pintle/testing`: servers for tests.
/// <reference types="node" preserve="true" />
export type { Clock, ManualClock, Random, Timer } from '../base/index.ts';
export { createManualClock } from '../base/index.ts';
export type { StaticToken } from '../auth/index.ts';
export type { Logger } from '../server/index.ts';
export { createSeededRandom } from './state/random.ts';
export type { ActiveFault, Fault, FaultEffect, FaultMatch, FaultStatus, Faults, SkewFault, WebhookFault } from './faults/fault.ts';
export { ApiError, type ApiRequest as TestRequest, type ApiResponse as TestResponse, type KubernetesObject, type ObjectMetadata } from '../client/index.ts';
export { ManifestError, type ManifestSource, type Manifests } from './manifests/documents.ts';
export type { Reference } from './objects.ts';
export type { TestServerOptions, TestUser } from './options.ts';
export type { ObjectVersion } from './record/history.ts';
export type { RequestMatch, RequestRecord } from './record/requests.ts';
export {
  type ExpectedCount, type InNamespace, type PastState, type ResetOptions, type Snapshot, TestServer, createTestServer,
} from './test-server.ts';
export { type SuiteOptions, type TestHooks, useTestServer } from './use-test-server.ts';
export { TimeoutError, type Until, type WaitOptions } from './waiting.ts';
