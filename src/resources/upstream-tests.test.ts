// What upstream's own tests were heard to refuse and to fill in, kind by kind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, KubeObject } from '../apimachinery/index.ts';
import { box, build, create, makeObject, strategyOf } from './kinds.suite.ts';

const pod = (spec: object): object => ({ spec: { containers: [box()], ...spec } });
const volume = (source: object): object => ({ spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source } });
const hook = (seconds: number | bigint): object => pod({ containers: [box({ lifecycle: { preStop: { sleep: { seconds } } } })] });
const LABEL = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character "
  + "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const PATH = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

const portal = `s:${'é'.repeat(31)}`;

/** Kind, body, and one of the errors of the reference. */
const refused: readonly (readonly [string, object, string])[] = [
  ['/PersistentVolume', volume({ glusterfs: { endpoints: 'e', path: '/', endpointsNamespace: 'A' } }),
    `spec.glusterfs.endpointsNamespace: Invalid value: "A": ${LABEL}`],
  ['/Pod', pod({ volumes: [{ name: 'v', cephfs: { monitors: [] } }] }), 'spec.volumes[0].cephfs.monitors: Required value'],
  ['/Pod', pod({ volumes: [{ name: 'v', iscsi: { targetPortal: portal, iqn: 'iqn.2016-04.com.a:b', lun: 0, initiatorName: 'iqn.2016-04.com.a:b' } }] }),
    'spec.volumes[0].name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'],
  ['/Pod', hook(-5487730073628054904n), 'spec.containers[0].lifecycle.preStop.sleep: Invalid value: -5487730073628054904: '
    + 'must be non-negative and less than terminationGracePeriodSeconds (30)'],
  ['/Pod', pod({ tolerations: [{ key: 'a', operator: 'Exists', effect: '<', tolerationSeconds: 1 }] }),
    'spec.tolerations[0].effect: Invalid value: "\\u003c": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
  ['/Pod', pod({ resourceClaims: [{ name: '' }], containers: [box({ resources: { claims: [{ name: 'x' }] } })] }),
    'spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty'],
  ['/Service', { spec: { ports: [{ port: 80 }], trafficDistribution: '<' } },
    'spec.trafficDistribution: Unsupported value: "<": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"'],
  ['/ResourceQuota', { spec: { hard: { 'a&b': '1' } } }, 'spec.hard[a&b]: Invalid value: "a\\u0026b": must be a standard resource for quota'],
  ['networking.k8s.io/IngressClass', { spec: { controller: 'a.b/c^' } }, `spec.controller: Invalid value: "c^": ${PATH}`],
  ['networking.k8s.io/IngressClass', { spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', scope: '<' } } },
    'spec.parameters.scope: Unsupported value: "<": supported values: "Cluster", "Namespace"'],
  ['resource.k8s.io/ResourceSlice', { spec: { driver: 'a.b', nodeName: 'n', pool: { name: 'p', resourceSliceCount: 1, generation: -1232307379872279782n } } },
    'spec.pool.generation: Invalid value: -1232307379872279782: must be greater than or equal to zero'],
  ['scheduling.k8s.io/PriorityClass', { value: 1, preemptionPolicy: '' }, 'preemptionPolicy: Required value'],
  ['storage.k8s.io/StorageClass', { provisioner: 'İ!' }, 'provisioner: Invalid value: "i!": name part must consist of alphanumeric characters, \'-\', '
    + "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    + "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"],
  ['batch/Job', { spec: { selector: { matchExpressions: [], matchLabels: { a: 'b' } }, template: pod({ restartPolicy: 'Never' }) } },
    'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"uid-1"},"matchExpressions":[]}: `selector` not auto-generated'],
  ['admissionregistration.k8s.io/MutatingWebhookConfiguration',
    { webhooks: [{ name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: '%#x' } }] },
    'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "%": invalid URL escape "%"; desired format: https://host[/path]'],
];
for (const [index, [key, body, error]] of refused.entries()) {
  test(`validate has the error of the reference: ${key} ${index}`, () => {
    const errors = create(key, body);
    assert.ok(errors.includes(error), errors.join('\n'));
  });
}

/** The object with the defaults of a version. */
function fillIn(key: string, version: string, body: object): KubeObject {
  const object = makeObject(body);
  strategyOf(key).applyDefaults?.(object, version);
  return object;
}

test('applyDefaults of an autoscaler reads annotations that stand for fields in v1 only, and only if they hold some', () => {
  const annotated = (text: string): object => ({
    metadata: { name: 'a', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': text, 'autoscaling.alpha.kubernetes.io/behavior': text, own: '1' } },
  });
  const key = 'autoscaling/HorizontalPodAutoscaler';
  assert.deepEqual(fillIn(key, 'v2', annotated('abc')).metadata.annotations, { own: '1' });
  for (const text of ['abc', '[]']) {
    const { metadata, spec } = fillIn(key, 'v1', annotated(text));
    assert.deepEqual([metadata.annotations, (spec as JsonObject)['targetCPUUtilizationPercentage']], [{ own: '1' }, 80]);
  }
});

test('applyDefaults of a binding has an action for missing parameters in the alpha version only', () => {
  const actionOf = (version: string): unknown => {
    const { spec } = fillIn('admissionregistration.k8s.io/MutatingAdmissionPolicyBinding', version, { spec: { policyName: 'p', paramRef: { name: 'n' } } });
    return ((spec as JsonObject)['paramRef'] as JsonObject)['parameterNotFoundAction'];
  };
  assert.deepEqual(['v1alpha1', 'v1beta1', 'v1'].map(actionOf), ['Deny', undefined, undefined]);
});

test('prepareForCreate of a job gives it the labels that its template gets where it has taken those of the template, and nowhere else', () => {
  const labelsOf = (metadata: object): readonly string[] => {
    const { object } = build('batch/Job', { metadata, spec: { template: { metadata: { labels: { a: 'b' } } } } });
    return Object.keys(object.metadata.labels ?? {});
  };
  assert.deepEqual(labelsOf({ name: 'x', labels: { a: 'b' } }), ['a']);
  assert.ok(labelsOf({ name: 'x' }).includes('batch.kubernetes.io/job-name'));
});
