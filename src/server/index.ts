// The door of server: the whole of Pintle as something that starts and stops.
export type { ConvertObject } from './webhooks/in-process-conversion.ts';
export { type ServerOptions, StartError } from './options/options.ts';
export { type RunningServer, startServer } from './server.ts';
export type { ExposedParts, Seams } from './local/seams.ts';
export type { Filter } from './filters/filter.ts';
export { isReadVerb } from './filters/in-flight.ts';
export type { ServerExchange } from './http/exchange.ts';
export { type LocalResponse, requestLocally } from './local/local-requests.ts';
export { type Pki, preparePki } from './tls/pki.ts';
export { type ServiceAccountKeys, createServiceAccountKeys } from './tls/service-account-keys.ts';
export { WebhookCallError } from './webhooks/webhook-client.ts';
export { formatKubeconfig } from './cli/kubeconfig.ts';
export { type Logger, createLogger, silentLogger } from './observability/logger.ts';
export { runCommandLine } from './cli/command-line.ts';
export type { RunSettings } from './cli/run-command.ts';
