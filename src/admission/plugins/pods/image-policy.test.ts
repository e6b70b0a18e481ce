// ImagePolicyWebhook: what is asked, how long answers are kept, and what happens without one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualClock } from '../../../base/index.ts';
import type { AdmissionAttributes, AuditAnnotation } from '../../../registry/index.ts';
import { createImagePolicy } from './image-policy.ts';

type Ask = (review: object) => Promise<unknown>;

function prepare(ask: Ask, more: object = {}) {
  const clock = createManualClock();
  const plugin = createImagePolicy({ ask, clock, allowedMs: 1000, refusedMs: 0, backoffMs: 10, defaultAllow: false, ...more });
  const notes = new Map<string, AuditAnnotation>();
  const validate = async (image: string, fields: object = {}) => plugin.validate?.({
    operation: 'CREATE', subresource: '', namespace: 'n', name: 'p', resource: { group: '', plural: 'pods' },
    object: {
      metadata: { name: 'p', annotations: { 'x.image-policy.k8s.io/a': '1', other: '2' } },
      spec: { containers: [{ image }], initContainers: [{ image: 'init' }], ephemeralContainers: [{ image: 'debug' }] },
    },
    context: { auditAnnotations: notes }, ...fields,
  } as unknown as AdmissionAttributes);
  return { clock, validate, notes };
}

const answer = (allowed: boolean, more: object = {}) => ({ kind: 'ImageReview', apiVersion: 'imagepolicy.k8s.io/v1alpha1', status: { allowed, ...more } });

describe('createImagePolicy', () => {
  it('shows images and its own annotations, and keeps a permission for its time', async () => {
    const asked: unknown[] = [];
    const { clock, validate } = prepare(async (review) => {
      asked.push((review as { spec: unknown }).spec);
      return answer(true);
    });
    await validate('a');
    await validate('a');
    assert.deepEqual(asked, [{ containers: [{ image: 'a' }, { image: 'init' }], annotations: { 'x.image-policy.k8s.io/a': '1' }, namespace: 'n' }]);
    clock.advance(1001);
    await validate('a');
    await validate('a', { subresource: 'ephemeralcontainers', operation: 'UPDATE' });
    assert.equal(asked.length, 3);
    assert.deepEqual((asked[2] as { containers: unknown }).containers, [{ image: 'debug' }]);
  });

  it('refuses with the reason of the service, and notes what it wants noted', async () => {
    let asked = 0;
    const { validate, notes } = prepare(async () => {
      asked += 1;
      return answer(false, { reason: asked === 1 ? 'too old' : '', auditAnnotations: { seen: 'yes' } });
    });
    await assert.rejects(validate('a'), /pods "p" is forbidden: image policy webhook backend denied one or more images: too old$/);
    await assert.rejects(validate('a'), /pods "p" is forbidden: one or more images rejected by webhook backend$/);
    assert.deepEqual([...notes], [['imagepolicywebhook.image-policy.k8s.io/seen', { value: 'yes', level: 'Metadata' }]]);
  });

  it('tries again where that can help, and passes pods afterwards only if the configuration says so', async () => {
    let asked = 0;
    const fail = (code: number): Ask => async () => {
      asked += 1;
      throw Object.assign(new Error('no luck'), { code });
    };
    const open = prepare(fail(500), { defaultAllow: true });
    const passed = open.validate('a');
    for (let i = 0; i < 5; i++) {
      await new Promise(setImmediate);
      open.clock.advance(100);
    }
    await passed;
    assert.equal(asked, 5);
    assert.deepEqual([...open.notes.keys()], ['imagepolicywebhook.image-policy.k8s.io/failed-open']);
    await assert.rejects(prepare(fail(418)).validate('a'), /pods "p" is forbidden: no luck/);
    assert.equal(asked, 6);
    await assert.rejects(prepare(async () => ({ kind: 'ConfigMap', apiVersion: 'v1' })).validate('a'),
      /converting \(v1.ConfigMap\) to \(v1alpha1.ImageReview\): unknown conversion/);
  });
});
