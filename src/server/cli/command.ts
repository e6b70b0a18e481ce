// A command of `pintle`: its name, its flags as a schema, and what it does. The command line, its help and the completions of shells are made
// from these records.
import type { ReferenceFlag } from '../options/reference-flags.ts';
import type { ParsedFlags } from '../options/parse-flags.ts';
import type { Schema } from '../options/schema.ts';

/** One command with flags of its own. */
export interface Command<S extends Schema = Schema> {
  /** The words that select it, such as `storage copy`. */
  readonly name: string;
  readonly summary: string;
  readonly schema: S;
  /** The setting whose flag may be left out: `completion bash`. */
  readonly argument?: keyof S & string;
  /** What that setting may be. */
  readonly argumentValues?: readonly string[];
  /** Flags of kube-apiserver that it takes besides. */
  readonly reference?: ReadonlyMap<string, ReferenceFlag>;
  /** Whether words may follow the flags, behind `--`. */
  readonly takesWords?: boolean;
  /** Whether arguments that are no flags are names of files. */
  readonly takesFiles?: boolean;
  /** Lines that its help ends with. */
  readonly notes?: readonly string[];
  /** Runs to the end and returns the exit code. Throws StartError for what its user can mend. */
  run(flags: ParsedFlags<S>, words: readonly string[]): Promise<number>;
}

/** Runs a command beside a server in memory; answers the exit code. The testing room has it. */
export type RunWithServer<Settings> = (settings: Settings, words: readonly string[]) => Promise<number>;

/** Prints a line for the user; returns the exit code of success. */
export function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
