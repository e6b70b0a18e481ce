// `pintle serve`, which is also what `pintle` does without a command: starts a server and stops it at a signal. The lines for a user are written
// to stdout, logs to stderr.
import { systemClock } from '../../base/index.ts';
import { startHeapTrim } from '../memory/heap-trim.ts';
import { type LogFormat, createLogger, describeError, logFormats } from '../observability/logger.ts';
import { StartError, serverSchema } from '../options/options.ts';
import type { ParsedFlags } from '../options/parse-flags.ts';
import { referenceFlags } from '../options/reference-flags.ts';
import { checks, findProblems, integer, text } from '../options/schema.ts';
import { isOwnMachine } from '../options/serving.ts';
import type { ProcessesOptions } from '../processes/owner.ts';
import { type RunningServer, startServer } from '../server.ts';
import { type Command, print } from './command.ts';
import { waitForSignal } from './wait-for-signal.ts';

const MOST_WORKERS = 64;

const ownSchema = {
  verbosity: integer({ flag: 'v', default: 0, check: checks.notNegative, help: 'Log level: 1 start and stop, 2 controllers, 3 requests, 4 connections.' }),
  loggingFormat: text({
    flag: 'logging-format', default: 'json', check: checks.oneOf(...logFormats), help: 'Form of log lines: json, or text as klog writes it.',
  }),
  workers: integer({
    flag: 'workers', default: 1, check: (count) => (count >= 1 && count <= MOST_WORKERS ? undefined : `must be between 1 and ${MOST_WORKERS}`),
    help: 'Processes that serve connections. With more than one, another process owns the store, and the console is off.',
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

/** Several processes, whose code a server of one does not load. */
async function startWorkers(settings: ProcessesOptions['settings'], count: number, log: ProcessesOptions['log']): Promise<RunningServer> {
  const { startProcesses } = await import('../processes/owner.ts');
  return startProcesses({ settings, count, log });
}

async function serve({ settings: { verbosity, loggingFormat, workers, ...settings }, given, warnings }: ParsedFlags<typeof schema>): Promise<number> {
  const [problem] = findProblems(ownSchema, { verbosity, loggingFormat, workers });
  if (problem !== undefined) throw new StartError(problem);
  const startedMs = performance.timeOrigin;
  const logger = createLogger({ verbosity, format: loggingFormat as LogFormat, clock: systemClock, write: (line) => process.stderr.write(line) });
  for (const warning of warnings) logger.warn(warning);
  const stopped = waitForSignal();
  // A rejected promise without a handler is a bug of this program and no reason to end the requests of other clients.
  process.on('unhandledRejection', (reason) => logger.error('an error was not handled', describeError(reason)));
  const console = settings.console && (given.has('console') || (isOwnMachine(settings.bindAddress) && workers === 1));
  const options = { ...settings, console, ...(needsNoData(given) && { dataDir: '' }), logger };
  const server = await (workers === 1 ? startServer(options) : startWorkers(options, workers, { verbosity, format: loggingFormat as LogFormat }));
  print(`Serving on ${server.url}, ready in ${Math.round(systemClock.now() - startedMs)} ms`);
  if (console) print(`Console: ${server.url}/console/ (pintle console opens it)`);
  print(`kubectl --kubeconfig ${server.kubeconfigPath} get namespaces`);
  const stopTrim = startHeapTrim(systemClock);
  await stopped;
  stopTrim();
  await server.close();
  return 0;
}
