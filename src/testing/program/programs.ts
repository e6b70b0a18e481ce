// What commands of `pintle` do with test servers.
export { runWithServer } from './run-with-server.ts';
export { evaluateManifests } from './evaluate-manifests.ts';
