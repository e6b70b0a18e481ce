// Members that no update may change, in several kinds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { box, updateFrom } from '../../kinds.suite.ts';

const template = (labels: object = { app: 'x' }, spec: object = {}): object => ({ metadata: { labels }, spec: { containers: [box()], ...spec } });

const selector = { matchLabels: { app: 'x' } };

test('validateUpdate keeps selectors, types, role references and sealed data', () => {
  const other = { matchLabels: { app: 'x', tier: 'z' } };
  const labels = { app: 'x', tier: 'z' };
  const deployment = (wanted: object): object => ({ spec: { selector: wanted, template: template(labels) } });
  assert.deepEqual(updateFrom('apps/Deployment', deployment(other), deployment(selector)),
    ['spec.selector: Invalid value: {"matchLabels":{"app":"x","tier":"z"}}: field is immutable']);
  assert.deepEqual(updateFrom('/Secret', { type: 'example.com/other' }, {}).slice(0, 1),
    ['type: Invalid value: "example.com/other": field is immutable']);
  const sealed = ['immutable: Forbidden: field is immutable when `immutable` is set', 'data: Forbidden: field is immutable when `immutable` is set'];
  assert.deepEqual(updateFrom('/ConfigMap', { data: { k: 'w' } }, { immutable: true, data: { k: 'v' } }).slice(0, 2), sealed);
  const bind = (name: string): object => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name } });
  assert.deepEqual(updateFrom('rbac.authorization.k8s.io/RoleBinding', bind('edit'), bind('view')),
    ['roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef']);
});
