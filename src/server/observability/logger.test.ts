// Log lines: one line each, whatever they say of what a client has sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../base/index.ts';
import { createLogger, logFormats } from './logger.ts';

/** Controls, line ends of Unicode, and marks that turn the direction of a text. */
const commands = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const hostile = ['a\r\nI1123 pintle] "forged"', '\u001b[2J\u001b]0;title\u0007', '\u009b31m', 'x\u2028y\u2029', '\u202egnp.exe', '\u007f\u0000'];

test('attack 67: no value ends its line or commands a terminal, and JSON says what was sent', () => {
  const text = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary' }));
  for (const format of logFormats) {
    const lines: string[] = [];
    const logger = createLogger({ verbosity: 0, clock: systemClock, write: (line) => void lines.push(line), format });
    fc.assert(fc.property(text, text, (message, value) => {
      logger.warn(message, { value });
      const line = lines.pop() as string;
      assert.ok(line.endsWith('\n'));
      assert.doesNotMatch(line.slice(0, -1), commands);
      if (format === 'json') {
        const { msg: said, value: read } = JSON.parse(line) as { msg: string; value: string };
        assert.deepEqual([said, read], [message, value]);
      }
    }));
  }
});
