// @kubernetes/client-node and the Python client in the clothes of a service account: a token from TokenRequest, what its roles open, and what
// they do not. PINTLE_PYTHON names an interpreter that has `kubernetes`; without one its half says that it skips.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  AuthenticationV1Api, AuthorizationV1Api, CoreV1Api, KubeConfig, PatchStrategy, RbacAuthorizationV1Api, setHeaderOptions,
} from '@kubernetes/client-node';
import { createServer } from '../../src/index.ts';
import { startProgram } from './program.ts';

const namespace = 'default';
const user = 'system:serviceaccount:default:robot';
const core = { apiGroups: [''] };
const data = { kind: 'data' };

/** The settings that every client needs, whatever its language. */
const expected = {
  user, groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  list: ['settings'], create: 'made', patch: 'made', delete: 'Success', secret: 'known',
  'other secret': refuse('secrets "unknown"', 'get resource "secrets" in API group "" in the namespace "default"'),
  elsewhere: refuse('configmaps', 'list resource "configmaps" in API group "" in the namespace "kube-system"'),
  everywhere: refuse('configmaps', 'list resource "configmaps" in API group "" at the cluster scope'),
  nodes: refuse('nodes', 'list resource "nodes" in API group "" at the cluster scope'),
  escalate: [
    403, 'Forbidden', `roles.rbac.authorization.k8s.io "wider" is forbidden: user "${user}" (groups=["system:serviceaccounts" `
    + '"system:serviceaccounts:default" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
    + '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
  ],
  may: [true, false, false],
};

function refuse(what: string, why: string): readonly unknown[] {
  return [403, 'Forbidden', `${what} is forbidden: User "${user}" cannot ${why}`];
}

/** A server with an account and its rights; answers a kubeconfig of the account's token. */
async function startAccount(context: TestContext): Promise<KubeConfig> {
  const server = await createServer();
  context.after(() => server.close());
  await server.ready;
  const admin = new KubeConfig();
  admin.loadFromString(server.kubeconfig);
  const [objects, roles] = [admin.makeApiClient(CoreV1Api), admin.makeApiClient(RbacAuthorizationV1Api)];
  await objects.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'robot' } } });
  const rules = [
    { ...core, resources: ['configmaps'], verbs: ['list', 'create', 'patch', 'delete'] }, { ...core, resources: ['secrets'], verbs: ['get'],
      resourceNames: ['known'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] },
  ];
  await roles.createNamespacedRole({ namespace, body: { metadata: { name: 'robot' }, rules } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'robot' };
  await roles.createNamespacedRoleBinding({
    namespace, body: { metadata: { name: 'robot' }, roleRef, subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace }] },
  });
  await objects.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'settings', labels: data } } });
  for (const name of ['known', 'unknown']) await objects.createNamespacedSecret({ namespace, body: { metadata: { name } } });
  const { status } = await objects.createNamespacedServiceAccountToken({ namespace, name: 'robot', body: { spec: { audiences: [], expirationSeconds: 600 } } });
  const config = new KubeConfig();
  config.loadFromClusterAndUser(admin.getCurrentCluster()!, { name: 'robot', token: status?.token ?? '' });
  return config;
}

/** The names or the name that a call answers, or the status of its refusal. */
async function attempt(call: Promise<any>): Promise<unknown> {
  try {
    const found = await call;
    if (found.items !== undefined) return found.items.map((one: any) => one.metadata.name).sort();
    return found.kind === 'Status' ? found.status : found.metadata.name;
  } catch (error) {
    const { code, reason, message } = JSON.parse((error as { body: string }).body);
    return [code, reason, message];
  }
}

test('@kubernetes/client-node with the token of a service account is served inside its rights only', { timeout: 60_000 }, async (context) => {
  const config = await startAccount(context);
  const [objects, roles] = [config.makeApiClient(CoreV1Api), config.makeApiClient(RbacAuthorizationV1Api)];
  const reviews = config.makeApiClient(AuthorizationV1Api);
  const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
  const may = async (verb: string, resource: string, where = namespace) =>
    (await reviews.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes: { verb, resource, namespace: where } } } })).status?.allowed;
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  const wider = { metadata: { name: 'wider' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] };
  assert.deepEqual({
    user: review.status?.userInfo?.username, groups: review.status?.userInfo?.groups,
    list: await attempt(objects.listNamespacedConfigMap({ namespace, labelSelector: 'kind=data' })),
    create: await attempt(objects.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'made' } } })),
    patch: await attempt(objects.patchNamespacedConfigMap({ namespace, name: 'made', body: { data: { more: '1' } } }, merge)),
    delete: await attempt(objects.deleteNamespacedConfigMap({ namespace, name: 'made' })),
    secret: await attempt(objects.readNamespacedSecret({ namespace, name: 'known' })),
    'other secret': await attempt(objects.readNamespacedSecret({ namespace, name: 'unknown' })),
    elsewhere: await attempt(objects.listNamespacedConfigMap({ namespace: 'kube-system' })),
    everywhere: await attempt(objects.listConfigMapForAllNamespaces()), nodes: await attempt(objects.listNode()),
    escalate: await attempt(roles.createNamespacedRole({ namespace, body: wider })),
    may: [await may('create', 'configmaps'), await may('get', 'secrets'), await may('create', 'configmaps', 'kube-system')],
  }, expected);
});

const python = process.env['PINTLE_PYTHON'] ?? 'python3';
const usable = spawnSync(python, ['-c', 'import kubernetes'], { timeout: 30_000 }).status === 0;
const script = join(fileURLToPath(new URL('../../../', import.meta.url)), 'test', 'clients', 'python', 'account.py');

test('the Python client with the token of a service account is served inside its rights only',
  { skip: usable ? false : `${python} has no module kubernetes`, timeout: 60_000 }, async (context) => {
  const config = await startAccount(context);
  const program = startProgram(context, { command: python, args: [script], kubeconfig: config.exportConfig() });
  assert.deepEqual(await program.ask(), expected);
});
