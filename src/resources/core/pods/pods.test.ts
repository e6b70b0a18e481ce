// Pods: validation, updates, preparation and warnings, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../apimachinery/index.ts';
import {
  applyDefaults, box, build, change, contextOf, create, prepareChanged, prepareNew, prepareWarnings, strategyOf, updateFrom, updateStatus, warn,
} from '../../kinds.suite.ts';
import { readPath } from '../../common/values.ts';
import { applyPodDefaults } from './defaults/pod.ts';
import { computeQosClass } from './qos.ts';

const pod = (spec: object): readonly string[] => warn('/Pod', { spec: { containers: [], ...spec } });

const ofContainer = (container: object): readonly string[] => pod({ containers: [{ name: 'c', ...container }] });

const podWith = (spec: object): readonly string[] => build('/Pod', { spec: { containers: [box()], ...spec } }).errors;

const containerWith = (rest: object): readonly string[] =>
  build('/Pod', { spec: { containers: [box(rest)] } }).errors.map((error) => error.replace('spec.containers[0].', ''));

const changed = 'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,'
  + '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` '
  + '(allow it to be set to 1 if it was previously negative)\n';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
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
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validatePod knows names of resources that quotas have, which containers cannot ask for', () => {
  const told = (name: string): readonly string[] => {
    const resources = { requests: { [name]: '1' } };
    const containers = [{ name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File', resources }];
    return create('/Pod', { spec: { containers, restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: 1 } });
  };
  const field = (name: string): string => `spec.containers[0].resources.requests[${name}]: Invalid value: "${name}":`;
  for (const name of ['requests.cpu', 'services.nodeports', 'requests.hugepages-2Mi']) {
    assert.deepEqual(told(name), [`${field(name)} must be a standard resource for containers`]);
  }
  const problems = ['must be a standard resource type or fully qualified', 'must be a standard resource for containers'];
  assert.deepEqual(told('foo'), problems.map((problem) => `${field('foo')} ${problem}`));
});

test('applyPodDefaults requests what is limited and keeps thousandths', () => {
  const resources = { limits: { cpu: '0.0015', memory: '1Gi' }, requests: { cpu: '1m' } };
  const pod: KubeObject = { metadata: {}, spec: { containers: [{ name: 'c', image: 'x:1', resources }] } };
  applyPodDefaults(pod);
  const [container] = (pod['spec'] as { containers: { resources: unknown }[] }).containers;
  assert.deepEqual(container?.resources, { limits: { cpu: '2m', memory: '1Gi' }, requests: { cpu: '1m', memory: '1Gi' } });
  const { requests } = container?.resources as { requests: object };
  pod['status'] = { allocatedResources: { cpu: '1n' }, containerStatuses: [{ name: 'c', resources: { limits: { cpu: '1500u' } } }] };
  applyPodDefaults(pod);
  assert.deepEqual(pod['status'], { allocatedResources: { cpu: '1m' }, containerStatuses: [{ name: 'c', resources: { limits: { cpu: '2m' } } }] });
  assert.equal((container?.resources as { requests: object }).requests, requests, 'defaults change nothing that is complete');
});

test('computeQosClass follows limits and requests of all containers', () => {
  const full = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } };
  assert.equal(computeQosClass({ containers: [{ resources: full }] }), 'Guaranteed');
  assert.equal(computeQosClass({ containers: [{ resources: full }, {}] }), 'Burstable');
  assert.equal(computeQosClass({ containers: [{ resources: { ...full, requests: { cpu: '1', memory: '0' } } }] }), 'Burstable');
  const written = { limits: { cpu: '1', memory: '1000Mi' }, requests: { cpu: '1', memory: '1048576000' } };
  assert.equal(computeQosClass({ containers: [{ resources: written }] }), 'Guaranteed');
  assert.equal(computeQosClass({ resources: {}, containers: [{ resources: full }] }), 'BestEffort');
  assert.equal(computeQosClass({ containers: [{ resources: { requests: { cpu: '0' } } }] }), 'BestEffort');
  assert.equal(computeQosClass({ containers: [{ resources: { limits: { 'example.com/gpu': '1' } } }] }), 'BestEffort');
});

