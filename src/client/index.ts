// The door of client: the API as a program asks it, of a server in this process or elsewhere.
export type { KubernetesObject, ObjectMetadata, OwnerReference } from './objects.ts';
export { ApiError, type ApiRequest, type ApiResponse, type ApiUser, type AskApi } from './api.ts';
export { type LocalClient, createLocalClient } from './local-client.ts';
export { KubeconfigError, readKubeconfig } from './kubeconfig.ts';
export { createRemoteClient } from './remote-client.ts';
export { type Discovery, type KnownResource, discover, resourcePath, splitApiVersion } from './discovery.ts';
