// `pintle serve`, which is also what `pintle` does without a command: starts a server and stops it at a signal. The lines for a user are written
// to stdout, logs to stderr.
import { systemClock } from '../../base/index.ts';
import { startHeapTrim } from '../observability/heap-trim.ts';
import { createLogger, describeError, logFormats } from '../observability/logger.ts';
import { StartError, serverSchema } from '../options/options.ts';
import type { ParsedFlags } from '../options/parse-flags.ts';
import { referenceFlags } from '../options/reference-flags.ts';
import { checks, findProblems, integer, text } from '../options/schema.ts';
import { startServer } from '../server.ts';
import { type Command, print } from './command.ts';
import { waitForSignal } from './wait-for-signal.ts';

const ownSchema = {
  verbosity: integer({ flag: 'v', default: 0, help: 'Log level: 1 start and stop, 2 controllers, 3 requests, 4 connections.' }),
  loggingFormat: text({
    flag: 'logging-format', default: 'json', check: checks.oneOf(...logFormats), help: 'Form of log lines: json, or text as klog writes it.',
  }),
} as const;
const schema = { ...serverSchema, ...ownSchema } as const;

/** Serves the API until SIGTERM or SIGINT. */
export const serveCommand: Command<typeof schema> = {
  name: 'serve', summary: 'Serve the Kubernetes API (the default command).', schema, reference: referenceFlags, run: serve,
};

/** With a store elsewhere and a directory for certificates nothing is left for the default data directory. */
const needsNoData = (given: ReadonlySet<string>): boolean =>
  (given.has('etcd-servers') || given.has('datastore-endpoint')) && given.has('cert-dir') && !given.has('data-dir');

const isOwnMachine = (address: string): boolean => address === '::1' || address.startsWith('127.');

async function serve({ settings: { verbosity, loggingFormat, ...settings }, given, warnings }: ParsedFlags<typeof schema>): Promise<number> {
  const [problem] = findProblems(ownSchema, { verbosity, loggingFormat });
  if (problem !== undefined) throw new StartError(problem);
  const startedMs = performance.timeOrigin;
  const logger = createLogger({ verbosity, format: loggingFormat, clock: systemClock, write: (line) => process.stderr.write(line) });
  for (const warning of warnings) logger.warn(warning);
  const stopped = waitForSignal();
  // A rejected promise without a handler is a bug of this program and no reason to end the requests of other clients.
  process.on('unhandledRejection', (reason) => logger.error('an error was not handled', describeError(reason)));
  const console = settings.console && (given.has('console') || isOwnMachine(settings.bindAddress));
  const server = await startServer({ ...settings, console, ...(needsNoData(given) && { dataDir: '' }), logger });
  print(`Serving on ${server.url}, ready in ${Math.round(systemClock.now() - startedMs)} ms`);
  if (console) print(`Console: ${server.url}/console/ (pintle console opens it)`);
  print(`kubectl --kubeconfig ${server.kubeconfigPath} get namespaces`);
  const stopTrim = startHeapTrim(systemClock);
  await stopped;
  stopTrim();
  await server.close();
  return 0;
}
