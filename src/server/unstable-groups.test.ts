// Requests for certificates of pods, bundles of trust, and groups of pods: what admission, the Node authorizer and the roles of their features do on a server.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../base/index.ts';
import { startTestServer } from '../test-support/index.ts';
import { createCertificate } from './tls/certificates.ts';

const HOUR_MS = 3_600_000;

/** An empty request of a key on P-256, made with openssl. */
const CERTIFICATE_REQUEST = 'MIG5MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGKl9u54PKqU80CJ9NlwThlgcIu+OElfOMiOvtClRxQxCByg1HNZq1rNmFgU7HAg2YtJsumwTB/x+2L05atyToCgADAKBggqhkjOPQQDAgNHADBEAiAaPIDTwBA0tgmqsIR5zdnlJWhNQykK4lyVKZIQPe306wIgELJ8eAotiM5gTuIeb0+bGgcjjBF4uU4La+42gV3/H/M=';

type Body = Record<string, any>;

async function startWith(featureGates: readonly string[], runtimeConfig: string) {
  const tokens = [
    { token: 'kubelet', user: { name: 'system:node:n1', groups: ['system:nodes'] } }, { token: 'alice', user: { name: 'alice', groups: ['devs'] } },
  ];
  const server = await startTestServer({
    featureGates, runtimeConfig: [runtimeConfig], authorizationMode: ['Node', 'RBAC'], enableAdmissionPlugins: ['NodeRestriction'], tokens,
    disableAdmissionPlugins: ['ServiceAccount'],
  });
  /** The body, or the message of a refusal. */
  const send = async (method: string, path: string, body?: unknown, token = 'admin-token'): Promise<any> => {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const answer = await server.request({ method, path, token, headers, ...(body !== undefined && { body }) });
    return answer.status < 300 ? answer.body : answer.body?.message ?? answer.status;
  };
  return { server, send };
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const podsPath = '/api/v1/namespaces/default/pods';
const pod = (name: string, spec: object, annotations: object = {}): object =>
  ({ metadata: { name, annotations }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });

describe('a server with PodCertificateRequests', () => {
  const path = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests';
  const start = () => startWith(['PodCertificateRequest=true'], 'certificates.k8s.io/v1beta1=true');

  it('lets kubelets ask for what runs on their node alone', async () => {
    const { server, send } = await start();
    const node = await send('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    const account = await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'sa' } });
    const [here, there, mirror] = [
      await send('POST', podsPath, pod('here', { nodeName: 'n1', serviceAccountName: 'sa' })),
      await send('POST', podsPath, pod('there', { nodeName: 'n2', serviceAccountName: 'sa' })),
      await send('POST', podsPath, pod('mirror', { nodeName: 'n1' }, { 'kubernetes.io/config.mirror': 'x' })),
    ];
    const right: Body = {
      signerName: 'example.com/s', podName: 'here', podUID: here.metadata.uid, serviceAccountName: 'sa', serviceAccountUID: account.metadata.uid,
      nodeName: 'n1', nodeUID: node.metadata.uid, stubPKCS10Request: CERTIFICATE_REQUEST,
    };
    const ask = (more: Body, token = 'kubelet') => send('POST', path, { metadata: { generateName: 'r-' }, spec: { ...right, ...more } }, token);
    const refused: readonly (readonly [Body, RegExp])[] = [
      [{ nodeName: 'n2' }, /is forbidden: PodCertificateRequest\.Spec\.NodeName="n2", which is not the requesting node "n1"$/],
      [{ nodeUID: 'x' }, /^PodCertificateRequest for pod "default\/here" names node UID "x", inconsistent with the running node \(".+"\)$/],
      [{ podName: 'gone' }, /^while retrieving pod "default\/gone" named in the PodCertificateRequest: pod "gone" not found$/],
      [{ podUID: 'x' }, /^PodCertificateRequest for pod "default\/here" contains pod UID \("x"\) which differs from running pod ".+"$/],
      [{ podName: 'there', podUID: there.metadata.uid }, /pod "default\/there" is not running on node "n1" named in the PodCertificateRequest$/],
      [{ podName: 'mirror', podUID: mirror.metadata.uid }, /pod "default\/mirror" is a mirror pod$/],
      [{ serviceAccountName: 'x' }, /contains serviceAccountName \("x"\) that differs from running pod \("sa"\)$/],
      [{ serviceAccountUID: 'x' }, /names service account UID "x", which differs from the running service account \(".+"\)$/],
    ];
    for (const [more, message] of refused) assert.match(await ask(more), message);
    const own = (await ask({})).metadata.name as string;
    const other = (await ask({ nodeName: 'n2' }, 'admin-token')).metadata.name as string;
    assert.equal((await send('GET', `${path}/${own}`, undefined, 'kubelet')).metadata.name, own);
    assert.match(await send('GET', `${path}/${other}`, undefined, 'kubelet'), /no relationship found between node 'n1' and this object/);
    assert.match(await send('GET', path, undefined, 'kubelet'), /can only list\/watch podcertificaterequests with nodeName field selector/);
    assert.equal((await send('GET', `${path}?fieldSelector=spec.nodeName=n1`, undefined, 'kubelet')).items.length, 1);
    assert.match(await send('DELETE', `${path}/${own}`, undefined, 'kubelet'), /nodes may not delete podcertificaterequests/);
    assert.match(await send('PATCH', `${path}/${own}/status`, {}, 'kubelet'), /nodes may not access the status subresource of PodCertificateRequests/);
    const { rules } = await send('GET', `${rbac}/clusterroles/system:node`);
    assert.deepEqual(rules.at(-1).resources, ['podcertificaterequests']);
    await server.close();
  });

  it('verifies signatures, and lets users with the right to sign answer', async () => {
    const { server, send } = await start();
    const spec = {
      signerName: 'example.com/s', podName: 'p', podUID: 'a', serviceAccountName: 'sa', serviceAccountUID: 'b', nodeName: 'n', nodeUID: 'c',
      stubPKCS10Request: CERTIFICATE_REQUEST,
    };
    const bytes = Buffer.from(CERTIFICATE_REQUEST, 'base64');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const broken = { ...spec, stubPKCS10Request: bytes.toString('base64') };
    assert.match(await send('POST', path, { metadata: { name: 'r' }, spec: broken }), /spec\.stubPKCS10Request: Invalid value: invalid signature$/);
    assert.equal((await send('POST', path, { metadata: { name: 'r' }, spec })).spec.maxExpirationSeconds, 86_400);
    const grant = async (name: string, rule: Body): Promise<void> => {
      await send('POST', `${rbac}/clusterroles`, { metadata: { name }, rules: [rule] });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
      await send('POST', `${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [{ ...roleRef, kind: 'User', name: 'alice' }] });
    };
    await grant('write', { apiGroups: ['certificates.k8s.io'], resources: ['podcertificaterequests/status'], verbs: ['patch'] });
    const condition = { type: 'Denied', status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' };
    const deny = () => send('PATCH', `${path}/r/status`, { status: { conditions: [condition] } }, 'alice');
    assert.equal(await deny(), 'PodCertificateRequest.certificates.k8s.io "r" is invalid: spec.signerName: Forbidden: '
      + 'User "alice" is not permitted to "sign" for signer "example.com/s"');
    assert.equal((await send('PATCH', `${path}/r/status`, { status: {} }, 'alice')).metadata.name, 'r');
    await grant('sign', { apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: ['example.com/*'], verbs: ['sign'] });
    assert.equal((await deny()).status.conditions[0].type, 'Denied');
    await server.close();
  });
});

describe('a server with PodGroups', () => {
  const base = '/apis/scheduling.k8s.io/v1alpha2/namespaces/default';
  const gang = { gang: { minCount: 2 } };

  it('makes them from templates that are there, and keeps the parallelism of jobs of a gang', async () => {
    const { server, send } = await startWith(['GenericWorkload=true'], 'scheduling.k8s.io/v1alpha2=true');
    await send('POST', `${base}/workloads`, { metadata: { name: 'w' }, spec: { podGroupTemplates: [{ name: 't', schedulingPolicy: gang }] } });
    const create = (workloadName: string, podGroupTemplateName: string) => send('POST', `${base}/podgroups`, {
      metadata: { name: 'g' }, spec: { schedulingPolicy: gang, podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } } },
    });
    const refusal = 'podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: ';
    assert.equal(await create('x', 't'), `${refusal}Workload "x" not found`);
    assert.equal(await create('w', 'x'), `${refusal}PodGroupTemplate "x" not found in Workload "w"`);
    const group = await create('w', 't');
    assert.deepEqual([group.metadata.finalizers, group.spec.priority], [['scheduling.k8s.io/podgroup-protection'], undefined]);
    const schedulingGroup = { podGroupName: 'g' };
    assert.deepEqual((await send('POST', podsPath, pod('p', { schedulingGroup }))).spec.schedulingGroup, schedulingGroup);
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const job = (name: string, spec: object) =>
      send('POST', jobs, { metadata: { name }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...spec } } } });
    await job('named', { schedulingGroup });
    const { metadata: { uid } } = await job('owner', {});
    await job('free', {});
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'owner', uid, controller: true };
    await send('PATCH', `${base}/podgroups/g`, { metadata: { ownerReferences: [owner] } });
    const widen = (name: string) => send('PATCH', `${jobs}/${name}`, { spec: { parallelism: 2 } });
    for (const name of ['named', 'owner']) {
      assert.equal(await widen(name), `jobs.batch "${name}" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "g"`);
    }
    assert.equal((await widen('free')).spec.parallelism, 2);
    const { rules } = await send('GET', `${rbac}/clusterroles/system:aggregate-to-edit`);
    assert.deepEqual(rules.at(-1).resources, ['podgroups', 'workloads']);
    await server.close();
  });

  it('gives them priorities where groups have any', async () => {
    const gates = ['GenericWorkload=true', 'GangScheduling=true', 'WorkloadAwarePreemption=true'];
    const { server, send } = await startWith(gates, 'scheduling.k8s.io/v1alpha2=true');
    await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 7 });
    const create = (name: string, more: object) => send('POST', `${base}/podgroups`, { metadata: { name }, spec: { schedulingPolicy: gang, ...more } });
    assert.equal((await create('a', { priorityClassName: 'high' })).spec.priority, 7);
    assert.equal((await create('b', {})).spec.priority, 0);
    assert.equal(await create('c', { priorityClassName: 'low' }), 'podgroups.scheduling.k8s.io "c" is forbidden: no PriorityClass with name low was found');
    assert.equal(await create('c', { priority: 3 }), 'podgroups.scheduling.k8s.io "c" is forbidden: '
      + 'priority set in the pod group (3) must match the priority computed (0) based on the priority class set in the spec');
    await server.close();
  });
});

describe('a server with ClusterTrustBundles', () => {
  it('takes a bundle of a signer from those alone that may attest for it', async () => {
    const { server, send } = await startWith(['ClusterTrustBundle=true'], 'certificates.k8s.io/v1beta1=true');
    const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';
    const rules = [{ apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'], verbs: ['*'] }];
    const grant = async (name: string, granted: readonly object[]): Promise<void> => {
      await send('POST', `${rbac}/clusterroles`, { metadata: { name }, rules: granted });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
      await send('POST', `${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
    };
    const attesting = (...resourceNames: string[]): object =>
      ({ apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames, verbs: ['attest'] });
    const trustBundle = createCertificate({ commonName: 'root', lifetimeMs: HOUR_MS }, { clock: systemClock, random: systemRandom }).certificate;
    const make = (signerName: string, token = 'alice') => send('POST', bundles,
      { metadata: { name: signerName === '' ? 'any' : `${signerName.replace('/', ':')}:x` }, spec: { signerName, trustBundle } }, token);
    await grant('bundles', rules);
    await grant('attests', [attesting('one.example.com/s', 'two.example.com/*')]);
    assert.equal((await make('')).kind, 'ClusterTrustBundle');
    assert.equal((await make('one.example.com/s')).kind, 'ClusterTrustBundle');
    assert.equal((await make('two.example.com/t')).kind, 'ClusterTrustBundle');
    const why = 'user not permitted to attest for signerName "one.example.com/t"';
    assert.equal(await make('one.example.com/t'), `clustertrustbundles.certificates.k8s.io "one.example.com:t:x" is forbidden: ${why}`);
    assert.equal((await make('one.example.com/t', 'admin-token')).kind, 'ClusterTrustBundle');
    const change = (metadata: object) => send('PATCH', `${bundles}/one.example.com:t:x`, { metadata }, 'alice');
    assert.match(await change({ labels: { a: 'b' } }), /user not permitted to attest for signerName "one\.example\.com\/t"$/);
    assert.deepEqual((await change({ finalizers: ['example.com/f'] })).metadata.finalizers, ['example.com/f']);
    await server.close();
  });
});

/** A request of the kubelet of n1 for a certificate in its own name, made with openssl. */
const KUBELET_REQUEST = 'MIHrMIGSAgEAMDAxFTATBgNVBAoMDHN5c3RlbTpub2RlczEXMBUGA1UEAwwOc3lzdGVtOm5vZGU6bjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATds4J63qg0NTaZxenBOn+yOhpxXXp/t45ZltdFK+c+kWTWjapk6xpq68z0/rUK6kgWmn0jocpg+uHz5oL0vlPZoAAwCgYIKoZIzj0EAwIDSAAwRQIgUbvi9regyx7wzEVCKNuIErLj+w40sMdd+8jBx49yTiUCIQCHfoceAhPAwFyDrmILbeMm13mVdbD2A4RzJCzkSnEXTw==';

describe('certificates that kubelets ask for', () => {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All';
  const ask = async (featureGates: readonly string[]): Promise<(request: string, signer?: string, token?: string) => Promise<unknown>> => {
    const { server, send } = await startWith(featureGates, 'api/all=true');
    after(() => server.close());
    return async (request, signerName = 'kubernetes.io/kubelet-serving', token = 'kubelet') => {
      const pem = btoa(`-----BEGIN CERTIFICATE REQUEST-----\n${request}\n-----END CERTIFICATE REQUEST-----\n`);
      const spec = { signerName, request: pem, usages: ['digital signature', 'server auth'] };
      const answer = await send('POST', path, { metadata: { name: 'x' }, spec }, token);
      return typeof answer === 'string' ? answer.replace(/^.*"x" is forbidden: /, '') : answer.kind;
    };
  };
  const [kind, refusal] = ['CertificateSigningRequest', 'can only create a node CSR with CN=system:node:n1'];

  it('are in their own name, where their signers are those of kubelets', async () => {
    const request = await ask([]);
    assert.deepEqual([await request(KUBELET_REQUEST), await request(CERTIFICATE_REQUEST)], [kind, refusal]);
    assert.equal(await request(CERTIFICATE_REQUEST, 'kubernetes.io/kube-apiserver-client-kubelet'), refusal);
    assert.deepEqual([await request(CERTIFICATE_REQUEST, 'example.com/x'), await request(CERTIFICATE_REQUEST, undefined, 'admin-token')], [kind, kind]);
    assert.equal(await request('', undefined), 'unable to parse csr: x509: malformed certificate request');
  });

  it('are in any name with AllowInsecureKubeletCertificateSigningRequests', async () => {
    const request = await ask(['AllowInsecureKubeletCertificateSigningRequests=true']);
    assert.equal(await request(CERTIFICATE_REQUEST), kind);
  });
});

describe('roles of features for devices', () => {
  it('are there where the gates are on', async () => {
    const rulesWith = async (...featureGates: readonly string[]): Promise<readonly unknown[]> => {
      const { server, send } = await startWith(featureGates, 'api/all=true');
      const roles = ['system:kube-scheduler', 'system:controller:device-taint-eviction-controller', 'system:controller:resourcepoolstatusrequest-controller'];
      const found = await Promise.all(roles.map((role) => send('GET', `${rbac}/clusterroles/${role}`)));
      await server.close();
      const names = found.map((role) => (role.rules ?? []).flatMap(({ resources }: Body) => resources) as string[]);
      return names.map((resources) => resources.filter((name) => /^(?:devicetaintrules|resourcepoolstatusrequests)/.test(name)));
    };
    assert.deepEqual(await rulesWith(), [[], [], []]);
    assert.deepEqual(await rulesWith('DRADeviceTaintRules=true', 'DRAResourcePoolStatus=true'),
      [['devicetaintrules'], ['devicetaintrules/status', 'devicetaintrules'], ['resourcepoolstatusrequests', 'resourcepoolstatusrequests/status']]);
  });

  it('are not there where gates that are on by default are off', async () => {
    const readRoles = async (...featureGates: readonly string[]): Promise<readonly unknown[]> => {
      const { server, send } = await startWith(featureGates, 'api/all=true');
      const [evictor, scheduler] = await Promise.all(['system:controller:device-taint-eviction-controller', 'system:kube-scheduler']
        .map((role) => send('GET', `${rbac}/clusterroles/${role}`)));
      await server.close();
      const claims = (scheduler?.rules ?? []).filter(({ resources, verbs }: Body) => resources?.[0] === 'resourceclaims' && verbs.includes('create'));
      return [evictor?.rules !== undefined, claims.length];
    };
    assert.deepEqual([await readRoles(), await readRoles('DRADeviceTaints=false', 'DRAExtendedResource=false')], [[true, 1], [false, 0]]);
  });
});
