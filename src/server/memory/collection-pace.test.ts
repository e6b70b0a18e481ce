// When a full collection is begun for what requests leave to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CollectionPace } from './collection-pace.ts';

const MANY = 1000;
/** Requests with so many lines of headers that are one too few. */
const ALMOST = Math.ceil(250_000 / (7 + MANY)) - 1;

function countRequests(pace: CollectionPace, requests: number): void {
  for (let request = 0; request < requests; request++) pace.count(MANY);
}

test('CollectionPace begins a collection whenever enough lines of headers have gathered', () => {
  let begun = 0;
  const pace = new CollectionPace(() => {
    begun += 1;
  });
  countRequests(pace, ALMOST);
  assert.equal(begun, 0);
  pace.count(MANY);
  assert.equal(begun, 1);
  countRequests(pace, ALMOST);
  assert.equal(begun, 1);
  pace.count(MANY);
  assert.equal(begun, 2);
});

test('CollectionPace counts from the last full collection, whatever began it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: object) => void;
  let begun = 0;
  const pace = new CollectionPace(() => {
    begun += 1;
  });
  countRequests(pace, ALMOST);
  collect({ type: 'minor' });
  await sleep(10);
  pace.count(MANY);
  assert.equal(begun, 1, 'a collection of young objects gives nothing back');
  countRequests(pace, ALMOST);
  collect();
  await sleep(10);
  countRequests(pace, ALMOST);
  assert.equal(begun, 1);
});
