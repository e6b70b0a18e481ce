// The public surface of the library: servers, and what runs over them.
/// <reference types="node" preserve="true" />
import { systemClock } from './base/index.ts';
import { registerServer, stopAttached } from './client/index.ts';
import { type ExposedParts, type RunningServer, type ServerOptions, startServer } from './server/index.ts';

export { type AdmissionHook, type AdmissionMatch, type HookRequest, defineAdmission } from './admission/index.ts';
export {
  ApiError, type ApiUser, type ControllerClient, type ControllerDefinition, type ControllerPlace, type KindReference, type KubernetesObject,
  type LeaderElection, type ObjectMetadata, type ObjectName, type OwnerReference, type ReconcileRequest, type ReconcileResult, type RunOptions,
  type RunningControllers, type WatchedKind, controlledBy, defineController, runControllers,
} from './client/index.ts';
export { KubeconfigError } from './kubeconfig/index.ts';
export { type ConvertObject, type RunningServer, type ServerOptions, StartError } from './server/index.ts';

/**
 * Starts a server: in memory, on a free port of the loopback address, unless the options say otherwise. Any number may run in one process;
 * none touches signals or global state. Rejects with StartError when it cannot start.
 */
export async function createServer(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  let exposed: ExposedParts | undefined;
  const running = await startServer(options, { expose: (parts) => {
    exposed = parts;
  } });
  const { api, handler } = exposed as unknown as ExposedParts;
  const server: RunningServer = { ...running, close: async () => {
    await stopAttached(access);
    await running.close();
  } };
  const access = registerServer(server, () => ({ handler, registry: api.registry, catalog: api.catalog, clock: options.clock ?? systemClock }));
  return server;
}
