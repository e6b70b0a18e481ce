// Validation of pods and of what makes them, part by part, in the words of the reference.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../../../apimachinery/index.ts';
import { strategyOf } from '../../kinds.suite.ts';

const context = { nowMs: 0, namespace: 'n', user: { name: 'alice', groups: [] }, version: 'v1', subresource: '' };

function make(key: string, body: object): { readonly object: KubeObject; readonly errors: readonly string[] } {
  const object = { metadata: { name: 'a', uid: 'u' }, ...structuredClone(body) } as KubeObject;
  const strategy = strategyOf(key);
  strategy.applyDefaults?.(object, 'v1');
  strategy.prepareForCreate?.(object, context);
  return { object, errors: (strategyOf(key).validate?.(object, context) ?? []).map(({ field, message }) => `${field}: ${message}`) };
}

const box = (rest: object = {}): object => ({ name: 'c', image: 'i', ...rest });
const podWith = (spec: object): readonly string[] => make('/Pod', { spec: { containers: [box()], ...spec } }).errors;
const containerWith = (rest: object): readonly string[] =>
  make('/Pod', { spec: { containers: [box(rest)] } }).errors.map((error) => error.replace('spec.containers[0].', ''));

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
  assert.deepEqual(make('/Pod', { spec: { volumes, containers: [box({ volumeMounts: [mount], volumeDevices: [{ name: 'e', devicePath: '/d' }] })] } }).errors, [
    'spec.containers[0].volumeMounts[0].name: Invalid value: "e": must not already exist in volumeDevices',
    'spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers',
    'spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true',
    'spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified',
    'spec.containers[0].volumeDevices[0].name: Invalid value: "e": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    'spec.containers[0].volumeDevices[0].name: Invalid value: "e": must not already exist in volumeMounts',
  ]);
});

test('validatePod judges each source of a volume by its own rules, and allows one', () => {
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

test('validatePod judges where a pod may run and who it is', () => {
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

test('withoutGatedFields forgets what is switched off in the reference, and the hooks that are left empty', () => {
  const { object, errors } = make('/Pod', { spec: { containers: [box({ lifecycle: { stopSignal: 'X' } })], schedulingGroup: {} } });
  assert.deepEqual(errors, []);
  assert.deepEqual([Object.hasOwn(object['spec'] as object, 'schedulingGroup'), JSON.stringify(object['spec']).includes('lifecycle')], [false, false]);
  const strategy = strategyOf('/Pod');
  const kept = structuredClone({ metadata: {}, spec: { containers: [box({ lifecycle: { stopSignal: 'X' } })] } }) as unknown as KubeObject;
  strategy.prepareForUpdate?.(kept, structuredClone(kept), context);
  assert.match(JSON.stringify(kept), /stopSignal/);
});

const jobTemplate = { spec: { restartPolicy: 'Never', containers: [box()] } };

test('validateJob judges policies for failure and success', () => {
  const errorsOf = (spec: object): readonly string[] => make('batch/Job', { spec: { template: jobTemplate, ...spec } }).errors;
  assert.deepEqual(errorsOf({ podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [2, 0] } }] } }), [
    'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
    'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
    'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0]: must be ordered',
  ]);
  const indexed = { completionMode: 'Indexed', completions: 3 };
  assert.deepEqual(errorsOf({ ...indexed, successPolicy: { rules: [{ succeededIndexes: '0,3', succeededCount: 4 }] } }), [
    'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0,3": error parsing succeededIndexes: too large index: "3"',
    'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of specified completions)',
    'spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal to 0 '
      + '(the number of indexes in the specified succeededIndexes field)',
  ]);
  assert.deepEqual(errorsOf({ maxFailedIndexes: 1, managedBy: 'x' }), [
    'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
    'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
    'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
  ]);
});

test('validateDeployment tells of templates and selectors that cannot be', () => {
  const errorsOf = (labels: object, selector: object): readonly string[] =>
    make('apps/Deployment', { spec: { selector, template: { metadata: { labels, annotations: { 'a b': '' } }, spec: { containers: [box()] } } } }).errors;
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
  const errors = make('apps/StatefulSet', { spec }).errors;
  assert.deepEqual(errors.filter((error) => !error.startsWith('spec.serviceName')), [
    'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
    'spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
  ]);
  assert.equal(errors.some((error) => error.startsWith('spec.serviceName: Invalid value: "S": a lowercase RFC 1123 label')), true);
});

function update(key: string, before: object, change: (object: KubeObject) => void): readonly string[] {
  const old = make(key, before).object;
  const object = structuredClone(old);
  change(object);
  return (strategyOf(key).validateUpdate?.(object, old, context) ?? []).map(({ field, message }) => `${field}: ${message}`);
}

const changed = 'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,'
  + '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` '
  + '(allow it to be set to 1 if it was previously negative)\n';

test('validatePodUpdate shows each change with the lines around it', () => {
  const before = { spec: { containers: [box({ livenessProbe: { httpGet: { path: '/', port: 80 } } })], hostname: 'h' } };
  const change = (pod: KubeObject): void => {
    const spec = pod['spec'] as { containers: { livenessProbe: { httpGet: { path: string } } }[]; hostname: string };
    spec.containers[0]!.livenessProbe.httpGet.path = '/x';
    spec.hostname = 'i';
  };
  const [error, ...others] = update('/Pod', before, change);
  assert.deepEqual(others, []);
  assert.equal(error?.startsWith(changed), true, error);
  assert.deepEqual(error?.slice(changed.length).split('\n').filter((line) => !line.startsWith(' ')), [
    '@@ -24,7 +24,7 @@', '-     "Path": "/",', '+     "Path": "/x",', '@@ -81,7 +81,7 @@', '- "Hostname": "h",', '+ "Hostname": "i",', '',
  ]);
});

test('validatePodUpdate lets gated pods ask more of nodes, not less', () => {
  const before = { spec: { containers: [box()], schedulingGates: [{ name: 'a.b/c' }], nodeSelector: { a: 'b' } } };
  assert.deepEqual(update('/Pod', before, (pod) => Object.assign(pod['spec'] as object, { nodeSelector: { a: 'b', c: 'd' } })), []);
  assert.deepEqual(update('/Pod', before, (pod) => Object.assign(pod['spec'] as object, { nodeSelector: { c: 'd' } })),
    ['spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)']);
});

test('validateJobUpdate shows what is sealed as the reference keeps it', () => {
  const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'a.b/c', status: 'True' }] }];
  const before = { spec: { template: jobTemplate, podReplacementPolicy: 'Failed' } };
  assert.deepEqual(update('batch/Job', before, (job) => Object.assign(job['spec'] as object, { podFailurePolicy: { rules } })), [
    'spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Ignore","OnExitCodes":null,"OnPodConditions":[{"Type":"a.b/c","Status":"True"}]}]}: '
      + 'field is immutable',
  ]);
});
