// Options as data. One row says an option's type, its flag, its default, which values it takes and its help; the types of settings, the command
// line, the checks and the help text all come from these rows.
import type { FlagType } from './go-values.ts';

/** How the value of a flag is read. `value` options have no flag: only code can set them. */
export type OptionType = FlagType | 'value';

/** One option. Durations are milliseconds. */
export interface Option<T> {
  readonly type: OptionType;
  readonly default: T;
  /** Name of the flag, without dashes; absent where only code can set the option. */
  readonly flag?: string;
  /** One letter that stands for the flag, behind one dash. */
  readonly short?: string;
  /** The default on the command line, as it is written there, where it is another than that of the library. */
  readonly flagDefault?: string;
  readonly help: string;
  /** Reports what is wrong with a value, to be read after the name of the flag. */
  readonly check?: (value: T) => string | undefined;
  /** The value as pages and logs may show it, where it holds a secret. */
  readonly shown?: (value: T) => string;
}

/** Options by the name of their setting. Rows of all types stand beside each other; SettingsOf gives each its own. */
export type Schema = Readonly<Record<string, Option<any>>>;

/** The settings that a schema describes. */
export type SettingsOf<S> = { readonly [K in keyof S]: S[K] extends Option<infer T> ? T : never };

type Row<T> = Omit<Option<T>, 'type' | 'default'> & { readonly default?: T };

/** A text; '' where nothing is given. */
export const text = (row: Row<string>): Option<string> => ({ type: 'text', default: '', ...row });

/** A whole number. */
export const integer = (row: Row<number> & { readonly default: number }): Option<number> => ({ type: 'integer', ...row });

/** A number that may have a fraction. */
export const fraction = (row: Row<number> & { readonly default: number }): Option<number> => ({ type: 'number', ...row });

/** True or false; on the command line the flag alone means true. */
export const toggle = (row: Row<boolean> & { readonly default: boolean }): Option<boolean> => ({ type: 'switch', ...row });

/** A duration as Go writes it (`1m30s`); the setting is in milliseconds. */
export const duration = (row: Row<number> & { readonly default: number }): Option<number> => ({ type: 'duration', ...row });

/** Texts with commas between them, as they are; a flag that is repeated adds to the list. */
export const list = <T extends string = string>(row: Row<readonly NoInfer<T>[]>): Option<readonly T[]> => ({ type: 'list', default: [], ...row });

/** A list whose items have no space around them and are not empty: both are passed over. */
export const words = <T extends string = string>(row: Row<readonly NoInfer<T>[]>): Option<readonly T[]> => ({ type: 'words', default: [], ...row });

/** Texts of any form: each use of the flag gives one. */
export const texts = (row: Row<readonly string[]>): Option<readonly string[]> => ({ type: 'texts', default: [], ...row });

/** A setting that only code can give. */
export const value = <T>(fallback: T, help: string): Option<T> => ({ type: 'value', default: fallback, help });

/** The settings of a schema where nothing is given. */
export function defaultsOf<S extends Schema>(schema: S): SettingsOf<S> {
  return Object.fromEntries(Object.entries(schema).map(([name, option]) => [name, option.default])) as SettingsOf<S>;
}

/** Reports what each option's own check finds, behind the name of its flag unless the words of the reference name it elsewhere. */
export function findProblems<S extends Schema>(schema: S, settings: SettingsOf<S>): string[] {
  return Object.entries(schema).flatMap(([name, option]) => {
    const problem = (option as Option<unknown>).check?.(settings[name]);
    if (problem === undefined) return [];
    return option.flag !== undefined && problem.includes(option.flag) ? [problem] : [`${option.flag === undefined ? name : `--${option.flag}`} ${problem}`];
  });
}

const isWhole = (number: number, max = Number.MAX_SAFE_INTEGER): boolean => Number.isInteger(number) && number >= 0 && number <= max;

/** Checks that several options share. */
export const checks = {
  notNegative: (number: number): string | undefined => (isWhole(number) ? undefined : 'can not be negative value'),
  aboveZero: (number: number): string | undefined => (number > 0 ? undefined : 'must be greater than 0'),
  port: (number: number): string | undefined => (isWhole(number, 65_535) ? undefined : `must be between 0 and 65535, not ${number}`),
  oneOf: (...allowed: readonly string[]) => (given: string): string | undefined => (allowed.includes(given) ? undefined : `must be ${allowed.join(' or ')}`),
  eachOneOf: (...allowed: readonly string[]) => (given: readonly string[]): string | undefined => {
    const wrong = given.find((item) => !allowed.includes(item));
    return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is not one of ${allowed.join(', ')}`;
  },
} as const;
