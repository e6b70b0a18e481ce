// What a pod says of itself in annotations and keys of labels, and states that its containers do not go back to; in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { box, create, makeObject, prepareNew, updateFrom, updateStatus } from '../../kinds.suite.ts';
import { checkTransitions } from './restarts.ts';

const SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_C = 'container.seccomp.security.alpha.kubernetes.io/c';
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

const podWith = (annotations: object, spec: object = {}): readonly string[] =>
  create('/Pod', { metadata: { name: 'p', annotations }, spec: { containers: [box()], ...spec } });

test('annotations name profiles that there can be, of containers that there are', () => {
  for (const profile of ['runtime/default', 'docker/default', 'unconfined', 'localhost/a/b']) assert.deepEqual(podWith({ [SECCOMP]: profile }), [], profile);
  assert.deepEqual(podWith({ [SECCOMP]: 'x', [SECCOMP_C]: 'localhost/../a' }), [
    `metadata.annotations.${SECCOMP}: Invalid value: "x": must be a valid seccomp profile`,
    `metadata.annotations.${SECCOMP_C}: Invalid value: "../a": must not contain '..'`,
  ]);
  assert.deepEqual(podWith({ [`${APP_ARMOR}c`]: 'localhost/a' }), []);
  assert.deepEqual(podWith({ [`${APP_ARMOR}d`]: 'x' }), [
    `metadata.annotations[${APP_ARMOR}d]: Invalid value: "d": container not found`,
    `metadata.annotations[${APP_ARMOR}d]: Invalid value: "x": invalid AppArmor profile name: "x"`,
  ]);
  assert.deepEqual(create('/PodTemplate', { template: { metadata: { annotations: { [SECCOMP]: 'x' } }, spec: { containers: [box()] } } }), [
    `template.annotations.${SECCOMP}: Invalid value: "x": must be a valid seccomp profile`,
  ]);
});

test('a profile in a field is that of the annotation', () => {
  const seccomp = (seccompProfile: object) => ({ securityContext: { seccompProfile } });
  const local = { type: 'Localhost', localhostProfile: 'a' };
  assert.deepEqual(podWith({ [SECCOMP]: 'localhost/a' }, seccomp(local)), []);
  assert.deepEqual(podWith({ [SECCOMP]: 'docker/default' }, seccomp({ type: 'RuntimeDefault' })), []);
  const path = 'spec.securityContext.seccompProfile';
  assert.deepEqual(podWith({ [SECCOMP]: 'localhost/b' }, seccomp(local)), [`${path}.localhostProfile: Forbidden: seccomp profile in annotation and field must match`]);
  assert.deepEqual(podWith({ [SECCOMP]: 'unconfined' }, seccomp(local)), [`${path}.type: Forbidden: seccomp type in annotation and field must match`]);
  const appArmor = { securityContext: { appArmorProfile: { type: 'Unconfined' } } };
  const text = 'spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match';
  assert.deepEqual(podWith({ [`${APP_ARMOR}c`]: 'runtime/default' }, { containers: [box(appArmor)] }), [text]);
  const template = { metadata: { annotations: { [SECCOMP]: 'unconfined' } }, spec: { containers: [box()], ...seccomp(local) } };
  assert.deepEqual(create('/PodTemplate', { template }), [`template.${path}.type: Forbidden: seccomp type in annotation and field must match`]);
});

test('selectors of a new pod gain the labels that its keys name', () => {
  const term = { topologyKey: 'k', labelSelector: { matchLabels: { x: 'y' } }, matchLabelKeys: ['a', 'b'], mismatchLabelKeys: ['c'] };
  const spread = { topologyKey: 'k', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, matchLabelKeys: ['c'] };
  const spec = {
    containers: [box()], topologySpreadConstraints: [spread, { ...spread, labelSelector: undefined }],
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] } },
  };
  const made: any = prepareNew('/Pod', { metadata: { name: 'p', labels: { a: '1', c: '2' } }, spec })['spec'];
  const [{ podAffinityTerm }] = made.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(podAffinityTerm.labelSelector, {
    matchLabels: { x: 'y' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['1'] }, { key: 'c', operator: 'NotIn', values: ['2'] }],
  });
  assert.deepEqual(made.topologySpreadConstraints.map(({ labelSelector }: any) => labelSelector),
    [{ matchExpressions: [{ key: 'c', operator: 'In', values: ['2'] }] }, undefined]);
});

