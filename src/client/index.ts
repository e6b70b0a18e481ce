// The door of client: the API as a program asks it, of a server in this process or elsewhere.
export type { KubernetesObject, ObjectMetadata, OwnerReference } from './objects.ts';
export { ApiError, type ApiRequest, type ApiResponse, type ApiUser, type AskApi } from './api.ts';
export { type LocalClient, createLocalClient } from './local-client.ts';
export { createRemoteClient } from './remote-client.ts';
export { type ServerAccess, registerServer, stopAttached } from './server-access.ts';
export {
  type ControllerDefinition, type ReconcileRequest, type ReconcileResult, type WatchedKind, controlledBy, defineController,
} from './controllers/definition.ts';
export type { KindReference, ObjectName } from './controllers/kinds.ts';
export type { ApplyOptions, ControllerClient, DeleteOptions, WriteOptions } from './controllers/controller-client.ts';
export type { LeaderElection } from './controllers/leader-election.ts';
export { type ControllerPlace, type RunOptions, type RunningControllers, runControllers } from './controllers/run-controllers.ts';
export { type Discovery, type KnownResource, discover, resourcePath, splitApiVersion } from './discovery.ts';
