// Validation of the common kinds, in the words of the reference.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../apimachinery/index.ts';
import { strategyOf } from './kinds.suite.ts';
import { kindSpecs } from './table.ts';

const context = { nowMs: 0, namespace: 'n', user: { name: 'alice', groups: [] }, version: 'v1', subresource: '' };

/** What the reference would list after `is invalid:` for a new object, after its defaults. */
function create(key: string, body: object): readonly string[] {
  const object = { metadata: { name: 'a', uid: 'u' }, ...structuredClone(body) } as KubeObject;
  strategyOf(key).applyDefaults?.(object, 'v1');
  strategyOf(key).prepareForCreate?.(object, context);
  return (strategyOf(key).validate?.(object, context) ?? []).map(({ field, message }) => `${field}: ${message}`);
}
function update(key: string, object: object, old: object): readonly string[] {
  const [changed, stored] = [object, old].map((body) => {
    const copy = { metadata: { name: 'a', uid: 'u' }, ...structuredClone(body) } as KubeObject;
    strategyOf(key).applyDefaults?.(copy, 'v1');
    return copy;
  }) as [KubeObject, KubeObject];
  return (strategyOf(key).validateUpdate?.(changed, stored, context) ?? []).map(({ field, message }) => `${field}: ${message}`);
}

const box = (rest: object = {}): object => ({ name: 'c', image: 'nginx', ...rest });
const template = (labels: object = { app: 'x' }, spec: object = {}): object => ({ metadata: { labels }, spec: { containers: [box()], ...spec } });
const selector = { matchLabels: { app: 'x' } };