test('a container that has ended runs again only by the rules of its pod', () => {
  const ended = (exitCode: number) => ({ name: 'c', state: { terminated: { exitCode } } });
  const change = (spec: object, exitCode = 1, list = 'containerStatuses'): readonly string[] =>
    updateStatus('/Pod', { spec, status: { [list]: [{ name: 'c', state: { running: {} } }] } }, { spec, status: { [list]: [ended(exitCode)] } });
  const never = (of: object = {}, list = 'containers'): object => ({ restartPolicy: 'Never', containers: [box({ name: 'd' })], [list]: [box(of)] });
  const refused = ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'];
  assert.deepEqual([change(never()), change({ ...never(), restartPolicy: 'OnFailure' }, 0)], [refused, refused]);
  assert.deepEqual([change({ ...never(), restartPolicy: 'OnFailure' }), change({ ...never(), restartPolicy: 'Always' }, 0)], [[], []]);
  assert.deepEqual(change(never({ restartPolicy: 'Always' })), []);
  const rules = (action: string, operator = 'In') => ({ restartPolicy: 'Never', restartPolicyRules: [{ action, exitCodes: { operator, values: [7] } }] });
  assert.deepEqual([change(never(rules('Restart')), 7), change(never(rules('Restart', 'NotIn')), 8)], [[], []]);
  assert.deepEqual([change(never(rules('Restart')), 8), change(never(rules('RestartAllContainers')), 8)], [refused, []]);
  assert.deepEqual(change(never({}, 'initContainers'), 0, 'initContainerStatuses'), [refused[0]!.replace('containerStatuses', 'initContainerStatuses')]);
  assert.deepEqual(change({ restartPolicy: 'Always', containers: [box()] }, 0, 'ephemeralContainerStatuses'),
    [refused[0]!.replace('containerStatuses', 'ephemeralContainerStatuses')]);
});

test('checkTransitions reads the rules of a container once', () => {
  let reads = 0;
  const exitCodes = {
    operator: 'In',
    get values() {
      reads += 1;
      return [1];
    },
  };
  const spec = { restartPolicy: 'Never', containers: [box({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes }] })] };
  const statuses = (state: object): object[] => Array.from({ length: 10 }, () => ({ name: 'c', state }));
  const old = { metadata: {}, spec, status: { containerStatuses: statuses({ terminated: { exitCode: 1 } }) } };
  assert.deepEqual(checkTransitions({ path: 'status', value: { containerStatuses: statuses({ running: {} }) } }, old), []);
  assert.equal(reads, 1);
});

test('an update of ephemeral containers is validated with the rest of the pod', () => {
  const old = makeObject({ spec: { containers: [box()], ephemeralContainers: [box({ name: 'e' })] } });
  const update = (ephemeralContainers: object[], before: object = old): readonly string[] =>
    updateFrom('/Pod', { ...before, spec: { containers: [box()], ephemeralContainers } }, before, 'ephemeralcontainers');
  assert.deepEqual(update([box({ name: 'e' }), box({ name: 'f' })]), []);
  assert.deepEqual(update([]), ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n']);
  assert.match(update([box({ name: 'e', image: 'j' })])[0] ?? '',
    /^spec\.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed\n@@ .*\n-\s+"Image": "nginx",\n\+\s+"Image": "j",/s);
  const mirror = { ...old, metadata: { ...old.metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } } };
  assert.deepEqual(update([], mirror), ['[]: Forbidden: static pods do not support ephemeral containers']);
});

test('a pod that shares its node\'s network or messages sets none of their sysctls', () => {
  const names = (spec: object, ...sysctls: string[]): readonly string[] =>
    podWith({}, { ...spec, securityContext: { sysctls: sysctls.map((name) => ({ name, value: '1' })) } });
  const sysctls = ['net.ipv4.x', 'net/ipv4/eth0.100/x', 'kernel.shmmax', 'fs/mqueue/x', 'vm.x'];
  assert.deepEqual(names({}, ...sysctls), []);
  const refuse = (index: number, shared: string): string =>
    `spec.securityContext.sysctls[${index}].name: Invalid value: "${sysctls[index]}": may not be specified when '${shared}' is true`;
  assert.deepEqual(names({ hostNetwork: true }, ...sysctls), [refuse(0, 'hostNetwork'), refuse(1, 'hostNetwork')]);
  assert.deepEqual(names({ hostIPC: true }, ...sysctls), [refuse(2, 'hostIPC'), refuse(3, 'hostIPC')]);
});

test('amounts of huge pages are rounded up to bytes before they are divided', () => {
  const of = (name: string, amount: string): readonly string[] =>
    podWith({}, { containers: [box({ resources: { limits: { [name]: amount, cpu: '1' }, requests: { [name]: amount } } })] });
  assert.deepEqual([of('hugepages-2Mi', '4Mi'), of('hugepages-1', '500m')], [[], []]);
  assert.match(of('hugepages-2Mi', '500m')[0] ?? '', /Invalid value: "500m": 500m is not positive integer multiple of hugepages-2Mi$/);
  assert.match(of('hugepages-1m', '1')[0] ?? '', /is not positive integer multiple of hugepages-1m$/);
});