test('prepareForCreate of a pod forgets its status and says that it is gated', () => {
  const pod = prepareNew('/Pod', { spec: { schedulingGates: [{ name: 'g' }] }, status: { phase: 'Running' } });
  const { phase, conditions } = pod['status'] as { phase: string; conditions: { reason: string }[] };
  assert.deepEqual([phase, conditions[0]?.reason], ['Pending', 'SchedulingGated']);
  const classed = prepareNew('/Pod', { spec: {}, status: { qosClass: 'Burstable', podIP: '1.2.3.4' } });
  assert.deepEqual(classed['status'], { phase: 'Pending', qosClass: 'Burstable' });
});

test('the claim of extended resources in the status of a pod maps requests of its containers', () => {
  const spec = { containers: [box({ resources: { requests: { 'example.com/gpu': '1' } } })] };
  const claimed = (extendedResourceClaimStatus: object): readonly string[] =>
    updateStatus('/Pod', { spec, status: { extendedResourceClaimStatus } }, { spec, status: {} })
      .map((text) => text.replace('status.extendedResourceClaimStatus.', '').replace(/: a lowercase.*$/, ''));
  const mapping = { containerName: 'c', resourceName: 'example.com/gpu', requestName: 'r' };
  assert.deepEqual(claimed({ resourceClaimName: 'one', requestMappings: [mapping] }), []);
  assert.deepEqual(claimed({ resourceClaimName: 'A' }), ['requestMappings: Required value: at least one request mapping is required',
    'resourceClaimName: Invalid value: "A"']);
  const wrong = [{ ...mapping, resourceName: 'cpu' }, { ...mapping, containerName: 'd', requestName: 'R' }];
  assert.deepEqual(claimed({ requestMappings: [mapping, mapping, ...wrong] }), [
    'requestMappings[1].containerName: Duplicate value: "c"', 'requestMappings[1].resourceName: Duplicate value: "example.com/gpu"',
    'requestMappings[1].requestName: Duplicate value: "r"',
    'requestMappings[2].resourceName: Invalid value: "cpu": must match the extended resource name of an entry in '
      + 'spec.initContainers.resources.requests or spec.containers.resources.requests',
    'requestMappings[3].containerName: Invalid value: "d": must match the name of an entry in spec.initContainers.name or spec.containers.name',
    'requestName: Invalid value: "R"', 'resourceClaimName: Required value',
  ]);
});

test('prepareForUpdate of a resize changes the resources of containers and nothing else', () => {
  const old = { spec: { nodeName: 'x', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] } };
  const object = { spec: { nodeName: 'y', containers: [{ name: 'c', image: 'j', resources: { requests: { cpu: '2' } } }] } };
  const pod = prepareChanged('/Pod', { object, old, subresource: 'resize' });
  assert.deepEqual(pod['spec'], { nodeName: 'x', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }] });
});

test('prepareForUpdate of a resize leaves a pod with more containers to validation as it is', () => {
  const old = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const more = { metadata: { labels: {} }, spec: { containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'i' }] } };
  const labelsAfter = (object: object): unknown => prepareChanged('/Pod', { object, old, subresource: 'resize' }).metadata.labels;
  assert.deepEqual([labelsAfter(more), labelsAfter({ ...more, spec: old.spec })], [{}, { a: 'b' }]);
});

