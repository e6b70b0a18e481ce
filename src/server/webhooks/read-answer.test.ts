// Answers of other servers: their bounds.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { parseAnswer, readAnswer } from './read-answer.ts';

const answerOf = (...chunks: string[]): IncomingMessage => Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as unknown as IncomingMessage;

describe('readAnswer', () => {
  it('reads as far as its limit', async () => {
    assert.equal((await readAnswer(answerOf('ab', 'cd'), 4)).toString(), 'abcd');
    await assert.rejects(readAnswer(answerOf('ab', 'cd'), 3), { message: 'the answer is larger than 3 bytes' });
  });
});

describe('parseAnswer', () => {
  it('reads what JSON.parse reads', () => {
    for (const text of ['{"a":[1,{"b":9223372036854775807}],"c":1.0,"d":"\\ud800","a ":null}', '18446744073709551616', '"x"', 'null', '{"a":1,"a":2}']) {
      assert.deepEqual(parseAnswer(Buffer.from(text)), JSON.parse(text.replace('\\ud800', '\uFFFD')));
    }
    for (const text of ['', '{', '{"a":1}x']) assert.throws(() => parseAnswer(Buffer.from(text)));
  });

  it('refuses what is nested too deep for walks', () => {
    for (const depth of [1_001, 200_000]) assert.throws(() => parseAnswer(Buffer.from('['.repeat(depth) + ']'.repeat(depth))), /depth/);
  });
});
