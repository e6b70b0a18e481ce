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

test('choosePullPolicy reads names whose path behind the registry has 255 characters at most', () => {
  const z = (length: number): string => 'z'.repeat(length);
  for (const image of [z(247), `docker.io/${z(247)}`, `docker.io/a/${z(253)}`, `a/${z(253)}`, `gcr.io/${z(255)}`, `localhost/${z(255)}`]) {
    assert.equal(choosePullPolicy(image), 'Always', image);
    assert.equal(choosePullPolicy(`${image}z`), 'IfNotPresent', image);
  }
});