test('validateUpdate of a resize lets cpu and memory change, and nothing else', () => {
  const resources = (requests: object, more: object = {}): object => ({ containers: [box({ resources: { requests, ...more } })] });
  const old = { spec: resources({ cpu: '1', 'ephemeral-storage': '1Gi' }) };
  const resize = (spec: object, before: object = old): readonly string[] => updateFrom('/Pod', { spec }, before, 'resize');
  assert.deepEqual(resize(resources({ cpu: '2', 'ephemeral-storage': '1Gi' })), []);
  assert.deepEqual(resize(resources({ cpu: '1', 'ephemeral-storage': '2Gi' })), ['spec: Forbidden: only cpu and memory resources are mutable']);
  assert.deepEqual(resize(resources({ 'ephemeral-storage': '1Gi', memory: '1Gi' })), [
    'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
  ]);
  assert.equal(resize({ containers: [box({ name: 'other' })] }).at(-1),
    'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize');
  assert.equal(resize({ containers: [box(), box({ name: 'd' })] }).at(-1), 'spec.containers: Forbidden: containers may not be added or removed on resize');
  const running = { ...old, status: { containerStatuses: [{ name: 'c', state: { running: {} } }] } };
  assert.deepEqual(resize(old.spec, running), ['spec: Forbidden: Pod running on node without support for resize']);
  assert.deepEqual(resize(old.spec, { ...old, spec: { ...old.spec, os: { name: 'windows' } } }), ['[]: Forbidden: windows pods cannot be resized']);
});

test('validateUpdate of a pod keeps the annotations of mirror pods and of AppArmor', () => {
  const mirror = 'kubernetes.io/config.mirror';
  const made = (annotations: object): object => ({ metadata: { name: 'p', annotations }, spec: { nodeName: 'n', containers: [box()] } });
  const [lost, added] = [`metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
    'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations'];
  const [now, old] = [made({ 'container.apparmor.security.beta.kubernetes.io/c': 'x' }), made({ [mirror]: 'a' })];
  const wrong = 'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "x": invalid AppArmor profile name: "x"';
  assert.deepEqual(updateFrom('/Pod', now, old).filter((error) => error.includes('annotations')), [wrong, lost, added, wrong]);
  assert.deepEqual(updateStatus('/Pod', now, old), [lost, added, wrong]);
});

test('validateUpdate of a pod allows images and additions of tolerations only', () => {
  const old = { spec: { containers: [box()], tolerations: [{ key: 'a' }] } };
  const containers = [box({ image: 'nginx:2', imagePullPolicy: 'Always' })];
  assert.deepEqual(updateFrom('/Pod', { spec: { containers, tolerations: [{ key: 'a' }, { key: 'b' }] } }, old), []);
  assert.deepEqual(updateFrom('/Pod', { spec: { containers: [box()], tolerations: [] } }, old),
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds']);
  assert.match(updateFrom('/Pod', { spec: { ...old.spec, restartPolicy: 'Never' } }, old)[0] ?? '', /^spec: Forbidden: pod updates may not change/);
  assert.deepEqual(updateFrom('/Pod', { spec: { ...old.spec, containers: [box(), box({ name: 'd' })] } }, old),
    ['spec.containers: Forbidden: pod updates may not add or remove containers']);
});

test('warnings of pods name fractions of bytes, hidden variables and ports that meet', () => {
  // In thousandths this is more than an int64 holds: the reference counts what is left of it.
  assert.deepEqual(ofContainer({ resources: { limits: { memory: '12345678901234567890' } } }),
    ['spec.containers[0].resources.limits[memory]: fractional byte value "12345678901234567890" is invalid, must be an integer']);
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

test('validatePod asks variables for one source, and for keys and names that can be', () => {
  assert.deepEqual(containerWith({ env: [{ name: 'A', valueFrom: {} }] }),
    ['env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`']);
  assert.deepEqual(containerWith({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '100m' } } }] }),
    ['env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource']);
  assert.deepEqual(containerWith({ env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }] }),
    ['env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2']);
  assert.deepEqual(containerWith({ env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'k', volumeName: 'v', path: '/p' } } }] }),
    ['env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"']);
  assert.deepEqual(containerWith({ envFrom: [{ configMapRef: {} }] }), ['envFrom[0].configMapRef.name: Required value']);
});

