// What the containers of a pod need together, with numbers as amounts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PodContainers, sumContainers } from './container-amounts.ts';

const numbers = {
  read: (list: unknown): Map<string, number> => new Map(Object.entries((list ?? {}) as Record<string, number>)),
  add: (one: number, other: number): number => one + other,
  compare: (one: number, other: number): number => one - other,
};
const sum = (pod: PodContainers): object => Object.fromEntries(sumContainers(pod, 'requests', numbers));
const one = (requests: object, more: object = {}) => ({ resources: { requests }, ...more });
const sidecar = (requests: object) => one(requests, { restartPolicy: 'Always' });

test('sumContainers adds up what runs side by side', () => {
  assert.deepEqual(sum({}), {});
  assert.deepEqual(sum({ containers: [one({ a: 1 }), {}, one({ a: 2, b: 1 })], initContainers: null }), { a: 3, b: 1 });
  assert.deepEqual(sum({ containers: [one({ a: 1 })], initContainers: [sidecar({ a: 2, c: 1 })] }), { a: 3, c: 1 });
});

test('sumContainers takes an init container beside the sidecars before it where that is more', () => {
  const containers = [one({ a: 1 })];
  assert.deepEqual(sum({ containers, initContainers: [one({ a: 3, b: 1 }), one({ a: 2, b: 2 })] }), { a: 3, b: 2 });
  assert.deepEqual(sum({ containers, initContainers: [sidecar({ a: 2 }), one({ a: 3 })] }), { a: 5 });
  assert.deepEqual(sum({ containers, initContainers: [one({ a: 3 }), sidecar({ a: 2 })] }), { a: 3 });
  assert.deepEqual(sum({ containers, initContainers: [sidecar({ a: 2 }), one({ b: 3 })] }), { a: 3, b: 3 });
});
