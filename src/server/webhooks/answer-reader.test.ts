// Answers in HTTP/1.1: however they are cut into pieces, and what is refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerReader } from './answer-reader.ts';

const LIMIT_BYTES = 20;

/** Reads a text in pieces of this many bytes. */
function read(text: string, step: number): { readonly reader: AnswerReader; readonly isDone: boolean } {
  const reader = new AnswerReader(LIMIT_BYTES);
  const bytes = Buffer.from(text);
  let isDone = false;
  for (let at = 0; at < bytes.length && !isDone; at += step) isDone = reader.take(bytes.subarray(at, at + step));
  return { reader, isDone };
}

const answer = (...lines: string[]): string => lines.join('\r\n');

describe('AnswerReader', () => {
  it('reads bodies by length, in chunks and to the end of the connection, in pieces of any size', () => {
    const whole: Readonly<Record<string, { readonly text: string; readonly isKept: boolean }>> = {
      length: { text: answer('HTTP/1.1 200 OK', 'Content-Length: 5', 'X-A: 1', 'x-a:  2 ', '', 'hello'), isKept: true },
      closed: { text: answer('HTTP/1.1 200', 'Content-Length: 5', 'Connection: Close', '', 'hello'), isKept: false },
      old: { text: answer('HTTP/1.0 200 OK', 'Content-Length: 5', '', 'hello'), isKept: false },
      chunked: { text: answer('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '3;a=b', 'hel', '2', 'lo', '0', 'Trailer: x', '', ''), isKept: true },
      early: { text: answer('HTTP/1.1 103 Early Hints', 'Link: x', '', 'HTTP/1.1 200 OK', 'Content-Length: 5', '', 'hello'), isKept: true },
    };
    for (const [name, { text, isKept }] of Object.entries(whole)) {
      for (const step of [1, 2, 7, text.length]) {
        const { reader, isDone } = read(text, step);
        assert.deepEqual([isDone, reader.status, reader.body.toString(), reader.isKept], [true, 200, 'hello', isKept], `${name} by ${step}`);
      }
    }
    assert.equal(read(whole['length']?.text ?? '', 3).reader.headers['x-a'], '1, 2');
    const { reader, isDone } = read(answer('HTTP/1.1 200 OK', '', 'hello'), 4);
    assert.deepEqual([isDone, reader.takeEnd(), reader.body.toString(), reader.isKept], [false, true, 'hello', false]);
    assert.equal(read(answer('HTTP/1.1 204 None', '', ''), 4).isDone, true);
  });

  it('does not keep connections that bring more than the answer', () => {
    const { reader, isDone } = read(answer('HTTP/1.1 200 OK', 'Content-Length: 1', '', 'ab'), 100);
    assert.deepEqual([isDone, reader.body.toString(), reader.isKept], [true, 'a', false]);
    assert.equal(read(answer('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '0', '', 'HTTP/1.1 200'), 200).reader.isKept, false);
  });

  it('says whether the answer was cut short', () => {
    const { reader, isDone } = read(answer('HTTP/1.1 200 OK', 'Content-Length: 6', '', 'hello'), 100);
    assert.deepEqual([isDone, reader.hasBegun, reader.takeEnd()], [false, true, false]);
    assert.equal(new AnswerReader(LIMIT_BYTES).hasBegun, false);
  });

  it('refuses what is no answer, and too much of one', () => {
    const refused: Readonly<Record<string, RegExp>> = {
      [answer('SSH-2.0-x', '', '')]: /malformed HTTP response "SSH-2.0-x"$/,
      [answer('HTTP/1.1 101 Switching', '', '')]: /unexpected protocol/,
      [answer('HTTP/1.1 200 OK', 'no colon', '', '')]: /malformed MIME header line: "no colon"$/,
      [answer('HTTP/1.1 200 OK', 'Content-Length: 1', 'Content-Length: 2', '', '')]: /bad Content-Length "1, 2"$/,
      [answer('HTTP/1.1 200 OK', 'Content-Length: -1', '', '')]: /bad Content-Length/,
      [answer('HTTP/1.1 200 OK', 'Transfer-Encoding: gzip', '', '')]: /unsupported transfer encoding: "gzip"$/,
      [answer('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', 'zz', '')]: /invalid byte in chunk length "zz"$/,
      [answer('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '1', 'abc', '')]: /malformed chunked encoding "bc"$/,
      [answer('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', 'x'.repeat(2000))]: /header line too long/,
      [answer('HTTP/1.1 200 OK', 'Content-Length: 21', '', 'x'.repeat(21))]: /^the answer is larger than 20 bytes$/,
      ['x'.repeat(70_000)]: /too large a head/,
    };
    for (const [text, message] of Object.entries(refused)) assert.throws(() => read(text, text.length), { message }, text.slice(0, 80));
  });
});
