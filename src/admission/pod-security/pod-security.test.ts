// Pod Security: the policy of labels, each check with a pod that it refuses, and the plugin over a namespace.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { evaluatePod, formatDetails } from './checks.ts';
import type { Container, PodSpec } from './pod.ts';
import { type PodSecurityConfiguration, createPodSecurity, defaultPodSecurity } from './pod-security.ts';
import { type Level, formatLevel, readPolicy } from './policy.ts';

const label = (name: string): string => `pod-security.kubernetes.io/${name}`;

describe('readPolicy', () => {
  it('warns about a level that is enforced, unless the labels say what to warn about', () => {
    const { policy, errors } = readPolicy({ [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.30' });
    assert.deepEqual([policy.enforce, policy.audit, policy.warn].map(formatLevel), ['baseline:v1.30', 'privileged:latest', 'baseline:v1.30']);
    assert.deepEqual(errors, []);
    assert.equal(formatLevel(readPolicy({ [label('enforce')]: 'baseline', [label('warn')]: 'privileged' }).policy.warn), 'privileged:latest');
  });

  it('enforces the strictest level where a label cannot be read, and reports the label', () => {
    const { policy, errors } = readPolicy({ [label('enforce')]: 'strict', [label('warn')]: 'x', [label('audit-version')]: '1.2' });
    assert.deepEqual([policy.enforce, policy.audit, policy.warn].map(formatLevel), ['restricted:latest', 'privileged:latest', 'privileged:latest']);
    assert.deepEqual(errors.map(({ field, message }) => `${field}: ${message}`), [
      'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted',
      'metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: "1.2": must be "latest" or "v1.x"',
      'metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "x": must be one of privileged, baseline, restricted',
    ]);
  });
});

/** A container that every level permits. */
const sound: Container = {
  name: 'c', securityContext: {
    allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
};
const withContext = (securityContext: object): PodSpec => ({ containers: [{ ...sound, securityContext: { ...sound.securityContext, ...securityContext } }] });
const find = (level: Level, spec: PodSpec, minor: number | 'latest' = 'latest', annotations: Record<string, string> = {}): string =>
  formatDetails(evaluatePod({ level, minor }, { metadata: { annotations }, spec }));

describe('evaluatePod', () => {
  it('permits a sound pod at every level, and everything at privileged', () => {
    assert.equal(find('restricted', { containers: [sound] }), '');
    assert.equal(find('privileged', { hostPID: true, containers: [] }), '');
  });

  const refused: readonly (readonly [Level, PodSpec, string])[] = [
    ['baseline', { hostNetwork: true, hostIPC: true }, 'host namespaces (hostNetwork=true, hostIPC=true)'],
    ['baseline', { volumes: [{ name: 'v', hostPath: {} }, { name: 'w', hostPath: {} }] }, 'hostPath volumes (volumes "v", "w")'],
    ['baseline', { containers: [{ name: 'a', ports: [{ hostPort: 81 }, { hostPort: 80 }] }, { name: 'b', ports: [{}] }] },
      'hostPort (container "a" uses hostPorts 80, 81)'],
    ['baseline', withContext({ privileged: true }), 'privileged (container "c" must not set securityContext.privileged=true)'],
    ['baseline', withContext({ capabilities: { add: ['SYS_TIME', 'KILL', 'NET_RAW'] } }),
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_TIME" in securityContext.capabilities.add)'],
    ['baseline', withContext({ procMount: 'Unmasked' }), 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'],
    ['baseline', { securityContext: { seLinuxOptions: { type: 'x', user: 'u' } }, containers: [] },
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set)'],
    ['baseline', withContext({ seccompProfile: { type: 'Unconfined' } }),
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")'],
    ['baseline', withContext({ appArmorProfile: { type: 'Unconfined' } }),
      'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")'],
    ['baseline', { securityContext: { sysctls: [{ name: 'kernel.msgmax' }, { name: 'net.ipv4.tcp_rmem' }] } }, 'forbidden sysctls (kernel.msgmax)'],
    ['baseline', { securityContext: { windowsOptions: { hostProcess: true } }, containers: [] },
      'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)'],
    ['baseline', { containers: [{ name: 'a', livenessProbe: { httpGet: { host: '10.0.0.1' } } }] },
      'probe or lifecycle host (container "a" uses probe or lifecycle host "10.0.0.1")'],
    ['restricted', withContext({ allowPrivilegeEscalation: true }),
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)'],
    ['restricted', withContext({ capabilities: { add: ['CHOWN'] } }),
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"];'
      + ' container "c" must not include "CHOWN" in securityContext.capabilities.add)'],
    ['restricted', { containers: [sound], volumes: [{ name: 'v', nfs: {} }, { name: 'w', secret: {} }] },
      'restricted volume types (volume "v" uses restricted volume type "nfs")'],
    ['restricted', withContext({ runAsNonRoot: undefined }), 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)'],
    ['restricted', withContext({ runAsNonRoot: false }), 'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)'],
    ['restricted', withContext({ runAsUser: 0 }), 'runAsUser=0 (container "c" must not set runAsUser=0)'],
    ['restricted', withContext({ seccompProfile: undefined }),
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'],
  ];
  for (const [level, spec, text] of refused) it(`${level} refuses: ${text}`, () => assert.equal(find(level, spec), text));

  it('takes the form of a check that the version has', () => {
    const sysctl: PodSpec = { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } };
    assert.equal(find('baseline', sysctl, 31), 'forbidden sysctls (net.ipv4.tcp_rmem)');
    assert.equal(find('baseline', sysctl, 32), '');
    assert.equal(find('restricted', withContext({ runAsUser: 0 }), 22), '');
    assert.equal(find('restricted', { ...withContext({ runAsUser: 0 }), hostUsers: false }), '');
    assert.equal(find('baseline', { containers: [] }, 18, { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }),
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")');
  });
});

describe('createPodSecurity', () => {
  const pod = (name: string, spec: object = {}, metadata: object = {}): KubeObject =>
    ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }) as unknown as KubeObject;
  const namespace = (labels: Record<string, string>): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns', labels } }) as KubeObject;

  interface Request {
    readonly plural: string;
    readonly object: KubeObject;
    readonly oldObject?: KubeObject;
    readonly labels?: Record<string, string>;
    readonly pods?: readonly KubeObject[];
    readonly configuration?: PodSecurityConfiguration;
    readonly auditAnnotations?: Map<string, { readonly value: string }>;
    readonly records?: unknown[];
  }

  /** Runs the plugin; returns the warnings, or the refusal. */
  async function run({ plural, object, oldObject, labels = {}, pods = [], configuration, auditAnnotations, records }: Request):
  Promise<readonly string[] | string> {
    const plugin = createPodSecurity({
      namespaces: { find: async () => namespace(labels), list: async () => [] }, pods: { find: async () => undefined, list: async () => pods },
    }, configuration, ({ evaluation, ...subject }) => records?.push(Object.values({ ...subject, ...evaluation })));
    const [group = '', name = ''] = plural.split('/');
    const attributes = {
      operation: oldObject === undefined ? 'CREATE' : 'UPDATE', subresource: '', resource: { group, plural: name, kind: object['kind'] }, namespace: 'ns',
      name: object.metadata.name, kind: { group, version: 'v1', kind: object['kind'] }, object, oldObject,
      context: { user: { name: 'u' }, warnings: [] as string[], auditAnnotations },
    } as unknown as AdmissionAttributes;
    if (!plugin.handles(attributes)) return [];
    try {
      await plugin.validate?.(attributes);
      return attributes.context.warnings;
    } catch (error) {
      return (error as Error).message;
    }
  }

  it('annotates audit events with the level, the violations of the level to audit, errors and exemptions', async () => {
    const annotationsOf = async (request: Request): Promise<Record<string, string>> => {
      const auditAnnotations = new Map<string, { readonly value: string }>();
      await run({ ...request, auditAnnotations });
      return Object.fromEntries([...auditAnnotations].map(([key, { value }]) => [key.slice(label('').length), value]));
    };
    const object = pod('p', { hostPID: true });
    const exempt = (more: Partial<PodSecurityConfiguration['exemptions']>): PodSecurityConfiguration =>
      ({ ...defaultPodSecurity, exemptions: { ...defaultPodSecurity.exemptions, ...more } });
    assert.deepEqual(await annotationsOf({ plural: '/pods', object }), { 'enforce-policy': 'privileged:latest' });
    assert.deepEqual(await annotationsOf({ plural: '/pods', object, labels: { [label('enforce')]: 'baseline', [label('audit')]: 'baseline' } }), {
      'enforce-policy': 'baseline:latest', 'audit-violations': 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    });
    assert.match((await annotationsOf({ plural: '/pods', object, labels: { [label('enforce')]: 'none' } }))['error'] ?? '', /^Failed to parse policy: .*none/);
    assert.deepEqual(await annotationsOf({ plural: '/pods', object, configuration: exempt({ namespaces: ['ns'] }) }), { exempt: 'namespace' });
    assert.deepEqual(await annotationsOf({ plural: '/pods', object, configuration: exempt({ usernames: ['u'] }) }), { exempt: 'user' });
  });

  it('reports what it decides', async () => {
    const records: unknown[] = [];
    const object = pod('p', { hostPID: true });
    await run({ plural: '/pods', object, records });
    const labels = { [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.30', [label('audit')]: 'baseline' };
    await run({ plural: '/pods', object, labels, records });
    await run({ plural: '/pods', object, labels: { [label('warn')]: 'baseline', [label('warn-version')]: 'v1.99' }, records });
    const exemptions = { ...defaultPodSecurity.exemptions, usernames: ['u'] };
    await run({ plural: '/pods', object, configuration: { ...defaultPodSecurity, exemptions }, records });
    assert.deepEqual(records, [
      ['create', 'pod', '', 'allow', 'enforce', 'privileged', 'latest'], ['create', 'pod', '', 'deny', 'audit', 'baseline', 'latest'],
      ['create', 'pod', '', 'deny', 'enforce', 'baseline', 'v1.30'], ['create', 'pod', '', 'allow', 'enforce', 'privileged', 'latest'],
      ['create', 'pod', '', 'deny', 'warn', 'baseline', 'future'], ['create', 'pod', ''],
    ]);
  });

  it('refuses a pod that violates the level to enforce', async () => {
    assert.equal(await run({ plural: '/pods', object: pod('p', { hostPID: true }), labels: { [label('enforce')]: 'baseline' } }),
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)');
  });

  it('warns about pods and templates, and never refuses a template', async () => {
    const spec = { template: pod('', { hostPID: true }) };
    const template = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec } as unknown as KubeObject;
    const warning = 'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)';
    assert.deepEqual(await run({ plural: '/pods', object: pod('p', { hostPID: true }), labels: { [label('warn')]: 'baseline' } }), [warning]);
    assert.deepEqual(await run({ plural: 'apps/deployments', object: template, labels: { [label('enforce')]: 'baseline' } }), [warning]);
  });

  it('passes updates of a pod that change no image and add no container', async () => {
    const [before, labels] = [pod('p', { hostPID: true }), { [label('enforce')]: 'baseline' }];
    assert.deepEqual(await run({ plural: '/pods', object: pod('p', { hostPID: true }, { labels: { a: 'b' } }), oldObject: before, labels }), []);
    const changed = pod('p', { hostPID: true, containers: [{ name: 'c', image: 'other' }] });
    assert.match(String(await run({ plural: '/pods', object: changed, oldObject: before, labels })), /^pods "p" is forbidden/);
  });

  it('refuses bad labels of a namespace, but lets an update keep those it had', async () => {
    const bad = namespace({ [label('enforce')]: 'strict' });
    assert.match(String(await run({ plural: '/namespaces', object: bad })), /^Namespace "ns" is invalid: metadata.labels\[[a-z./-]*enforce\]/);
    assert.deepEqual(await run({ plural: '/namespaces', object: bad, oldObject: bad }), []);
  });

  it('warns a namespace that gets a stricter level about its pods, one line for each set of reasons', async () => {
    const owner = { ownerReferences: [{ controller: true, uid: '1' }] };
    const pods = [
      pod('b', { hostPID: true }, owner), pod('a', { hostPID: true }, owner),
      pod('c', { hostNetwork: true, volumes: [{ name: 'v', hostPath: {} }] }), pod('d')];
    assert.deepEqual(await run({ plural: '/namespaces', object: namespace({ [label('enforce')]: 'baseline' }), oldObject: namespace({}), pods }), [
      'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 1 other pod): host namespaces', 'c: host namespaces, hostPath volumes',
    ]);
  });

  it('holds neither exempt users nor exempt namespaces, which are warned that their labels have no effect', async () => {
    const exempt = (exemptions: object): PodSecurityConfiguration =>
      ({ ...defaultPodSecurity, exemptions: { ...defaultPodSecurity.exemptions, ...exemptions } });
    const labels = { [label('enforce')]: 'baseline' };
    assert.deepEqual(await run({ plural: '/pods', object: pod('p', { hostPID: true }), labels, configuration: exempt({ usernames: ['u'] }) }), []);
    assert.deepEqual(await run({ plural: '/namespaces', object: namespace(labels), configuration: exempt({ namespaces: ['ns'] }) }),
      ['namespace "ns" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored']);
  });
});