test('validatePod looks into handlers, mounts and devices', () => {
  assert.deepEqual(containerWith({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    ['lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)']);
  assert.deepEqual(containerWith({ readinessProbe: { tcpSocket: { port: '50%' }, terminationGracePeriodSeconds: 1 } }), [
    'readinessProbe.tcpSocket.port: Invalid value: "50%": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    'readinessProbe.tcpSocket.port: Invalid value: "50%": must contain at least one letter (a-z)',
    'readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes',
  ]);
  const volumes = [{ name: 'e', emptyDir: {} }];
  const mount = { name: 'e', mountPath: '/e', mountPropagation: 'Bidirectional', recursiveReadOnly: 'Enabled' };
  assert.deepEqual(build('/Pod', { spec: { volumes, containers: [box({ volumeMounts: [mount], volumeDevices: [{ name: 'e', devicePath: '/d' }] })] } }).errors, [
    'spec.containers[0].volumeMounts[0].name: Invalid value: "e": must not already exist in volumeDevices',
    'spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers',
    'spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true',
    'spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified',
    'spec.containers[0].volumeDevices[0].name: Invalid value: "e": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    'spec.containers[0].volumeDevices[0].name: Invalid value: "e": must not already exist in volumeMounts',
  ]);
});

test('validatePod checks each source of a volume by its own rules, and allows one', () => {
  const errorsOf = (source: object): readonly string[] => podWith({ volumes: [{ name: 'v', ...source }] }).map((error) => error.replace('spec.volumes[0]', ''));
  assert.deepEqual(errorsOf({}), []);
  assert.deepEqual(errorsOf({ hostPath: { path: '/a/..', type: 'X' } }).map((error) => error.slice(0, 50)), [
    '.hostPath.path: Invalid value: "/a/..": must not c', '.hostPath.type: Unsupported value: "X": supported ',
  ]);
  assert.deepEqual(errorsOf({ emptyDir: {}, downwardAPI: {} }), ['.downwarAPI: Forbidden: may not specify more than 1 volume type']);
  assert.deepEqual(errorsOf({ gcePersistentDisk: { partition: 300 } }),
    ['.persistentDisk.pdName: Required value', '.persistentDisk.partition: Invalid value: 300: must be between 1 and 255, inclusive']);
  assert.deepEqual(errorsOf({ downwardAPI: { items: [{ path: '..x', fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } }] } }), [
    '.downwardAPI.path: Invalid value: "..x": must not start with \'..\'',
    '.downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: '
      + '"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
  ]);
  const file = (path: string): object => ({ secret: { name: 's', items: [{ key: 'k', path }] } });
  assert.deepEqual(errorsOf({ projected: { sources: [file('p'), file('p'), { serviceAccountToken: { path: 't', expirationSeconds: 1 } }] } }), [
    '.projected: Invalid value: "s": conflicting duplicate paths',
    '.projected.sources[2].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
    '.projected.sources[2].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
  ]);
  assert.deepEqual(errorsOf({ ephemeral: { volumeClaimTemplate: { metadata: { name: 'x' }, spec: { accessModes: ['ReadWriteOnce'] } } } }), [
    '.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set', '.ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
  ]);
});

test('validatePod checks where a pod may run and its identity', () => {
  const field = { matchFields: [{ key: 'k', operator: 'Exists' }] };
  assert.deepEqual(podWith({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [field] } } } })
    .map((error) => error.replace(/^.*matchFields/, '')), [
    '[0].operator: Invalid value: "Exists": not a valid selector operator', '[0].key: Invalid value: "k": not a valid field selector key',
  ]);
  const term = { topologyKey: 'k', matchLabelKeys: ['a'] };
  assert.deepEqual(podWith({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }), [
    'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: '
      + 'Forbidden: must not be specified when labelSelector is not set',
  ]);
  assert.deepEqual(podWith({ hostAliases: [{ ip: '010.0.0.1' }], dnsConfig: { nameservers: ['::ffff:1.2.3.4'] } }), [
    'spec.dnsConfig.nameservers[0]: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
    'spec.hostAliases[0].ip: Invalid value: "010.0.0.1": must not have leading 0s',
  ]);
  assert.deepEqual(podWith({ os: { name: 'windows' }, securityContext: { fsGroup: 1 }, hostUsers: false, hostPID: true }), [
    'spec.HostPID: Forbidden: when `hostUsers` is false', 'spec.hostPID: Forbidden: cannot be set for a windows pod',
    'spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod',
  ]);
});

