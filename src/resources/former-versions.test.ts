// Objects that other releases have stored, as they are read: those of versions that are served no more, and those that lack fields of today.
// Expected values are those that kube-apiserver 1.36 answers for the same bytes in etcd.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonValue, type KubeObject, loadSchemas } from '../apimachinery/index.ts';
import { createManualClock, systemRandom } from '../base/index.ts';
import { encodeEnvelope, encodeMessage } from '../codec/index.ts';
import { type Admission, type Resource, createCatalog, createRegistry, objectKey } from '../registry/index.ts';
import { createMemoryStore } from '../storage/index.ts';
import { formerSchema } from './common/former-versions.ts';
import { withPrimaryFamily } from './core/services/former-fields.ts';
import { schemaData } from './schema/index.ts';
import { createBuiltinResources } from './table.ts';

const rows = createBuiltinResources(loadSchemas(schemaData));
const rowOf = (kind: string): Resource => rows.find((row) => row.kind === kind) as Resource;
const admission: Admission = { mutate: () => Promise.resolve(), validate: () => Promise.resolve() };

/** The object that these bytes are, in its storage version. */
async function readBytes(row: Resource, value: Uint8Array): Promise<KubeObject> {
  const clock = createManualClock();
  const store = createMemoryStore({ clock });
  const target = { resource: row, version: row.storageVersion, namespace: row.namespaced ? 'n' : '', name: 'x' };
  await store.txn({ key: objectKey('/registry', row, target), expect: 0, value });
  const registry = createRegistry({ store, catalog: createCatalog([row]), clock, random: systemRandom, admission, trackUpdate: () => undefined });
  try {
    return (await registry.get(target, {})).object(row.storageVersion);
  } finally {
    await registry.close();
  }
}

const read = (kind: string, apiVersion: string, members: object, row = rowOf(kind)): Promise<KubeObject> => {
  const metadata = { name: 'x', ...(row.namespaced && { namespace: 'n' }), ...(members as { metadata?: object }).metadata };
  return readBytes(row, Buffer.from(JSON.stringify({ kind, apiVersion, ...members, metadata })));
};
const specOf = async (...args: Parameters<typeof read>): Promise<Record<string, any>> => (await read(...args))['spec'] as Record<string, any>;

const LABEL = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

test('a PodDisruptionBudget of policy/v1beta1 selects nothing by an empty selector, and all by the absence of its label', async () => {
  const select = async (apiVersion: string, selector: object | undefined): Promise<unknown> =>
    (await specOf('PodDisruptionBudget', apiVersion, { spec: { minAvailable: 1, selector } }))['selector'];
  const ask = (operator: string): object => ({ matchExpressions: [{ key: LABEL, operator }] });
  assert.deepEqual(await select('policy/v1beta1', {}), ask('Exists'));
  assert.deepEqual(await select('policy/v1beta1', { matchLabels: {}, matchExpressions: [] }), ask('Exists'));
  for (const operator of ['DoesNotExist', 'Exists']) assert.deepEqual(await select('policy/v1beta1', ask(operator)), {});
  assert.equal(await select('policy/v1beta1', undefined), undefined);
  assert.deepEqual(await select('policy/v1', ask('Exists')), ask('Exists'));
  assert.deepEqual(await select('policy/v1', ask('DoesNotExist')), {});
  const mixed = { matchLabels: { a: 'b' }, matchExpressions: [{ key: LABEL, operator: 'Exists' }, { key: 'a', operator: 'Exists' }] };
  for (const version of ['policy/v1', 'policy/v1beta1']) {
    assert.deepEqual(await select(version, mixed), { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] });
  }
});

test('a PersistentVolumeClaim without one of its two sources has it from the other', async () => {
  const [source, group] = [{ apiGroup: null, kind: 'PersistentVolumeClaim', name: 'a' }, { apiGroup: 'g.io', kind: 'Foo', name: 'a' }];
  const sources = async (spec: object): Promise<unknown> => {
    const { dataSource, dataSourceRef } = await specOf('PersistentVolumeClaim', 'v1', { spec });
    return [dataSource, dataSourceRef];
  };
  assert.deepEqual(await sources({ dataSource: source }), [source, source]);
  assert.deepEqual(await sources({ dataSource: group }), [group, group]);
  assert.deepEqual(await sources({ dataSourceRef: group }), [group, group]);
  assert.deepEqual(await sources({ dataSourceRef: { ...group, namespace: 'm' } }), [undefined, { ...group, namespace: 'm' }]);
});

