// How often metadata of updates is checked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metadataChecksOf } from './metadata-checks.ts';

test('metadataChecksOf tells for each kind how often the reference looks, and when', () => {
  const keys = ['/Pod', '/ConfigMap', 'apps/Deployment', '/Namespace', 'policy/PodDisruptionBudget', 'admissionregistration.k8s.io/ValidatingAdmissionPolicy'];
  assert.deepEqual(keys.map(metadataChecksOf), ['UM*', 'U*M', 'U*', 'M*U', '*', 'm*']);
});
