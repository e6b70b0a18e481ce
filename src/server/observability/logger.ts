// Structured logs: one JSON object per line. Quiet by default: errors and warnings; levels above 0 come with `--v`.
// Values are escaped by JSON, so no name or header of a client can forge a line. Callers never hand in secrets.
import type { Clock } from '../../base/index.ts';

/** Where a server reports to its operator. */
export interface Logger {
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Written when the verbosity is at least `level`. */
  info(level: number, message: string, fields?: Readonly<Record<string, unknown>>): void;
  readonly verbosity: number;
}

/** Makes a logger that writes lines with `write`; `verbosity` below 0 keeps everything but errors to itself. */
export function createLogger(options: { readonly verbosity: number; readonly clock: Clock; readonly write: (line: string) => void }): Logger {
  const { verbosity, clock, write } = options;
  const log = (level: string, message: string, fields: Readonly<Record<string, unknown>> | undefined) => {
    write(`${JSON.stringify({ time: new Date(clock.now()).toISOString(), level, message, ...fields })}\n`);
  };
  return {
    verbosity,
    error: (message, fields) => log('error', message, fields),
    warn: (message, fields) => verbosity >= 0 && log('warn', message, fields),
    info: (level, message, fields) => verbosity >= level && log('info', message, fields),
  };
}

/** A logger that says nothing; the library's default. */
export const silentLogger: Logger = { verbosity: -1, error() {}, warn() {}, info() {} };

/** What may be logged of something that was thrown. */
export function describeError(error: unknown): { readonly error: string; readonly stack?: string | undefined } {
  return error instanceof Error ? { error: error.message, stack: error.stack } : { error: String(error) };
}