/** Kind, body, and what the reference answered. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['/Secret', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'bm90' } }, [
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'o\' in literal null (expecting \'u\')',
  ]],
  ['/Secret', { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': 'W10=' } }, [
    'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
  ]],
  ['/Pod', { spec: { containers: [box({ resources: { requests: { cpu: '2', gpu: '1', 'example.com/gpu': '1' }, limits: { cpu: '1' } } })] } }, [
    'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
    'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
    'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
  ]],
  ['/Pod', { spec: { containers: [box({ resources: { limits: { 'hugepages-x': '3Mi', cpu: '1' } } })] } }, [
    'spec.containers[0].resources.limits[hugepages-x]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-x',
    'spec.containers[0].resources.requests[hugepages-x]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-x',
  ]],
  ['/Pod', { spec: { containers: [box()], securityContext: { runAsUser: -1, sysctls: [{ name: 'Bad..Name' }], seccompProfile: { type: 'Localhost' } } } }, [
    'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    'spec.securityContext.sysctls[0].name: Invalid value: "Bad..Name": must have at most 253 characters and match regex '
      + '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
  ]],
  ['/Pod', {
    spec: { containers: [box()], tolerations: [{ operator: 'Exists', value: 'x' }], topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'zone' }] },
  }, [
    'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
    'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
    'spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is \'Exists\'',
  ]],
  ['flowcontrol.apiserver.k8s.io/FlowSchema', { spec: { priorityLevelConfiguration: { name: 'x' }, rules: [{ subjects: [{ kind: 'User' }] }] } }, [
    "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
    'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
  ]],
  ['flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 4 } } } } },
    ['spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)']],
  ['apiregistration.k8s.io/APIService', { spec: { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1001 } }, [
    'metadata.name: Invalid value: "a": must be `spec.version+"."+spec.group`: "v1.g.example.com"',
    'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
  ]],
  ['networking.k8s.io/Ingress', { spec: { rules: [{ host: '192.0.2.1', http: { paths: [{ path: 'x', pathType: 'Exact', backend: {} }] } }] } }, [
    'spec.rules[0].host: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
    'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
    'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
  ]],
  ['networking.k8s.io/NetworkPolicy', { spec: { ingress: [{ from: [{ ipBlock: { cidr: '10.1.0.0/16', except: ['10.2.0.0/24'] }, podSelector: {} }] }] } }, [
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.2.0.0/24": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
  ]],
  ['/Endpoints', { subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 1 }, { port: 2, name: 'b' }] }] }, [
    'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'subsets[0].ports[0].name: Required value',
  ]],
  ['/LimitRange', { spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] } }, [
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
    'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
  ]],
  ['/ResourceQuota', { spec: { hard: { secrets: '1.5' }, scopes: ['BestEffort'] } }, [
    'spec.hard[secrets]: Invalid value: "1500m": must be an integer',
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ]],
  ['/PersistentVolume', { spec: { capacity: {}, accessModes: ['Always'], hostPath: { path: '/a/../b' } } }, [
    'spec.accessModes: Unsupported value: "Always": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    'spec.capacity: Required value', 'spec.capacity: Unsupported value: {}: supported values: "storage"',
    'spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
  ]],
  ['/Node', { spec: { taints: [{ key: 'k', effect: 'Maybe' }], podCIDR: 'nope' } }, [
    'metadata.taints[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    'spec.podCIDRs[0]: Invalid value: "nope": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ]],
  ['/Pod', { spec: {} }, ['spec.containers: Required value']],
  ['/Pod', { spec: { containers: [{ name: 'c' }] } }, ['spec.containers[0].image: Required value']],
  ['/Pod', { spec: { containers: [box(), box()], initContainers: [box()] } },
    ['spec.containers[1].name: Duplicate value: "c"', 'spec.initContainers[0].name: Duplicate value: "c"']],
  ['/Pod', { spec: { containers: [box({ ports: [{ containerPort: 65536, hostPort: 70000 }] })] } }, [
    'spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
    'spec.containers[0].ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ]],
  ['/Pod', { spec: { containers: [box({ livenessProbe: {} })] } }, ['spec.containers[0].livenessProbe: Required value: must specify a handler type']],
  ['/Pod', { spec: { containers: [box({ volumeMounts: [{ name: 'missing', mountPath: '/x' }] })] } },
    ['spec.containers[0].volumeMounts[0].name: Not found: "missing"']],
  ['/Pod', { spec: { restartPolicy: 'Sometimes', containers: [box()] } },
    ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"']],
  ['apps/Deployment', { spec: {} }, [
    'spec.selector: Required value', 'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
    'spec.template.spec.containers: Required value',
  ]],
  ['apps/Deployment', { spec: { selector: {}, template: template() } }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
  ['apps/Deployment', { spec: { selector, template: template({ app: 'x' }, { restartPolicy: 'Never' }) } },
    ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"']],
  ['apps/Deployment', { spec: { selector, template: template(), strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0']],
  ['/ReplicationController', { spec: { replicas: -1 } },
    ['spec.selector: Required value', 'spec.replicas: Invalid value: -1: must be greater than or equal to 0', 'spec.template: Required value']],
  ['apps/DaemonSet', { spec: { selector, template: template(), updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0']],
  ['batch/Job', { spec: { template: template({}) } }, ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']],
  ['batch/Job', { spec: { completionMode: 'Indexed', parallelism: 1, template: template({}, { restartPolicy: 'Never' }) } },
    ['spec.completions: Required value: when completion mode is Indexed']],
  ['/ConfigMap', { data: { k: '' }, binaryData: { k: '' } }, ['data[k]: Invalid value: "k": duplicate of key present in binaryData']],
  ['/Secret', { type: 'kubernetes.io/tls' }, ['data[tls.crt]: Required value', 'data[tls.key]: Required value']],
  ['/Service', { spec: { ports: [{ port: 0 }] } }, [
    'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
  ]],
  ['policy/PodDisruptionBudget', { spec: { minAvailable: '120%' } }, ['spec.minAvailable: Invalid value: "120%": must not be greater than 100%']],
  ['rbac.authorization.k8s.io/Role', { rules: [{ apiGroups: [''], resources: ['pods'] }] },
    ['rules[0].verbs: Required value: verbs must contain at least one value']],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateUpdate keeps selectors, types, role references and sealed data', () => {
  const other = { matchLabels: { app: 'x', tier: 'z' } };
  const labels = { app: 'x', tier: 'z' };
  const deployment = (wanted: object): object => ({ spec: { selector: wanted, template: template(labels) } });
  assert.deepEqual(update('apps/Deployment', deployment(other), deployment(selector)),
    ['spec.selector: Invalid value: {"matchLabels":{"app":"x","tier":"z"}}: field is immutable']);
  assert.deepEqual(update('/Secret', { type: 'example.com/other' }, {}), ['type: Invalid value: "example.com/other": field is immutable']);
  const sealed = ['immutable: Forbidden: field is immutable when `immutable` is set', 'data: Forbidden: field is immutable when `immutable` is set'];
  assert.deepEqual(update('/ConfigMap', { data: { k: 'w' } }, { immutable: true, data: { k: 'v' } }), sealed);
  const bind = (name: string): object => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name } });
  assert.deepEqual(update('rbac.authorization.k8s.io/RoleBinding', bind('edit'), bind('view')),
    ['roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef']);
});

test('validateUpdate of a pod allows images and additions of tolerations only', () => {
  const old = { spec: { containers: [box()], tolerations: [{ key: 'a' }] } };
  const containers = [box({ image: 'nginx:2', imagePullPolicy: 'Always' })];
  assert.deepEqual(update('/Pod', { spec: { containers, tolerations: [{ key: 'a' }, { key: 'b' }] } }, old), []);
  assert.deepEqual(update('/Pod', { spec: { containers: [box()], tolerations: [] } }, old),
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds']);
  assert.match(update('/Pod', { spec: { ...old.spec, restartPolicy: 'Never' } }, old)[0] ?? '', /^spec: Forbidden: pod updates may not change/);
  assert.deepEqual(update('/Pod', { spec: { ...old.spec, containers: [box(), box({ name: 'd' })] } }, old),
    ['spec.containers: Forbidden: pod updates may not add or remove containers']);
});

test('validate answers for whatever an object holds', () => {
  const names = ['spec', 'template', 'containers', 'ports', 'volumes', 'metadata', 'labels', 'selector', 'matchLabels', 'data', 'rules', '__proto__'];
  const member = fc.constantFrom(...names);
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 5 }, fc.string(), fc.integer(), fc.constant(null), fc.array(tie('any'), { maxLength: 2 }), fc.dictionary(member, tie('any'))),
  })).any;
  fc.assert(fc.property(fc.constantFrom(...kindSpecs.keys()), fc.dictionary(member, value), (key, body) => {
    const object = { ...body, metadata: { name: 'a' } } as KubeObject;
    assert.ok(Array.isArray(strategyOf(key).validate?.(object, context) ?? []));
    assert.ok(Array.isArray(strategyOf(key).validateUpdate?.(object, { metadata: { name: 'a' } }, context) ?? []));
  }), { numRuns: 500 });
});

test('validateClaimUpdate shows what changed of what cannot change', () => {
  const claim = (size: string) => ({ spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } } });
  const shown = '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n';
  assert.deepEqual(update('/PersistentVolumeClaim', claim('2Gi'), claim('1Gi')), [
    `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${shown}`,
  ]);
});

test('validateVolume judges each kind of source, and counts flex volumes behind others for nothing', () => {
  const errorsOf = (spec: object): readonly string[] =>
    create('/PersistentVolume', { spec: { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], ...spec } });
  assert.deepEqual(errorsOf({ hostPath: { path: '/x' }, flexVolume: { driver: 'a' }, cephfs: { monitors: ['m'] } }),
    ['spec.cephFS: Forbidden: may not specify more than 1 volume type']);
  assert.deepEqual(errorsOf({ csi: { driver: 'a', volumeHandle: 'h', nodePublishSecretRef: {} } }), [
    'spec.csi.nodePublishSecretRef.name: Required value', 'spec.csi.nodePublishSecretRef.namespace: Required value',
  ]);
  assert.deepEqual(errorsOf({ hostPath: { path: '/x' }, nodeAffinity: {}, volumeAttributesClassName: '' }), [
    'spec.nodeAffinity.required: Required value: must specify required node constraints',
    'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
    'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
  ]);
});

test('checkRange and names of ports of services are strict', () => {
  const errorsOf = (spec: object): readonly string[] => create('/Service', { spec: { ports: [{ port: 80 }], type: 'LoadBalancer', ...spec } });
  assert.deepEqual(errorsOf({ loadBalancerSourceRanges: ['1.2.3.4/8', '010.0.0.0/8', ' 10.0.0.0/8 '] }), [
    'spec.LoadBalancerSourceRanges[0]: Invalid value: "1.2.3.4/8": must not have bits set beyond the prefix length',
    'spec.LoadBalancerSourceRanges[1]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length',
  ]);
  assert.deepEqual(errorsOf({ ports: [{ port: 80, name: 'a.b', appProtocol: '' }] }).map((error) => error.slice(0, 60)), [
    'spec.ports[0].name: Invalid value: "a.b": must not contain d', 'spec.ports[0].appProtocol: Invalid value: "": name part must',
    'spec.ports[0].appProtocol: Invalid value: "": name part must',
  ]);
});

test('applyDefaults of a node keeps both spellings of its ranges the same', () => {
  const node = { metadata: { name: 'n' }, spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.1.0.0/24', 'x'] } } as unknown as KubeObject;
  strategyOf('/Node').applyDefaults?.(node, 'v1');
  assert.deepEqual(node['spec'], { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] });
});

test('validateRuntimeClass judges what it adds to pods', () => {
  assert.deepEqual(create('node.k8s.io/RuntimeClass', { overhead: { podFixed: { k: '1' } }, scheduling: { tolerations: [{}] } }), [
    'handler: Required value', 'overhead.limits[k]: Invalid value: "k": must be a standard resource type or fully qualified',
    'overhead.limits[k]: Invalid value: "k": must be a standard resource for containers',
    'scheduling.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ]);
});
