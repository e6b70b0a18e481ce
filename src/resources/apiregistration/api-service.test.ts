// APIServices, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '../kinds.suite.ts';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['apiregistration.k8s.io/APIService', { spec: { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1001 } }, [
    'metadata.name: Invalid value: "a": must be `spec.version+"."+spec.group`: "v1.g.example.com"',
    'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
  ]],
  ['apiregistration.k8s.io/APIService', {
    metadata: { generateName: 'b' }, spec: { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
  }, [
    'metadata.generateName: Invalid value: "b": must be `spec.version+"."+spec.group`: "v1.g.example.com"',
  ]],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}
