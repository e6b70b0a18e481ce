// What is doubtful about objects, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import type { StrategyContext } from '../registry/index.ts';
import { strategyOf } from './kinds.suite.ts';

const context: StrategyContext = { nowMs: 0, namespace: 'ns', user: { name: 'u', groups: [] }, version: 'v1', subresource: '' };

function warn(kind: string, object: object, old?: object, subresource = ''): readonly string[] {
  const named = { metadata: { name: 'x' }, ...object } as KubeObject;
  return strategyOf(kind).warnings?.(named, old as KubeObject | undefined, { ...context, subresource }) ?? [];
}

const pod = (spec: object): readonly string[] => warn('/Pod', { spec: { containers: [], ...spec } });
const ofContainer = (container: object): readonly string[] => pod({ containers: [{ name: 'c', ...container }] });

test('warnings of pods name fractions of bytes, hidden variables and ports that meet', () => {
  assert.deepEqual(ofContainer({ resources: { limits: { memory: '1Gi' }, requests: { memory: '100m' } } }), [
    'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
  ]);
  const env = [{ name: 'A', value: '1' }, { name: 'A', value: '$(A)2' }, { name: 'A', value: '3' }];
  assert.deepEqual(ofContainer({ env }), ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply']);
  const ports = [{ containerPort: 80, protocol: 'TCP' }, { containerPort: 80, protocol: 'TCP', hostPort: 80 }, { containerPort: 80, protocol: 'UDP' }];
  assert.deepEqual(ofContainer({ ports }), ['spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]']);
});

test('warnings of pods name old labels, old volumes and what selects nothing', () => {
  assert.deepEqual(pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }), [
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.deepEqual(pod({ volumes: [{ name: 'v', gitRepo: {} }] }), ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+']);
  assert.deepEqual(pod({ topologySpreadConstraints: [{ topologyKey: 'zone' }] }), [
    'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
  ]);
});

test('warnings of volumes name files that hide each other', () => {
  const items = [{ key: 'a', path: 'dir' }, { key: 'b', path: 'dir/file' }, { key: 'c', path: 'dirt' }];
  assert.deepEqual(pod({ volumes: [{ name: 'v', configMap: { name: 'm', items } }] }), [
    'volume "v" (ConfigMap "m"): overlapping paths: "dir/file" with "dir"',
  ]);
  const sources = [{ serviceAccountToken: { path: 'token' } }, { secret: { name: 's', items: [{ key: 'k', path: 'token/' }] } }, {}];
  assert.deepEqual(pod({ volumes: [{ name: 'v', projected: { sources } }] }), [
    'volume "v" (Projected) has no sources provided',
    'volume "v" (Projected): overlapping paths: "token" (Secret "s") with "token" (ServiceAccountToken)',
  ]);
});

test('warnings of templates come when the object is made and when its generation moves', () => {
  const spec = { template: { spec: { containers: [], imagePullSecrets: [{ name: '' }] } } };
  const told = 'spec.template.spec.imagePullSecrets[0].name: invalid empty name ""';
  assert.deepEqual(warn('apps/Deployment', { spec }), [told]);
  assert.deepEqual(warn('apps/Deployment', { metadata: { name: 'x', generation: 2 }, spec }, { metadata: { generation: 1 } }), [told]);
  assert.deepEqual(warn('apps/Deployment', { metadata: { name: 'x', generation: 1 }, spec }, { metadata: { generation: 1 } }), []);
  assert.deepEqual(warn('apps/Deployment', { spec }, undefined, 'status'), []);
  assert.match(warn('apps/Deployment', { metadata: { name: 'a.b' }, spec: {} })[0] ?? '', /a DNS label is recommended: \[must not contain dots\]$/);
});

test('warnings of services name what their type ignores', () => {
  assert.deepEqual(warn('/Service', { spec: { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'ClientIP', externalName: 'x' } }), [
    'spec.SessionAffinity is ignored for headless services', 'spec.externalName is ignored when spec.type is not "ExternalName"',
  ]);
  assert.deepEqual(warn('/Service', { spec: { type: 'ClusterIP', clusterIPs: ['FD00::1'], loadBalancerSourceRanges: ['10.0.0.1/8'] } }), [
    'spec.clusterIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ]);
});

test('warnings of other kinds come on their paths only', () => {
  assert.deepEqual(warn('networking.k8s.io/Ingress', { metadata: { name: 'x', annotations: { 'kubernetes.io/ingress.class': 'a' } }, spec: {} }), [
    'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
  ]);
  assert.deepEqual(warn('/ResourceQuota', { spec: { hard: { cpu: '2', 'limits.cpu': '1' } } }), ['ResourceQuota cpu (2) should be less than limits.cpu (1)']);
  assert.deepEqual(warn('/Secret', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'eA==', 'tls.key': 'eA==' } }), [
    'tls: failed to find any PEM data in certificate input',
  ]);
  assert.deepEqual(warn('/Pod', { spec: { imagePullSecrets: [{ name: '' }] } }, { metadata: {} }), []);
});

test('warnings of templates come with writes of the scale too, and not with those of the status', () => {
  const labels = { 'beta.kubernetes.io/os': 'linux' };
  const deployment = (generation: number) => ({ metadata: { name: 'x', generation }, spec: { template: { spec: { containers: [], nodeSelector: labels } } } });
  const told = (subresource: string): number => warn('apps/Deployment', deployment(2), deployment(1), subresource).length;
  assert.deepEqual([told(''), told('scale'), told('status')], [1, 1, 0]);
});
