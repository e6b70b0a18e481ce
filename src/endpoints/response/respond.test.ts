// Responses: compression, and errors in each encoding.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, type SchemaSet, tooManyRequests } from '../../apimachinery/index.ts';
import type { Exchange } from '../exchange.ts';
import { GZIP_MIN_BYTES, respondBytes, respondError, respondText } from './respond.ts';

const exchange = (headers: Record<string, string> = {}, warnings: string[] = []): Exchange =>
  ({ headers, warnings, query: new URLSearchParams() }) as unknown as Exchange;
const text = (body: unknown): string => new TextDecoder().decode(body as Uint8Array);

test('respondBytes compresses bodies above 128 KiB for clients that read gzip', async () => {
  const gzip = async (): Promise<Uint8Array> => Uint8Array.of(1);
  const large = new Uint8Array(GZIP_MIN_BYTES + 1);
  for (const [bytes, accepted, encoding] of [
    [large, 'gzip', 'gzip'], [large, 'br, gzip', 'gzip'], [large, 'br', undefined], [large, '', undefined], [large.subarray(1), 'gzip', undefined],
  ] as const) {
    const response = await respondBytes(exchange({ 'accept-encoding': accepted }), { gzip }, { status: 200, contentType: 't', body: [bytes] });
    assert.deepEqual([response.headers['content-encoding'], response.headers['vary']], [encoding, encoding && 'Accept-Encoding'], accepted);
  }
});

test('respondError answers a Status in the accepted encoding', () => {
  const error = failure(409, 'Conflict', 'no');
  const json = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"Conflict","code":409}';
  for (const [accept, type, body] of [
    ['application/json', 'application/json', `${json}\n`], ['text/html', 'application/json', JSON.stringify(JSON.parse(json), null, 2)],
    ['application/vnd.kubernetes.protobuf', 'application/json', `${json}\n`],
    ['application/yaml', 'application/yaml', 'apiVersion: v1\ncode: 409\nkind: Status\nmessage: "no"\nmetadata: {}\nreason: Conflict\nstatus: Failure\n'],
  ] as const) {
    const response = respondError(exchange({ accept }), error, { schemas: { definition: () => undefined } as unknown as SchemaSet });
    assert.deepEqual([response.status, response.headers['content-type'], text(response.body)], [409, type, body], accept);
  }
});

test('respondError says when to retry, keeps warnings, and makes a 500 of a bug', () => {
  assert.equal(respondError(exchange(), tooManyRequests('later', 3)).headers['retry-after'], '3');
  assert.deepEqual(respondError(exchange({}, ['w']), failure(400, 'BadRequest', 'm')).headers['warning'], ['299 - "w"']);
  const bug = respondError(exchange(), new TypeError('x is not a function'));
  assert.deepEqual([bug.status, JSON.parse(text(bug.body)).reason], [500, 'InternalError']);
});

test('respondText is never sniffed', () => {
  const { headers } = respondText(exchange(), 404, 'x');
  assert.deepEqual([headers['content-type'], headers['x-content-type-options']], ['text/plain; charset=utf-8', 'nosniff']);
});
