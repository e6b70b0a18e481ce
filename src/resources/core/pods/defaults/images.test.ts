// The default pull policy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choosePullPolicy } from './images.ts';

test('choosePullPolicy knows which references mean the latest image', () => {
  for (const image of ['nginx', 'nginx:latest', 'a.b:5000/c/d', 'localhost/x']) assert.equal(choosePullPolicy(image), 'Always', image);
  for (const image of ['nginx:1', 'a.b:5000/c:2', `x@sha256:${'0'.repeat(64)}`, '', 'Not/A Reference', undefined]) {
    assert.equal(choosePullPolicy(image), 'IfNotPresent', String(image));
  }
});
