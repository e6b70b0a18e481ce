// Kinds of apps, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { box, build, contextOf, create, prepareChanged, prepareNew, specOfKind, strategyOf, updateStatus, warn } from '../kinds.suite.ts';

const template = (labels: object = { app: 'x' }, spec: object = {}): object => ({ metadata: { labels }, spec: { containers: [box()], ...spec } });

const selector = { matchLabels: { app: 'x' } };

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['apps/Deployment', { spec: {} }, [
    'spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    'spec.template.spec.containers: Required value',
  ]],
  ['apps/Deployment', { spec: { selector: {}, template: template() } }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
  ['apps/Deployment', { spec: { selector, template: template({ app: 'x' }, { restartPolicy: 'Never' }) } },
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"']],
  ['apps/Deployment', { spec: { selector, template: template(), strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0']],
  ['apps/DaemonSet', { spec: { selector, template: template(), updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0']],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateStatefulSetStatus compares counts with each other and with before', () => {
  assert.deepEqual(updateStatus('apps/StatefulSet', { status: { replicas: 1, readyReplicas: 2, availableReplicas: 1 } }, { status: { collisionCount: 1 } }), [
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas', 'status.collisionCount: Invalid value: 0: cannot be decremented',
  ]);
});

test('prepareForUpdate of a status keeps the labels of deployments and all user metadata of flowschemas', () => {
  const old = { metadata: { name: 'a', labels: { x: 'old' }, annotations: { y: 'old' } }, spec: {} };
  const object = { metadata: { name: 'a', labels: { x: 'new' }, annotations: { y: 'new' } }, spec: {}, status: {} };
  const deployment = prepareChanged('apps/Deployment', { object, old, subresource: 'status' });
  assert.deepEqual([deployment.metadata.labels, deployment.metadata.annotations], [{ x: 'old' }, { y: 'new' }]);
  const flowSchema = prepareChanged('flowcontrol.apiserver.k8s.io/FlowSchema', { object, old, subresource: 'status' });
  assert.deepEqual([flowSchema.metadata.labels, flowSchema.metadata.annotations], [{ x: 'old' }, { y: 'old' }]);
});

test('prepareForUpdate of a daemonset counts changes of its template', () => {
  const key = 'deprecated.daemonset.template.generation';
  const old = { metadata: { name: 'a', annotations: { [key]: '3' } }, spec: { template: { spec: { a: 1 } } } };
  assert.equal(prepareChanged('apps/DaemonSet', { object: { spec: { template: { spec: { a: 2 } } } }, old }).metadata.annotations?.[key], '4');
  assert.equal(prepareChanged('apps/DaemonSet', { object: { spec: { template: { spec: { a: 1 } }, x: 1 } }, old }).metadata.annotations?.[key], '3');
  assert.equal(prepareNew('apps/DaemonSet', { spec: {} }).metadata.annotations?.[key], '1');
});

test('prepareForUpdate of a deployment counts a change of annotations', () => {
  const old = { metadata: { name: 'a', generation: 3, annotations: { a: 'b' } }, spec: {} } as unknown as KubeObject;
  const same = structuredClone(old);
  const other = { ...structuredClone(old), metadata: { name: 'a', generation: 3, annotations: {} } } as KubeObject;
  for (const object of [same, other]) strategyOf('apps/Deployment').prepareForUpdate?.(object, old, contextOf());
  assert.deepEqual([same.metadata.generation, other.metadata.generation], [3, 4]);
});

test('warnings of templates come when the object is made and when its generation moves', () => {
  const spec = { template: { spec: { containers: [], imagePullSecrets: [{ name: '' }] } } };
  const told = 'spec.template.spec.imagePullSecrets[0].name: invalid empty name ""';
  assert.deepEqual(warn('apps/Deployment', { spec }), [told]);
  assert.deepEqual(warn('apps/Deployment', { metadata: { name: 'x', generation: 2 }, spec }, { old: { metadata: { generation: 1 } } }), [told]);
  assert.deepEqual(warn('apps/Deployment', { metadata: { name: 'x', generation: 1 }, spec }, { old: { metadata: { generation: 1 } } }), []);
  assert.deepEqual(warn('apps/Deployment', { spec }, { subresource: 'status' }), []);
  assert.match(warn('apps/Deployment', { metadata: { name: 'a.b' }, spec: {} })[0] ?? '', /a DNS label is recommended: \[must not contain dots\]$/);
});

test('warnings of the template of a DaemonSet come when the template changes', () => {
  const template = { spec: { containers: [], imagePullSecrets: [{ name: '' }] } };
  const daemonSet = (generation: number, changes: string) => ({ spec: { template },
    metadata: { name: 'x', generation, annotations: { 'deprecated.daemonset.template.generation': changes } } });
  const count = (generation: number, changes: string): number => warn('apps/DaemonSet', daemonSet(generation, changes), { old: daemonSet(1, '1') }).length;
  assert.deepEqual([count(2, '1'), count(2, '2')], [0, 1]);
});

test('warnings of templates come with writes of the scale too, and not with those of the status', () => {
  const labels = { 'beta.kubernetes.io/os': 'linux' };
  const deployment = (generation: number) => ({ metadata: { name: 'x', generation }, spec: { template: { spec: { containers: [], nodeSelector: labels } } } });
  const count = (subresource: string): number => warn('apps/Deployment', deployment(2), { old: deployment(1), subresource }).length;
  assert.deepEqual([count(''), count('scale'), count('status')], [1, 1, 0]);
});

test('validateDeployment reports templates and selectors that cannot be', () => {
  const errorsOf = (labels: object, selector: object): readonly string[] =>
    build('apps/Deployment', { spec: { selector, template: { metadata: { labels, annotations: { 'a b': '' } }, spec: { containers: [box()] } } } }).errors;
  const [first, second] = errorsOf({ app: 'x', 'b c': '' }, { matchLabels: { app: 'x' } });
  assert.match(first!, /^spec\.template\.labels: Invalid value: "b c": name part/);
  assert.match(second!, /^spec\.template\.annotations: Invalid value: "a b": name part/);
  assert.deepEqual(errorsOf({ app: 'x' }, { matchExpressions: [{ key: 'k', operator: 'X' }] }), [
    'spec.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator',
    'spec.selector: Invalid value: {"matchExpressions":[{"key":"k","operator":"X"}]}: invalid label selector',
  ]);
});

test('validateStatefulSet looks at the volumes that its claims become', () => {
  const spec = {
    serviceName: 'S', ordinals: { start: -1 }, selector: { matchLabels: { app: 'x' } }, volumeClaimTemplates: [{ metadata: { name: 'v' } }],
    template: { metadata: { labels: { app: 'x' } }, spec: { activeDeadlineSeconds: 1, containers: [box({ volumeMounts: [{ name: 'v', mountPath: '/v' }] })] } },
  };
  const errors = build('apps/StatefulSet', { spec }).errors;
  assert.deepEqual(errors.filter((error) => !error.startsWith('spec.serviceName')), [
    'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
    'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
  ]);
  assert.equal(errors.some((error) => error.startsWith('spec.serviceName: Invalid value: "S": a lowercase RFC 1123 label')), true);
});

test('warnings of templates name AppArmor annotations without a field', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const warnings = (securityContext?: object): readonly string[] => {
    const spec = { containers: [{ name: 'c' }], securityContext };
    return warn('apps/Deployment', { spec: { template: { metadata: { annotations: { [key]: 'unconfined' } }, spec } } });
  };
  assert.deepEqual(warnings(), [`spec.template.metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`]);
  assert.deepEqual(warnings({ appArmorProfile: { type: 'Unconfined' } }), []);
});

test('validateStatefulSet accepts fractions of bytes in claims, with a warning', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '500m' } } } }];
  const body = { spec: { serviceName: 's', selector, template: template(), volumeClaimTemplates } };
  assert.deepEqual(create('apps/StatefulSet', body), []);
  assert.deepEqual(warn('apps/StatefulSet', body), [
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer',
  ]);
});

test('field selectors of replicasets are name and namespace alone', () => {
  assert.equal(specOfKind('apps/ReplicaSet').selectableFields, undefined);
  assert.deepEqual(Object.keys(specOfKind('/ReplicationController').selectableFields ?? {}), ['status.replicas']);
});
