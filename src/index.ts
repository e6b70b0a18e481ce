// The public surface of the library: one function that starts a server, and its types.
import { type RunningServer, type ServerOptions, startServer } from './server/index.ts';

export { type AdmissionHook, type AdmissionMatch, type HookRequest, defineAdmission } from './admission/index.ts';
export { type ConvertObject, type RunningServer, type ServerOptions, StartError } from './server/index.ts';

/**
 * Starts a server: in memory, on a free port of the loopback address, unless the options say otherwise. Any number may run in one process;
 * none touches signals or global state. Rejects with StartError when it cannot start.
 */
export function createServer(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  return startServer(options);
}
