// The command line of `pintle`: finds the command, reads its flags, runs it. Without a command it serves.
import { keepNewObjectsYoung } from '../memory/young-objects.ts';
import { StartError } from '../options/options.ts';
import { FlagError, type ParsedFlags, findNearest, parseFlags } from '../options/parse-flags.ts';
import { type Schema, findProblems } from '../options/schema.ts';
import { colour } from './colour.ts';
import { type Command, type RunWithServer, print } from './command.ts';
import { createCompletionCommand } from './completion-command.ts';
import { consoleCommand } from './console-command.ts';
import { envtestCommand } from './envtest-command.ts';
import { formatCommandHelp, formatGroupHelp, formatHelp } from './help.ts';
import { kubeconfigCommand } from './kubeconfig-command.ts';
import { createCheckCommand } from './manifests/check-command.ts';
import { createPlanCommand } from './manifests/plan-command.ts';
import type { EvaluateManifests } from './manifests/schema.ts';
import { type RunSettings, createRunCommand } from './run-command.ts';
import { serveCommand } from './serve.ts';
import { storageBumpCommand } from './storage/bump-command.ts';
import { storageCheckCommand } from './storage/check-command.ts';
import { storageCopyCommand } from './storage/copy-command.ts';
import { storageRestoreCommand } from './storage/restore-command.ts';
import { storageSnapshotCommand } from './storage/snapshot-command.ts';
import { usersListCommand } from './users/list-command.ts';
import { usersRevokeCommand } from './users/revoke-command.ts';
import { versionCommand } from './version-command.ts';

/** What commands do with a test server. */
export interface TestPrograms {
  readonly runWithServer: RunWithServer<RunSettings>;
  readonly evaluateManifests: EvaluateManifests;
}

/** Loads what the server does not import: the testing room, which is made of servers. */
export type LoadTestPrograms = () => Promise<TestPrograms>;

let loadPrograms: LoadTestPrograms = () => Promise.reject(new StartError('this program has no test server'));
const loadEvaluate = async (): Promise<EvaluateManifests> => (await loadPrograms()).evaluateManifests;

/** All commands; the first is the default. */
export const commands: readonly Command[] = [
  serveCommand, createCheckCommand(loadEvaluate), createPlanCommand(loadEvaluate), createRunCommand(async () => (await loadPrograms()).runWithServer),
  envtestCommand, kubeconfigCommand, consoleCommand, storageSnapshotCommand, storageRestoreCommand, storageCheckCommand, storageCopyCommand,
  storageBumpCommand, usersListCommand, usersRevokeCommand, versionCommand, createCompletionCommand(() => commands),
] as readonly Command[];

/** What a command line asks for. */
export type Invocation =
  | { readonly type: 'run'; readonly command: Command; readonly flags: ParsedFlags<Schema>; readonly words: readonly string[] }
  | { readonly type: 'help'; readonly text: string }
  | { readonly type: 'error'; readonly message: string };

/** Reads the arguments after the program's name. */
export function parseCommandLine(given: readonly string[]): Invocation {
  const { args, words } = splitWords(given);
  const asked = args[0] === 'help' ? args.slice(1) : args;
  const isHelp = args[0] === 'help' || args.some((arg) => arg === '--help' || arg === '-h');
  const { command, group, rest, unknown } = findCommand(asked);
  if (unknown !== undefined) return { type: 'error', message: describeUnknown(unknown, group) };
  if (group !== '' && command === undefined) return { type: 'help', text: formatGroupHelp(commands, group) };
  if (isHelp) return { type: 'help', text: command === undefined ? formatHelp(commands) : formatCommandHelp(command) };
  const chosen = command ?? (args.includes('--version') ? versionCommand : serveCommand as unknown as Command);
  try {
    const flags = parseFlags(chosen, args[0] === '--version' ? [] : nameArgument(chosen, rest));
    // A server checks its options itself, together with those that exclude each other.
    const [problem] = chosen.name === serveCommand.name ? [] : findProblems(chosen.schema, flags.settings);
    return problem === undefined ? { type: 'run', command: chosen, flags, words } : { type: 'error', message: problem };
  } catch (error) {
    if (error instanceof FlagError) return { type: 'error', message: error.message };
    throw error;
  }
}

/** The arguments of a command that runs another one end at `--`. */
function splitWords(given: readonly string[]): { readonly args: readonly string[]; readonly words: readonly string[] } {
  const at = given.indexOf('--');
  if (at < 0 || findCommand(given).command?.takesWords !== true) return { args: given, words: [] };
  return { args: given.slice(0, at), words: given.slice(at + 1) };
}

interface Found {
  readonly command: Command | undefined;
  /** The first word of a group of commands, such as `storage`; '' where none is named. */
  readonly group: string;
  readonly rest: readonly string[];
  /** A word that names no command. */
  readonly unknown: string | undefined;
}

/** The command, or the group of commands, that the first words name. */
function findCommand(args: readonly string[]): Found {
  const isWord = (arg: string | undefined): arg is string => arg !== undefined && !arg.startsWith('-');
  const [first, second] = args;
  if (!isWord(first)) return { command: undefined, group: '', rest: args, unknown: undefined };
  const single = commands.find(({ name }) => name === first);
  if (single !== undefined) return { command: single, group: '', rest: args.slice(1), unknown: undefined };
  if (!commands.some(({ name }) => name.startsWith(`${first} `))) return { command: undefined, group: '', rest: args, unknown: first };
  if (!isWord(second)) return { command: undefined, group: first, rest: args.slice(1), unknown: undefined };
  const found = commands.find(({ name }) => name === `${first} ${second}`);
  return { command: found, group: first, rest: args.slice(2), unknown: found === undefined ? second : undefined };
}

function describeUnknown(word: string, group: string): string {
  const words = commands.map(({ name }) => name.split(' '));
  const names = words.flatMap(([first = '', second]) => (group === '' ? [first] : first === group && second ? [second] : []));
  const nearest = findNearest(word, names);
  return `unknown command: ${[group, word].join(' ').trim()}${nearest === undefined ? '' : ` (the nearest is ${[group, nearest].join(' ').trim()})`}`;
}

/** A command may take one flag without its name. */
function nameArgument({ argument, schema }: Command, args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  return argument === undefined || first === undefined || first.startsWith('-') ? args : [`--${schema[argument]?.flag}=${first}`, ...rest];
}

/** Exit codes: 1 for what failed, 2 for a command line that asks for nothing that there is. */
const [FAILED, MISUSED] = [1, 2];

/** Runs a command line to its end; returns the exit code. */
export async function runCommandLine(args: readonly string[], load: LoadTestPrograms = loadPrograms): Promise<number> {
  loadPrograms = load;
  keepNewObjectsYoung();
  const invocation = parseCommandLine(args);
  if (invocation.type === 'error') return printError(invocation.message, MISUSED);
  if (invocation.type === 'help') return print(invocation.text.trimEnd());
  try {
    return await invocation.command.run(invocation.flags, invocation.words);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return printError(error.message, FAILED);
  }
}

function printError(message: string, code: number): number {
  process.stderr.write(`${colour(process.stderr, 'red', 'pintle:')} ${message}\n`);
  return code;
}
