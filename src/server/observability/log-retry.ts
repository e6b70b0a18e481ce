// Failures of the server's own loops, which are tried again. Those that the world explains (a store that does not answer, a conflict) are for
// the curious; those that are a defect of the server are errors, whatever the verbosity.
import { InvariantError } from '../../base/index.ts';
import { type Logger, describeError } from './logger.ts';

const defects = [InvariantError, TypeError, ReferenceError, RangeError, SyntaxError];

/** Whether something thrown is a defect of the server rather than a state of the world. */
export const isDefect = (error: unknown): boolean => defects.some((type) => error instanceof type);

interface RetryLog {
  readonly error: unknown;
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Logs at verbosity 0; by default failures that are no defects appear from verbosity 2 on. */
  readonly isWarning?: boolean;
}

/** Logs a failure after which the work is tried again. */
export function logRetry(logger: Logger, message: string, { error, fields, isWarning = false }: RetryLog): void {
  const described = { ...fields, ...describeError(error) };
  if (isDefect(error)) logger.error(message, described);
  else if (isWarning) logger.warn(message, described);
  else logger.info(2, message, described);
}
