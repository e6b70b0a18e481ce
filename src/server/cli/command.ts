// What each command line does. Everything that a person reads goes to stdout, logs and errors to stderr.
import { systemClock } from '../../base/index.ts';
import { findStoreDirectory } from './data-directory.ts';
import { type CommandLine, formatHelp } from '../options/flags.ts';
import { startHeapTrim } from '../observability/heap-trim.ts';
import { createLogger, describeError } from '../observability/logger.ts';
import { makeKubeconfig } from './make-kubeconfig.ts';
import { StartError } from '../options/options.ts';
import { startServer } from '../server.ts';
import { runCopy } from './storage-copy-command.ts';
import { readPackageVersion } from './version.ts';

/** Runs to the end; answers the exit code. */
export async function runCommand(command: CommandLine): Promise<number> {
  try {
    switch (command.type) {
      case 'help': return print(formatHelp().trimEnd());
      case 'version': return print(`pintle ${readPackageVersion()}`);
      case 'error': throw new StartError(command.message);
      case 'kubeconfig': return print(makeKubeconfig(command.request).trimEnd());
      case 'check': return await checkStore(command.dataDir);
      case 'copy': return print(await runCopy(command.request));
      case 'serve': return await serve(command);
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`pintle: ${error.message}\n`);
    return 1;
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

async function checkStore(dataDir: string): Promise<number> {
  const { checkEmbeddedStore } = await import('../../storage/index.ts');
  const directory = findStoreDirectory(dataDir);
  try {
    const report = await checkEmbeddedStore(directory);
    if (report.ok) return print(`ok: ${report.keys} keys at revision ${report.revision}`);
    for (const problem of report.problems) process.stderr.write(`${problem}\n`);
    return 1;
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error });
  }
}

async function serve({ options, verbosity, warnings }: Extract<CommandLine, { type: 'serve' }>): Promise<number> {
  const startedMs = performance.timeOrigin;
  const logger = createLogger({ verbosity, clock: systemClock, write: (line) => process.stderr.write(line) });
  for (const warning of warnings) logger.warn(warning);
  const stopped = waitForSignal();
  // A promise that nobody watched is a mistake of ours, not a reason to take every other request down.
  process.on('unhandledRejection', (reason) => logger.error('an error was not handled', describeError(reason)));
  const server = await startServer({ ...options, logger });
  print(`Serving on ${server.url}, ready in ${Math.round(systemClock.now() - startedMs)} ms`);
  print(`kubectl --kubeconfig ${server.kubeconfigPath} get namespaces`);
  const stopTrim = startHeapTrim(systemClock);
  await stopped;
  stopTrim();
  await server.close();
  return 0;
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve();
      });
    }
  });
}
