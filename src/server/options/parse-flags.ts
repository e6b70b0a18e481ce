// Flags to settings, for every command alike: a schema says which flags there are. An unknown flag is an error that names the nearest one.
import { quoteGo } from '../../apimachinery/index.ts';
import { type FlagType, ValueError, readValue } from './go-values.ts';
import type { ReferenceFlag } from './reference-flags.ts';
import { type Option, type Schema, type SettingsOf, defaultsOf } from './schema.ts';

const LONGEST_NAME = 64;

/** A fault of a command line, as one line for its user. */
export class FlagError extends Error {}

/** Which flags a command takes. */
export interface FlagRules<S extends Schema> {
  readonly schema: S;
  /** Flags of kube-apiserver that are no options; none unless given. */
  readonly reference?: ReadonlyMap<string, ReferenceFlag>;
  /** Whether arguments without a dash, and `-` alone, are names of files. */
  readonly takesFiles?: boolean;
}

/** What a command line gives. */
export interface ParsedFlags<S extends Schema> {
  readonly settings: SettingsOf<S>;
  /** Names of the flags that were given. */
  readonly given: ReadonlySet<string>;
  readonly warnings: readonly string[];
  /** Arguments that are no flags, where the command takes such. */
  readonly files: readonly string[];
}

interface Argument {
  readonly name: string;
  /** The text after `=`, undefined without one. */
  readonly inline: string | undefined;
}

/** Reads arguments into settings. Throws FlagError. */
export function parseFlags<S extends Schema>({ schema, reference = new Map(), takesFiles }: FlagRules<S>, args: readonly string[]): ParsedFlags<S> {
  const byFlag = new Map(Object.entries(schema).flatMap(([setting, option]) => (option.flag === undefined ? [] : [[option.flag, { setting, option }]])));
  const shorts = new Map(Object.values(schema).flatMap(({ short, flag = '' }) => (short === undefined ? [] : [[short, flag]])));
  const files: string[] = [];
  const settings = new Map<string, unknown>(Object.entries(commandLineDefaults(schema)));
  const given = new Set<string>();
  const warnings: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] as string;
    if (takesFiles === true && (argument === '-' || !argument.startsWith('-'))) {
      files.push(argument);
      continue;
    }
    // As kube-apiserver does: scripts pass the value of a variable that is not set.
    if (argument === '') continue;
    const { name, inline } = readArgument(argument, shorts);
    const row = byFlag.get(name);
    const other = reference.get(name);
    if (row === undefined && other === undefined) throw new FlagError(describeUnknown(name, [...byFlag.keys(), ...reference.keys()]));
    const takesNext = inline === undefined && (row?.option.type ?? other?.type) !== 'switch';
    if (takesNext) index += 1;
    const text = takesNext ? args[index] : inline ?? 'true';
    if (text === undefined) throw new FlagError(`flag needs an argument: --${name}`);
    if (row === undefined) warnings.push(...describeReference(name, other as ReferenceFlag, text));
    else settings.set(row.setting, addValue(row.option, { text, before: given.has(name) ? settings.get(row.setting) : undefined }));
    given.add(name);
  }
  return { settings: Object.fromEntries(settings) as SettingsOf<S>, given, warnings, files };
}

function readArgument(argument: string, shorts: ReadonlyMap<string, string>): Argument {
  const match = /^(?:--([^=]+)|-([a-z]))(?:=(.*))?$/s.exec(argument);
  const name = match?.[1] ?? (match?.[2] === 'v' ? 'v' : shorts.get(match?.[2] ?? ''));
  if (name === undefined) throw new FlagError(`unknown argument: ${argument}`);
  return { name: name.replaceAll('_', '-'), inline: match?.[3] };
}

function commandLineDefaults(schema: Schema): Record<string, unknown> {
  const defaults = Object.entries(defaultsOf(schema)).filter(([setting]) => schema[setting]?.type !== 'value');
  const others = Object.entries(schema).flatMap(([setting, option]) =>
    (option.flagDefault === undefined ? [] : [[setting, parseValue(option, option.flagDefault)] as const]));
  return Object.fromEntries([...defaults, ...others]);
}

const isList = ({ type }: Option<unknown>): boolean => type === 'list' || type === 'words' || type === 'texts';

/** Lists that are given several times add up; the first one replaces the default. */
function addValue(option: Option<unknown>, { text, before }: { readonly text: string; readonly before: unknown }): unknown {
  const value = parseValue(option, text);
  return isList(option) && before !== undefined ? [...(before as string[]), ...(value as string[])] : value;
}

const parseValue = ({ type, flag = '' }: Option<unknown>, text: string): unknown => (type === 'value' ? text : readFlag(flag, type, text));

function readFlag(name: string, type: FlagType, text: string): unknown {
  try {
    return readValue(type, text);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new FlagError(`invalid argument ${quoteGo(text)} for "--${name}" flag: ${error.message}`);
  }
}

function describeReference(name: string, { type, effect, accepts }: ReferenceFlag, text: string): string[] {
  const value = readFlag(name, type, text);
  if (accepts.some((accepted) => accepted === value)) return [];
  if (effect === 'warned') return [`--${name} means nothing here and is ignored`];
  throw new FlagError(`--${name}=${text} is not supported${accepts.length > 0 ? `; only ${accepts.join(' or ')} is` : ''}`);
}

function describeUnknown(name: string, names: readonly string[]): string {
  const nearest = findNearest(name, names);
  return `unknown flag: --${name}${nearest === undefined ? '' : ` (the nearest is --${nearest})`}`;
}

/** The one of `names` that is most like `name`; undefined where there is none, or `name` is too long to be a slip. */
export function findNearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  return names.map((known) => ({ known, distance: countEdits(name, known) })).sort((one, two) => one.distance - two.distance)[0]?.known;
}

/** Levenshtein distance of two short texts. */
function countEdits(one: string, two: string): number {
  if (one.length > LONGEST_NAME) return one.length;
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
