// A binding that was split from another one is made with the subjects, labels and annotations of that one, as the reference does at an upgrade.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { inheritSubjects } from './restore.ts';

const group = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name });
const everyone = [group('system:authenticated'), group('system:unauthenticated')];
const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const binding = (name: string, annotations: Record<string, string>, subjects: readonly object[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding',
  metadata: { name, annotations, labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }, subjects: [...subjects],
} as KubeObject);

const viewer = binding('system:public-info-viewer', { [AUTOUPDATE]: 'true' }, everyone);
const madeWith = (...present: KubeObject[]) => inheritSubjects(viewer, new Map(present.map((object) => [`/${object.metadata.name}`, object])));

describe('system:public-info-viewer', () => {
  it('keeps to the subjects of a system:discovery that opted out of restoration', () => {
    const made = madeWith(binding('system:discovery', { [AUTOUPDATE]: 'false', mine: 'yes' }, [group('system:authenticated')]));
    assert.deepEqual([made['subjects'], made.metadata.annotations, made['roleRef']],
      [[group('system:authenticated')], { [AUTOUPDATE]: 'false', mine: 'yes' }, viewer['roleRef']]);
  });

  it('has its own subjects besides those of a system:discovery that is restored', () => {
    const made = madeWith(binding('system:discovery', { [AUTOUPDATE]: 'true', mine: 'yes' }, [group('guests')]));
    assert.deepEqual([made['subjects'], made.metadata.annotations], [[group('guests'), ...everyone], { [AUTOUPDATE]: 'true', mine: 'yes' }]);
  });

  it('is made as it is where it is there already, or where there is no system:discovery', () => {
    assert.equal(madeWith(), viewer);
    assert.equal(madeWith(viewer, binding('system:discovery', { [AUTOUPDATE]: 'false' }, [])), viewer);
  });
});
