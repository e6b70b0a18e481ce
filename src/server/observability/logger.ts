// Structured logs: one JSON object per line, with kube-apiserver's keys and the level, or a line as klog writes it. Quiet by default: errors and
// warnings; levels above 0 come with `--v`.
// Values are escaped, so no name or header of a client can forge a line or command a terminal. Callers never hand in secrets.
import type { Clock } from '../../base/index.ts';

/** The forms of lines, as `--logging-format` names them. */
export const logFormats = ['json', 'text'] as const;

/** A form of log lines. */
export type LogFormat = (typeof logFormats)[number];

/** Where a server reports to its operator. */
export interface Logger {
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Written when the verbosity is at least `level`. */
  info(level: number, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Operators may change it while the server runs. */
  verbosity: number;
  /** The form of its lines, where they have one. */
  readonly format?: LogFormat;
}

interface LoggerOptions {
  /** Below 0 the logger keeps everything but errors to itself. */
  readonly verbosity: number;
  readonly clock: Clock;
  readonly write: (line: string) => void;
  /** json unless given. */
  readonly format?: LogFormat;
}

interface LogLine {
  readonly nowMs: number;
  readonly level: 'error' | 'warn' | 'info';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  /** The verbosity that it needs. */
  readonly verbosity?: number;
}

/** What a terminal or a reader of lines may take for more than text, and JSON leaves as it is: DEL, the controls of C1, Unicode's line ends and turns. */
const controls = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const quote = (value: unknown): string | undefined =>
  JSON.stringify(value)?.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const formatJson = ({ nowMs, level, message, fields, verbosity }: LogLine): string =>
  `${quote({ ts: nowMs, level, msg: message, v: verbosity, ...fields })}\n`;

/** The form of klog: severity, month and day, time, and fields behind the message, all quoted. */
function formatText({ nowMs, level, message, fields = {} }: LogLine): string {
  const [, month, day, time] = /-(\d\d)-(\d\d)T([\d:.]{12})/.exec(new Date(nowMs).toISOString()) ?? [];
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined).map(([name, value]) => ` ${name}=${quote(value)}`);
  return `${(level[0] as string).toUpperCase()}${month}${day} ${time}000 ${process.pid} pintle] ${quote(message)}${pairs.join('')}\n`;
}

/** Makes a logger that writes lines with `write`. */
export function createLogger({ verbosity, clock, write, format = 'json' }: LoggerOptions): Logger {
  const render = format === 'text' ? formatText : formatJson;
  const log = (line: Omit<LogLine, 'nowMs'>): void => write(render({ nowMs: clock.now(), ...line }));
  const logger: Logger = {
    verbosity, format,
    error: (message, fields) => log({ level: 'error', message, fields }),
    warn: (message, fields) => logger.verbosity >= 0 && log({ level: 'warn', message, fields, verbosity: 0 }),
    info: (level, message, fields) => logger.verbosity >= level && log({ level: 'info', message, fields, verbosity: level }),
  };
  return logger;
}

/** A logger that says nothing; the library's default. */
export const silentLogger: Logger = Object.freeze({ verbosity: -1, error() {}, warn() {}, info() {} });

/** What may be logged of something that was thrown. */
export function describeError(error: unknown): { readonly error: string; readonly stack?: string | undefined } {
  return error instanceof Error ? { error: error.message, stack: error.stack } : { error: String(error) };
}
