// Flags as kube-apiserver spells them, from one table. An unknown flag is an error that names the nearest one; a flag of kube-apiserver
// that means nothing here is accepted with a warning, so that its manifests and scripts can be used as they are.
import { parseDuration } from '../../base/index.ts';
import { type FlagRow, flagTable } from './flag-table.ts';
import { ignoredSwitches, ignoredValues } from './ignored-flags.ts';
import { type KubeconfigRequest, parseKubeconfigArguments } from '../cli/make-kubeconfig.ts';
import type { ServerOptions } from './options.ts';
import { type CopyRequest, copyUsage, parseCopyArguments } from '../cli/storage-copy-command.ts';

/** What a command line asks for. */
export type CommandLine =
  | { readonly type: 'serve'; readonly options: Partial<ServerOptions>; readonly verbosity: number; readonly warnings: readonly string[] }
  | { readonly type: 'check'; readonly dataDir: string }
  | { readonly type: 'kubeconfig'; readonly request: KubeconfigRequest }
  | { readonly type: 'copy'; readonly request: CopyRequest }
  | { readonly type: 'help' }
  | { readonly type: 'version' }
  | { readonly type: 'error'; readonly message: string };

type Values = Map<string, unknown>;

/** Reads the arguments after the program's name. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const [first, second, ...rest] = args;
  try {
    if (first === 'storage' && second === 'check') return { type: 'check', dataDir: readFlags(rest, []).get('dataDir') as string };
    if (first === 'storage' && second === 'copy' && !rest.includes('--help')) return readCopyCommand(rest);
    if (args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help')) return { type: 'help' };
    if (first === 'kubeconfig') return readKubeconfigCommand(args.slice(1));
    if (args.some((arg) => arg === '--version')) return { type: 'version' };
    const warnings: string[] = [];
    const values = readFlags(args, warnings);
    if (needsNoData(values)) values.set('dataDir', '');
    const { verbosity, ...options } = Object.fromEntries(values) as Partial<ServerOptions> & { verbosity: number };
    return { type: 'serve', options, verbosity, warnings };
  } catch (error) {
    if (error instanceof FlagError) return { type: 'error', message: error.message };
    throw error;
  }
}

/** With etcd and a directory for certificates there is nothing left for the default data directory, which nobody asked for. */
function needsNoData(values: Values): boolean {
  const isGiven = (name: string): boolean => given.get(values)?.has(name) === true;
  return isGiven('etcd-servers') && isGiven('cert-dir') && !isGiven('data-dir');
}

function readKubeconfigCommand(args: readonly string[]): CommandLine {
  const request = parseKubeconfigArguments(args);
  return typeof request === 'string' ? { type: 'error', message: request } : { type: 'kubeconfig', request };
}

function readCopyCommand(args: readonly string[]): CommandLine {
  const request = parseCopyArguments(args);
  return typeof request === 'string' ? { type: 'error', message: request } : { type: 'copy', request };
}

class FlagError extends Error {}

function readFlags(args: readonly string[], warnings: string[]): Values {
  const values: Values = new Map(flagTable.filter((row) => row.default !== undefined).map((row) => [row.option, parseValue(row, row.default as string)]));
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string;
    const match = /^(?:--([^=]+)|-(v))(?:=(.*))?$/s.exec(arg);
    if (match === null) throw new FlagError(`unknown argument: ${arg}`);
    const name = (match[1] ?? match[2] as string).replaceAll('_', '-');
    const row = flagTable.find((one) => one.name === name);
    if (row === undefined && !ignoredSwitches.has(name) && !ignoredValues.has(name)) throw new FlagError(describeUnknown(name));
    const takesNext = match[3] === undefined && !(row === undefined ? ignoredSwitches.has(name) : row.type === 'switch');
    if (takesNext) index += 1;
    const text = takesNext ? args[index] : match[3] ?? 'true';
    if (text === undefined) throw new FlagError(`flag needs an argument: --${name}`);
    if (row === undefined) warnings.push(`--${name} means nothing here and is ignored`);
    else setValue(values, row, text);
  }
  return values;
}

const given = new WeakMap<Values, Set<string>>();

/** Lists that are given several times add up; the first one replaces the default. */
function setValue(values: Values, row: FlagRow, text: string): void {
  if (row.refuse !== undefined) throw new FlagError(`--${row.name}: ${row.refuse}`);
  const seen = given.get(values) ?? new Set();
  given.set(values, seen.add(row.name));
  const value = parseValue(row, text);
  const before = values.get(row.option);
  values.set(row.option, row.type === 'list' && seen.has(`${row.name}+`) ? [...(before as string[]), ...(value as string[])] : value);
  seen.add(`${row.name}+`);
}

function parseValue(row: FlagRow, text: string): unknown {
  const fail = (wanted: string) => new FlagError(`invalid argument ${JSON.stringify(text)} for --${row.name}: ${wanted}`);
  switch (row.type) {
    case 'text': return text;
    case 'list': return text.split(',').map((item) => item.trim()).filter((item) => item !== '');
    case 'switch':
      if (!/^(true|false|1|0|t|f)$/i.test(text)) throw fail('must be true or false');
      return /^(true|1|t)$/i.test(text);
    case 'integer':
      if (!/^-?\d{1,9}$/.test(text)) throw fail('must be a whole number');
      return Number(text);
    case 'duration': {
      const duration = parseDuration(text);
      if (typeof duration === 'string') throw fail(duration);
      return duration;
    }
  }
}

function describeUnknown(name: string): string {
  const names = [...flagTable.map((row) => row.name), ...ignoredSwitches, ...ignoredValues];
  const ranked = names.map((known) => ({ known, distance: countEdits(name, known) })).sort((one, two) => one.distance - two.distance);
  const [nearest] = ranked;
  return `unknown flag: --${name}${nearest === undefined || name.length > 64 ? '' : ` (the nearest is --${nearest.known})`}`;
}

/** Levenshtein distance of two short texts. */
function countEdits(one: string, two: string): number {
  if (one.length > 64) return one.length;
  let row = Array.from({ length: two.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= two.length; j += 1) {
      const same = one[i - 1] === two[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same));
    }
    row = next;
  }
  return row[two.length] as number;
}

/** The text of `--help`. */
export function formatHelp(): string {
  const lines = flagTable.filter((row) => row.help !== '').map((row) => {
    const value = row.type === 'switch' ? '' : ` ${row.type}`;
    const shown = row.default === undefined || row.default === '' ? '' : ` (default ${row.default})`;
    return `  --${row.name}${value}\n      ${row.help}${shown}`;
  });
  return [
    'pintle: the Kubernetes API without the cluster', '', 'Usage:', '  pintle [flags]', '  pintle storage check --data-dir DIR', `  ${copyUsage}`,
    '  pintle kubeconfig --user NAME [--group GROUP]... [--data-dir DIR] [--server URL] [--lifetime 8760h]', '', 'Flags:', ...lines,
    '  --help', '      Print this text.', '  --version', '      Print the version.', '',
    'Other flags of kube-apiserver are accepted with a warning and ignored.', '',
  ].join('\n');
}