test('validatePod forbids containers that end what only those that stay can have', () => {
  const early = { name: 'i', image: 'i', livenessProbe: { exec: { command: ['a'] } }, restartPolicyRules: [{ action: 'Restart' }] };
  assert.deepEqual(podWith({ initContainers: [early] }), [
    'spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used',
    'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
  ]);
});

test('dropGatedFields drops what is switched off in the reference, and the hooks that are left empty', () => {
  const { object, errors } = build('/Pod', { spec: { containers: [box({ lifecycle: { stopSignal: 'X' } })], schedulingGroup: {} } });
  assert.deepEqual(errors, []);
  assert.deepEqual([Object.hasOwn(object['spec'] as object, 'schedulingGroup'), JSON.stringify(object['spec']).includes('lifecycle')], [false, false]);
  const kept = structuredClone({ metadata: {}, spec: { containers: [box({ lifecycle: { stopSignal: 'X' } })] } }) as unknown as KubeObject;
  strategyOf('/Pod').prepareForUpdate?.(kept, structuredClone(kept), contextOf());
  assert.match(JSON.stringify(kept), /stopSignal/);
});

test('validatePodUpdate shows each change with the lines around it', () => {
  const before = { spec: { containers: [box({ livenessProbe: { httpGet: { path: '/', port: 80 } } })], hostname: 'h' } };
  const edit = (pod: KubeObject): void => {
    const spec = pod['spec'] as { containers: { livenessProbe: { httpGet: { path: string } } }[]; hostname: string };
    spec.containers[0]!.livenessProbe.httpGet.path = '/x';
    spec.hostname = 'i';
  };
  const [error, ...others] = change('/Pod', before, edit);
  assert.deepEqual(others, []);
  assert.equal(error?.startsWith(changed), true, error);
  assert.deepEqual(error?.slice(changed.length).split('\n').filter((line) => !line.startsWith(' ')), [
    '@@ -24,7 +24,7 @@', '-     "Path": "/",', '+     "Path": "/x",', '@@ -81,7 +81,7 @@', '- "Hostname": "h",', '+ "Hostname": "i",', '',
  ]);
});

test('validatePodUpdate lets gated pods ask more of nodes, not less', () => {
  const before = { spec: { containers: [box()], schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { a: 'b' } } };
  assert.deepEqual(change('/Pod', before, (pod) => Object.assign(pod['spec'] as object, { nodeSelector: { a: 'b', c: 'd' } })), []);
  assert.deepEqual(change('/Pod', before, (pod) => Object.assign(pod['spec'] as object, { nodeSelector: { c: 'd' } })),
    ['spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)']);
});

test('validatePodUpdate reports the last of several new gates of one name', () => {
  const before = { spec: { containers: [box()], schedulingGates: [{ name: 'a.b/c' }] } };
  const gates = [{ name: 'd' }, { name: 'a.b/c' }, { name: 'd' }];
  const errors = change('/Pod', before, (pod) => Object.assign(pod['spec'] as object, { schedulingGates: gates }));
  assert.deepEqual(errors.filter((error) => error.includes('new scheduling gate')),
    ["spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'd'"]);
});

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/c';
const appArmorText = (path: string): string => `${path}metadata.annotations[${APP_ARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead`;

