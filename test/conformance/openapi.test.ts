// The OpenAPI documents say the same as kube-apiserver's but for their prose: their digests are those of its documents.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { startTestServer } from '../../src/test-support/index.ts';
import { differencesOf, digestsOf, readDocuments } from '../differential/openapi-shape.ts';

// `dist/test/differential/openapi.js` shows what differs, and records the digests.
const digests = JSON.parse(readFileSync(new URL('../../../test/data/openapi-digests.json', import.meta.url), 'utf8')) as Record<string, string>;

it('OpenAPI documents have the digests of kube-apiserver\'s', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  assert.deepEqual(digestsOf(await readDocuments(server.client)), digests);
});

it('differences are named by the place that differs', () => {
  const shape = (value: unknown) => new Map([['v2', value]]);
  const differences = differencesOf(shape({ a: [{ b: 1 }, 2], c: [1] }), shape({ a: [{ b: 3 }, 2], c: [], d: true }));
  assert.deepEqual(differences.map(({ path }) => path), ['v2 > a > 0 > b', 'v2 > c', 'v2 > d']);
});
