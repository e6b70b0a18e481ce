// The program as a function of its arguments: what the command of a checkout and the bundled command run.
import { runCommandLine } from './server/index.ts';

/** Runs a command line to its end; returns the exit code. */
export const main = (args: readonly string[]): Promise<number> => runCommandLine(args, () => import('./testing/program/programs.ts'));