test('prepareForCreate of a pod takes AppArmor profiles from annotations, with a warning', () => {
  const pod = (annotation: string, spec: object = {}): object =>
    ({ metadata: { name: 'a', annotations: { [APP_ARMOR]: annotation } }, spec: { containers: [box()], ...spec } });
  const profileOf = (body: object): unknown => {
    const spec = prepareNew('/Pod', body)['spec'] as { containers: { securityContext?: { appArmorProfile?: unknown } }[] };
    return spec.containers[0]?.securityContext?.appArmorProfile;
  };
  assert.deepEqual(profileOf(pod('runtime/default')), { type: 'RuntimeDefault' });
  assert.deepEqual(profileOf(pod('localhost/mine')), { type: 'Localhost', localhostProfile: 'mine' });
  assert.deepEqual([profileOf(pod('localhost/')), profileOf(pod('odd'))], [undefined, undefined]);
  assert.deepEqual(prepareWarnings('/Pod', pod('unconfined')), [appArmorText('')]);
  const same = { securityContext: { appArmorProfile: { type: 'Unconfined' } } };
  assert.deepEqual([prepareWarnings('/Pod', pod('unconfined', same)), profileOf(pod('unconfined', same))], [[], undefined]);
});

test('validatePod wants a node for mirror pods', () => {
  const mirror = (spec: object): readonly string[] =>
    create('/Pod', { metadata: { name: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' } }, spec: { containers: [box()], ...spec } });
  assert.deepEqual(mirror({}), [
    'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
  ]);
  assert.deepEqual(mirror({ nodeName: 'n' }), []);
});

test('applyDefaults of a pod says that files of variables are required', () => {
  const fileKeyRef = { volumeName: 'v', path: 'p', key: 'k' };
  const pod = applyDefaults('/Pod', { spec: { containers: [box({ env: [{ name: 'A', valueFrom: { fileKeyRef } }] })] } });
  assert.match(JSON.stringify(pod), /"fileKeyRef":\{"volumeName":"v","path":"p","key":"k","optional":false\}/);
});

test('validatePodTemplateSpec refuses a template that differs from one that has passed, each time', () => {
  const errorsOf = (image: string): readonly string[] => build('/PodTemplate', { template: { spec: { containers: [box({ image })] } } }).errors;
  assert.deepEqual(errorsOf('a'), []);
  assert.deepEqual(errorsOf('a'), []);
  for (const _ of [1, 2]) assert.deepEqual(errorsOf(''), ['template.spec.containers[0].image: Required value']);
  assert.deepEqual(errorsOf('a'), []);
});

test('validatePod and its warnings look at all that differs from a pod that has passed', () => {
  const named = { name: 'A', value: '1' };
  const account = (volume: string, mounted = volume): object => ({
    containers: [box({ env: [named], volumeMounts: [{ name: mounted, mountPath: '/x' }] })], volumes: [{ name: volume, emptyDir: {} }],
  });
  const check = (spec: object, name = 'p'): readonly string[] => build('/Pod', { metadata: { name }, spec }).errors;
  for (const _ of [1, 2]) {
    assert.deepEqual(check(account('kube-api-access-abcde')), []);
    assert.deepEqual(check(account('kube-api-access-12345')), []);
    assert.deepEqual(check(account('kube-api-access-12345', 'kube-api-access-abcde')),
      ['spec.containers[0].volumeMounts[0].name: Not found: "kube-api-access-abcde"']);
    assert.deepEqual(check(account('kube-api-access-12345', '\n')), ['spec.containers[0].volumeMounts[0].name: Not found: "\\n"']);
    assert.deepEqual(podWith({ containers: [box({ env: [named] })] }), []);
    assert.match(podWith({ containers: [box({ env: [{ name: 'A=' }] })] }).join('; '), /^spec\.containers\[0\]\.env\[0\]\.name: Invalid value: "A="[^;]*$/);
    assert.deepEqual(ofContainer({ env: [named] }), []);
    assert.equal(ofContainer({ env: [named, named] }).length, 1);
    const old = 'scheduler.alpha.kubernetes.io/critical-pod';
    assert.equal(warn('/Pod', { metadata: { name: 'p', annotations: { [old]: '' } }, spec: { containers: [{ name: 'c', env: [named] }] } }).length, 1);
    const claims = { containers: [box()], volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: {
      accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } } } }] };
    assert.deepEqual(check(claims), []);
    assert.notDeepEqual(check(claims, 'p'.repeat(253)), []);
  }
});

