// Tests of handlers as tables: a row is one API call, with the status, headers and body that its answer must have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestApi, TestRequest } from './testing.ts';

/** One API call, and the expected parts of its answer. */
export interface Row {
  readonly name: string;
  readonly request: TestRequest;
  readonly status: number;
  /** Expected headers by lower-case name; undefined for a header that must be absent. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Expected values of the JSON body by dotted path. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The whole body as text. */
  readonly text?: string;
}

const valueAt = (json: any, path: string): unknown => path.split('.').reduce((value, key) => value?.[key], json);

/** Registers a test for each row; they run in order on one API. */
export function testRows(subject: string, api: TestApi, rows: readonly Row[]): void {
  for (const { name, request, status, headers = {}, body = {}, text: whole } of rows) {
    test(`${subject} ${name}`, async () => {
      const answer = await api.send(request);
      assert.equal(answer.status, status, answer.text);
      for (const [header, value] of Object.entries(headers)) assert.deepEqual(answer.headers[header], value, header);
      for (const [path, value] of Object.entries(body)) assert.deepEqual(valueAt(answer.json, path), value, `${path} of ${answer.text}`);
      if (whole !== undefined) assert.equal(answer.text, whole);
    });
  }
}
