// The command line of `pintle`: finds the command, reads its flags, runs it. Without a command it serves.
import { StartError } from '../options/options.ts';
import { FlagError, type ParsedFlags, parseFlags } from '../options/parse-flags.ts';
import type { Schema } from '../options/schema.ts';
import { type Command, print } from './command.ts';
import { createCompletionCommand } from './completion-command.ts';
import { formatCommandHelp, formatHelp } from './help.ts';
import { kubeconfigCommand } from './kubeconfig-command.ts';
import { serveCommand } from './serve.ts';
import { storageBumpCommand } from './storage/bump-command.ts';
import { storageCheckCommand } from './storage/check-command.ts';
import { storageCopyCommand } from './storage/copy-command.ts';
import { storageRestoreCommand } from './storage/restore-command.ts';
import { storageSnapshotCommand } from './storage/snapshot-command.ts';
import { versionCommand } from './version-command.ts';

/** All commands; the first is the default. */
export const commands: readonly Command[] = [
  serveCommand, kubeconfigCommand, storageSnapshotCommand, storageRestoreCommand, storageCheckCommand, storageCopyCommand, storageBumpCommand, versionCommand,
  createCompletionCommand(() => commands),
] as readonly Command[];

/** What a command line asks for. */
export type Invocation =
  | { readonly type: 'run'; readonly command: Command; readonly flags: ParsedFlags<Schema> }
  | { readonly type: 'help'; readonly text: string }
  | { readonly type: 'error'; readonly message: string };

/** Reads the arguments after the program's name. */
export function parseCommandLine(args: readonly string[]): Invocation {
  const { command, rest } = findCommand(args);
  const isHelp = args.some((arg) => arg === '--help' || arg === '-h') || args[0] === 'help';
  if (isHelp) return { type: 'help', text: command === undefined ? formatHelp(commands) : formatCommandHelp(command) };
  const chosen = command ?? (args.includes('--version') ? versionCommand : serveCommand as unknown as Command);
  try {
    return { type: 'run', command: chosen, flags: parseFlags(chosen, chosen === versionCommand ? [] : rest) };
  } catch (error) {
    if (error instanceof FlagError) return { type: 'error', message: error.message };
    throw error;
  }
}

/** The command that the first words name; a group of commands without a second word is an error of its flags. */
function findCommand(args: readonly string[]): { readonly command: Command | undefined; readonly rest: readonly string[] } {
  const found = commands.map((command) => ({ command, words: command.name.split(' ') })).find(({ words }) => words.every((word, at) => args[at] === word));
  return found === undefined ? { command: undefined, rest: args } : { command: found.command, rest: args.slice(found.words.length) };
}

/** Runs a command line to its end; returns the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const invocation = parseCommandLine(args);
  try {
    if (invocation.type === 'error') throw new StartError(invocation.message);
    return invocation.type === 'help' ? print(invocation.text.trimEnd()) : await invocation.command.run(invocation.flags);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`pintle: ${error.message}\n`);
    return 1;
  }
}