test('validatePodUpdate lets errors stay that the stored pod has, whether or not its spec changes', () => {
  const spec = { containers: [box({ imagePullPolicy: 'Odd' })] };
  const metadata = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': 'x' } };
  assert.deepEqual(updateFrom('/Pod', { spec }, { spec }), []);
  assert.deepEqual(updateFrom('/Pod', { spec: { ...spec, tolerations: [{ key: 'a', operator: 'Exists' }] } }, { spec }), []);
  // The reference asks twice what the annotations of an updated pod mean.
  const wrong = 'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer';
  assert.deepEqual(updateFrom('/Pod', { metadata, spec }, { spec }), [wrong, wrong]);
});

test('ports are those of the node in pods on its network, not in templates', () => {
  const spec = { hostNetwork: true, containers: [box({ ports: [{ containerPort: 80 }] })] };
  const portOf = (object: unknown): unknown => readPath(object, 'containers', '0', 'ports', '0', 'hostPort');
  assert.equal(portOf(applyDefaults('/Pod', { spec })['spec']), 80);
  assert.equal(portOf(readPath(applyDefaults('apps/Deployment', { spec: { template: { spec } } }), 'spec', 'template', 'spec')), undefined);
});

test('applyPodLevelDefaults gives a pod as a whole the requests of its containers, or its limits, and huge pages', () => {
  const of = (limits: object | undefined, requests?: object): object => ({ resources: { ...(limits && { limits }), ...(requests && { requests }) } });
  const resourcesOf = (resources: object, containers: object[], initContainers: object[] = []): unknown =>
    (applyDefaults('/Pod', { spec: { ...resources, containers, initContainers } })['spec'] as { resources?: unknown }).resources;
  assert.equal(resourcesOf({}, [box(of({ cpu: '1' }))]), undefined);
  assert.deepEqual(resourcesOf(of({ cpu: '1' }), [box()]), { limits: { cpu: '1' }, requests: { cpu: '1' } });
  // Two halves of a thousandth are one: they are added before they are rounded.
  assert.deepEqual(resourcesOf(of({ cpu: '1', memory: '1Gi' }), [box(of({ cpu: '500u' })), box(of(undefined, { cpu: '500u', memory: '1Ki' }))]),
    { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1m', memory: '1Ki' } });
  const sidecar = { restartPolicy: 'Always' };
  assert.deepEqual(resourcesOf(of({ cpu: '4' }), [box(of(undefined, { cpu: '1' }))], [
    box({ ...of(undefined, { cpu: '100m' }), ...sidecar }), box(of(undefined, { cpu: '1300m' })), box({ ...of(undefined, { cpu: '200m' }), ...sidecar }),
  ]), { limits: { cpu: '4' }, requests: { cpu: '1400m' } });
  assert.deepEqual(resourcesOf(of({ memory: '1Gi' }), [box(of({ 'hugepages-2Mi': '2Mi' })), box(of({ 'hugepages-2Mi': '4Mi' }))]),
    { limits: { 'hugepages-2Mi': '6Mi', memory: '1Gi' }, requests: { 'hugepages-2Mi': '6Mi', memory: '1Gi' } });
  assert.deepEqual(resourcesOf(of(undefined, { cpu: '1' }), [box(of({ cpu: '1' }))]), { requests: { cpu: '1' } });
});

test('checkPodResources holds the resources of a pod to the total of its containers, and their limits to its own', () => {
  const resources = (cpu: string): object => ({ resources: { limits: { cpu } } });
  assert.deepEqual(create('/Pod', { spec: { ...resources('1'), containers: [box(resources('2'))] } }), [
    'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
  ]);
  const asked = { resources: { requests: { cpu: '1' } } };
  assert.deepEqual(create('/Pod', { spec: { ...asked, containers: [box({ ...asked, name: 'a' }), box({ ...asked, name: 'b' })] } }),
    ['spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2']);
});
