// The door of server: the whole of Pintle as something that starts and stops.
export type { ConvertObject } from './webhooks/in-process-conversion.ts';
export { type ServerOptions, StartError } from './options/options.ts';
export { type RunningServer, startServer } from './server.ts';
export { runCommandLine } from './cli/command-line.ts';
