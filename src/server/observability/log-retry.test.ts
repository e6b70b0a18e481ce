// The level at which failures of the server's own loops are logged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock, invariant } from '../../base/index.ts';
import { logRetry } from './log-retry.ts';
import { createLogger } from './logger.ts';

test('logRetry logs defects of the server as errors at any verbosity, and failures of the world at 2', () => {
  const lines: string[] = [];
  const quiet = createLogger({ verbosity: 0, clock: createManualClock(), write: (line) => lines.push(line) });
  const verbose = createLogger({ verbosity: 2, clock: createManualClock(), write: (line) => lines.push(line) });
  const levels = (): unknown[] => lines.splice(0).map((line) => (JSON.parse(line) as { level: string }).level);
  let defect: unknown;
  try {
    invariant(false, 'x');
  } catch (error) {
    defect = error;
  }
  for (const logger of [quiet, verbose]) {
    logRetry(logger, 'again', { error: defect });
    logRetry(logger, 'again', { error: new TypeError('x is undefined') });
    logRetry(logger, 'again', { error: new Error('the store does not answer') });
    logRetry(logger, 'again', { error: new Error('the store does not answer'), isWarning: true });
  }
  assert.deepEqual(levels(), ['error', 'error', 'warn', 'error', 'error', 'info', 'warn']);
});
