// The door of subresources: what is asked of an object beyond reading and writing it: binding, eviction, tokens, reviews, connections.
export type { Backends, ContainerStreams, Location, Translation } from './connections/backends.ts';
export { type ConnectionsDependencies, createConnections } from './connections/connect.ts';
export { createPodBinding } from './pod-binding.ts';
export { createPodEviction } from './pod-eviction.ts';
export { createReviews } from './reviews.ts';
export { createTokenRequests } from './token-requests.ts';