test('a Service of releases with one address has lists of addresses and families, and the policy of these', async () => {
  const network = async (spec: object, row?: Resource): Promise<unknown> => {
    const { clusterIPs, ipFamilies, ipFamilyPolicy, internalTrafficPolicy } = await specOf('Service', 'v1', { spec }, row);
    return [clusterIPs, ipFamilies, ipFamilyPolicy, internalTrafficPolicy];
  };
  assert.deepEqual(await network({ clusterIP: '10.0.0.7' }), [['10.0.0.7'], ['IPv4'], 'SingleStack', 'Cluster']);
  assert.deepEqual(await network({ clusterIP: 'fd00::7', type: 'NodePort' }), [['fd00::7'], ['IPv6'], 'SingleStack', 'Cluster']);
  assert.deepEqual(await network({ clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7', 'fd00::7'] }),
    [['10.0.0.7', 'fd00::7'], ['IPv4', 'IPv6'], 'RequireDualStack', 'Cluster']);
  assert.deepEqual(await network({ clusterIP: 'None', selector: { a: 'b' } }), [['None'], ['IPv4'], 'SingleStack', 'Cluster']);
  assert.deepEqual(await network({ clusterIP: 'None' }), [['None'], ['IPv4', 'IPv6'], 'RequireDualStack', 'Cluster']);
  const second = withPrimaryFamily(rowOf('Service'), 'IPv6');
  assert.deepEqual(await network({ clusterIP: 'None' }, second), [['None'], ['IPv6', 'IPv4'], 'RequireDualStack', 'Cluster']);
  assert.deepEqual(await network({ type: 'ExternalName', internalTrafficPolicy: 'Local' }), [undefined, undefined, undefined, undefined]);
  assert.deepEqual(await network({}), [undefined, undefined, undefined, 'Cluster']);
});

const oldIngress = { spec: {
  backend: { serviceName: 's', servicePort: 80 },
  rules: [{ host: 'h', http: { paths: [
    { path: '/a', backend: { serviceName: 's', servicePort: 'p' } }, { pathType: 'Prefix', backend: { resource: { kind: 'K', name: 'n' } } }, { backend: {} },
    { backend: { servicePort: '' } }] } }, { host: 'i' }],
} };
const ingressOfToday = {
  defaultBackend: { service: { name: 's', port: { number: 80 } } },
  rules: [{ host: 'h', http: { paths: [
    { path: '/a', pathType: 'ImplementationSpecific', backend: { service: { name: 's', port: { name: 'p' } } } },
    { pathType: 'Prefix', backend: { resource: { apiGroup: null, kind: 'K', name: 'n' } } }, { pathType: 'ImplementationSpecific', backend: {} },
    { pathType: 'ImplementationSpecific', backend: { service: { name: '', port: {} } } }] } }, { host: 'i' }],
};

test('an Ingress of v1beta1 has its backends as v1 has them', async () => {
  for (const group of ['networking.k8s.io', 'extensions']) assert.deepEqual(await specOf('Ingress', `${group}/v1beta1`, oldIngress), ingressOfToday);
  const other = { defaultBackend: { service: { name: 's', port: { number: 1 } } } };
  assert.deepEqual(await specOf('Ingress', 'networking.k8s.io/v1beta1', { spec: other }), {});
  assert.deepEqual(await specOf('Ingress', 'networking.k8s.io/v1', { spec: other }), other);
});

test('protobuf of a former version is read with the fields of that version', async () => {
  const { rules: [rule] } = oldIngress.spec;
  const rules = [{ ...rule, http: { paths: rule!.http!.paths.slice(0, 1) } }];
  const object = { metadata: { name: 'x', namespace: 'n' }, spec: { ...oldIngress.spec, rules } };
  const raw = encodeMessage(formerSchema('networking.v1beta1.Ingress')(), object as unknown as JsonValue);
  const { spec } = await readBytes(rowOf('Ingress'), encodeEnvelope({ apiVersion: 'networking.k8s.io/v1beta1', kind: 'Ingress' }, raw)) as any;
  assert.deepEqual(spec, { ...ingressOfToday, rules: [{ host: 'h', http: { paths: ingressOfToday.rules[0]!.http!.paths.slice(0, 1) } }] });
});

test('an EndpointSlice of v1beta1 has zone and node in fields, and the rest of its topology beside them', async () => {
  const [ZONE, HOST] = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];
  const slice = await read('EndpointSlice', 'discovery.k8s.io/v1beta1', { addressType: 'IPv4', ports: null, endpoints: [
    { addresses: ['1.2.3.4'], nodeName: 'n', topology: { [ZONE]: 'z', [HOST]: 'n' } },
    { addresses: ['1.2.3.5'], nodeName: 'n', topology: { [HOST]: 'm', a: 'b' }, zone: 'unknown' },
  ] });
  assert.deepEqual(slice['endpoints'], [
    { addresses: ['1.2.3.4'], conditions: {}, nodeName: 'n', zone: 'z' },
    { addresses: ['1.2.3.5'], conditions: {}, deprecatedTopology: { [HOST]: 'm', a: 'b' }, nodeName: 'n' },
  ]);
});

test('priority levels of beta versions have their shares under the name of v1, and zero is the default', async () => {
  const shares = async (version: string, members: object): Promise<unknown> =>
    (await specOf('PriorityLevelConfiguration', `flowcontrol.apiserver.k8s.io/${version}`, members))['limited'].nominalConcurrencyShares;
  const limited = (member: object): object => ({ spec: { type: 'Limited', limited: { ...member, limitResponse: { type: 'Reject' } } } });
  for (const version of ['v1beta1', 'v1beta2']) {
    assert.deepEqual([await shares(version, limited({ assuredConcurrencyShares: 12 })), await shares(version, limited({}))], [12, 30]);
  }
  const nominal = (count: number): Promise<unknown> => shares('v1beta3', limited({ nominalConcurrencyShares: count }));
  assert.deepEqual([await nominal(12), await nominal(0)], [12, 30]);
  const annotations = { 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '', a: 'b' };
  const kept = await read('PriorityLevelConfiguration', 'flowcontrol.apiserver.k8s.io/v1beta3', {
    ...limited({ nominalConcurrencyShares: 0 }), metadata: { annotations },
  }) as any;
  assert.deepEqual([kept.spec.limited.nominalConcurrencyShares, kept.metadata.annotations], [0, { a: 'b' }]);
  const unstated = await read('PriorityLevelConfiguration', 'flowcontrol.apiserver.k8s.io/v1beta3', { ...limited({}), metadata: { annotations } }) as any;
  assert.equal(unstated.spec.limited.nominalConcurrencyShares, 0);
});

test('webhooks of v1beta1 have the defaults of that version', async () => {
  for (const kind of ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration']) {
    const { webhooks } = await read(kind, 'admissionregistration.k8s.io/v1beta1', { webhooks: [{ name: 'a.b.c', clientConfig: { url: 'https://a' } }] }) as any;
    const { failurePolicy, matchPolicy, sideEffects, timeoutSeconds, admissionReviewVersions } = webhooks[0];
    assert.deepEqual([failurePolicy, matchPolicy, sideEffects, timeoutSeconds, admissionReviewVersions], ['Ignore', 'Exact', 'Unknown', 30, ['v1beta1']]);
  }
});

test('bindings of rbac v1alpha1 have groups in place of versions', async () => {
  const [apiGroup, subjects] = ['rbac.authorization.k8s.io', [
    { kind: 'User', name: '*' }, { kind: 'User', name: 'u', apiVersion: 'x/v1' }, { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    { kind: 'Foo', name: 'f', apiVersion: 'g.io/v1' }, { kind: 'Bar', name: 'f', apiGroup: 'unknown' },
  ]];
  for (const kind of ['RoleBinding', 'ClusterRoleBinding']) {
    assert.deepEqual((await read(kind, 'rbac.authorization.k8s.io/v1alpha1', { subjects, roleRef: { kind: 'Role', name: 'r' } }))['subjects'], [
      { kind: 'Group', apiGroup, name: 'system:authenticated' }, { kind: 'User', apiGroup, name: 'u' }, { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      { kind: 'Foo', apiGroup: 'g.io', name: 'f' }, { kind: 'Bar', name: 'f' },
    ]);
  }
});

test('protobuf of roles of rbac v1alpha1 has its own numbers of fields', async () => {
  const rules = [{ verbs: ['get'], apiGroups: ['g'], resources: ['r'], resourceNames: ['n'], nonResourceURLs: ['/u'] }];
  for (const kind of ['Role', 'ClusterRole']) {
    const raw = encodeMessage(formerSchema(`rbac.v1alpha1.${kind}`)(), { metadata: { name: 'x' }, rules });
    // The verbs, and behind them what v1 has for lists of resources.
    assert.ok(Buffer.from(raw).includes(Buffer.from('\x0a\x03get\x1a\x01g\x22\x01r\x2a\x01n\x32\x02/u')));
    const role = await readBytes(rowOf(kind), encodeEnvelope({ apiVersion: 'rbac.authorization.k8s.io/v1alpha1', kind }, raw));
    assert.deepEqual(role['rules'], rules);
  }
});

test('a binding of a policy of v1alpha1 denies where parameters are not found', async () => {
  const paramOf = async (version: string): Promise<unknown> =>
    (await specOf('ValidatingAdmissionPolicyBinding', `admissionregistration.k8s.io/${version}`, { spec: { paramRef: { name: 'p' } } }))['paramRef'];
  assert.deepEqual([await paramOf('v1alpha1'), await paramOf('v1beta1')], [{ name: 'p', parameterNotFoundAction: 'Deny' }, { name: 'p' }]);
});

/** Requests of O=system:nodes, CN=system:node:a, made with openssl: without other names, and for a host. */
const requests = {
  plain: `MIHqMIGRAgEAMC8xFTATBgNVBAoMDHN5c3RlbTpub2RlczEWMBQGA1UEAwwNc3lzdGVtOm5vZGU6YTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOTokSqNPSZ3Ai/K
u2Opht3IoLvSvblDppsDMxlaFGfOc/1NXLy3vcs62YTu0GVTj7awnH6uR+hr8FrbG2XOiTKgADAKBggqhkjOPQQDAgNIADBFAiEA2/bA7Z8rUeel+/vfgUPffuUocPvu
Tadu9HCzil/rregCIBhCsZgtjTNrm+9xhYy4Ko4TW8PECZd7eKKwV7yfZPwX`,
  host: `MIIBEDCBtgIBADAvMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFjAUBgNVBAMMDXN5c3RlbTpub2RlOmEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATk6JEqjT0mdwIv
yrtjqYbdyKC70r25Q6abAzMZWhRnznP9TVy8t73LOtmE7tBlU4+2sJx+rkfoa/Ba2xtlzokyoCUwIwYJKoZIhvcNAQkOMRYwFDASBgNVHREECzAJggFhhwQBAgMEMAoG
CCqGSM49BAMCA0kAMEYCIQDEbet71ZwpGj2jWuBbnqtzES7+73DmvTIbApJqmpO28QIhAKLGeP69UjJlA+HuNk/DruLYxA8TJ+ueCcLb/OOvs4iN`,
};

test('a CertificateSigningRequest of v1beta1 without a signer has that of kubelets where it is one of theirs', async () => {
  const type = { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'CertificateSigningRequest' };
  const signer = async (name: keyof typeof requests | 'none', ...usages: string[]): Promise<unknown> => {
    const request = name === 'none' ? 'eA==' : btoa(`-----BEGIN CERTIFICATE REQUEST-----\n${requests[name]}\n-----END CERTIFICATE REQUEST-----\n`);
    return (await specOf(type.kind, type.apiVersion, { spec: { request, ...(usages.length > 0 && { usages }) } }))['signerName'];
  };
  const [signature, encipherment] = ['digital signature', 'key encipherment'];
  const [legacy, client, serving] = ['legacy-unknown', 'kube-apiserver-client-kubelet', 'kubelet-serving'].map((name) => `kubernetes.io/${name}`);
  assert.deepEqual([await signer('none'), await signer('plain'), await signer('host')], [legacy, legacy, legacy]);
  assert.deepEqual([await signer('plain', encipherment, 'client auth', signature), await signer('plain', 'client auth', signature)], [client, client]);
  assert.deepEqual([await signer('host', signature, encipherment, 'server auth'), await signer('host', 'server auth', signature)], [serving, serving]);
  assert.deepEqual([await signer('plain', signature, 'server auth'), await signer('host', signature, 'client auth')], [legacy, legacy]);
  assert.equal(await signer('plain', signature, 'client auth', 'server auth'), legacy);
  const { spec, status } = await read(type.kind, type.apiVersion, { spec: { request: 'eA==' }, status: { conditions: [{ type: 'Approved' }] } }) as any;
  assert.deepEqual([spec.usages, status.conditions[0].status], [[signature, encipherment], 'True']);
  const raw = encodeMessage(formerSchema('certificates.v1beta1.CertificateSigningRequest')(), { metadata: { name: 'x' }, spec: { request: 'eA==' } });
  const binary = await readBytes(rowOf(type.kind), encodeEnvelope(type, raw));
  assert.equal((binary['spec'] as any).signerName, legacy);
});

test('a RuntimeClass of v1alpha1 has the members of its spec', async () => {
  const members = { runtimeHandler: 'h', overhead: { podFixed: { cpu: '1' } } };
  const { handler, overhead, spec } = await read('RuntimeClass', 'node.k8s.io/v1alpha1', { spec: members }) as any;
  assert.deepEqual([handler, overhead, spec], ['h', { podFixed: { cpu: '1' } }, undefined]);
});

test('an Event of events.k8s.io in the store is one of core', async () => {
  for (const version of ['v1', 'v1beta1']) {
    const members = { note: 'n', regarding: { kind: 'Pod' }, deprecatedCount: 4, reportingController: 'c' };
    const event = await read('Event', `events.k8s.io/${version}`, members) as any;
    assert.deepEqual([event.apiVersion, event.message, event.involvedObject, event.count, event.reportingComponent], ['v1', 'n', { kind: 'Pod' }, 4, 'c']);
  }
});

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

test('a Deployment of former versions has the defaults of its version, and a rollback as its annotation', async () => {
  const deployment = async (apiVersion: string, spec: object, metadata = {}): Promise<any> =>
    read('Deployment', apiVersion, { metadata, spec: { template, ...spec } });
  const annotations = { 'deprecated.deployment.rollback.to': '5' };
  const { spec, metadata } = await deployment('extensions/v1beta1', { rollbackTo: { revision: 3 } }, { annotations });
  assert.deepEqual([spec.selector, metadata.labels, spec.rollbackTo], [{ matchLabels: { a: 'b' } }, { a: 'b' }, undefined]);
  assert.deepEqual([spec.strategy, spec.progressDeadlineSeconds, spec.revisionHistoryLimit],
    [{ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } }, 2 ** 31 - 1, 2 ** 31 - 1]);
  assert.deepEqual(metadata.annotations, { 'deprecated.deployment.rollback.to': '3' });
  const recreated = await deployment('extensions/v1beta1', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 2 } } });
  assert.deepEqual(recreated.spec.strategy.rollingUpdate, { maxUnavailable: 1, maxSurge: 2 });
  const beta = await deployment('apps/v1beta1', {}, { labels: { own: '1' } });
  assert.deepEqual([beta.spec.revisionHistoryLimit, beta.spec.progressDeadlineSeconds, beta.spec.strategy.rollingUpdate.maxSurge, beta.metadata.labels],
    [2, 600, '25%', { own: '1' }]);
  assert.equal((await deployment('apps/v1beta2', {})).spec.revisionHistoryLimit, 10);
});

test('other workloads of former versions replace pods when these are deleted, and select by the labels of the template', async () => {
  const workload = async (kind: string, apiVersion: string, spec: object = {}): Promise<any> => read(kind, apiVersion, { spec: { template, ...spec } });
  const daemons = await workload('DaemonSet', 'extensions/v1beta1', { templateGeneration: 3 });
  assert.deepEqual([daemons.spec.updateStrategy, daemons.spec.selector, daemons.metadata.annotations],
    [{ type: 'OnDelete' }, { matchLabels: { a: 'b' } }, { 'deprecated.daemonset.template.generation': '3' }]);
  const stateful = await workload('StatefulSet', 'apps/v1beta1');
  assert.deepEqual([stateful.spec.updateStrategy, stateful.spec.selector], [{ type: 'OnDelete' }, { matchLabels: { a: 'b' } }]);
  assert.equal((await workload('StatefulSet', 'apps/v1beta2')).spec.updateStrategy.type, 'RollingUpdate');
  assert.deepEqual((await workload('ReplicaSet', 'extensions/v1beta1')).spec.selector, { matchLabels: { a: 'b' } });
});
