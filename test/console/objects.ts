// Objects for the tests of the console: a small shop, many of one kind, and attacks in every text that may hold them.
import assert from 'node:assert/strict';
import type { ClientRequest, ClientResponse } from '../../src/test-support/index.ts';

/** A server as the flows use it, by this server or another one that speaks the Kubernetes API. */
export interface Shop {
  readonly url: string;
  /** Asks as the administrator. */
  request(request: ClientRequest): Promise<ClientResponse>;
  /** The link of a console that logs in with a token; absent where the server has a console of its own. */
  makeLink?(token: string): Promise<string>;
  close(): Promise<void>;
}

/** Creates an object; the path is that of its list. */
export async function create(server: Pick<Shop, 'request'>, path: string, body: object): Promise<any> {
  const answer = await server.request({ method: 'POST', path, body });
  assert.ok(answer.status === 201, `${path}: ${answer.text.slice(0, 300)}`);
  return answer.body;
}

const container = (image: string) => ({ name: 'main', image, ports: [{ containerPort: 8080 }] });

/** A Deployment of the shop. */
export const deployment = (name: string, tier: string, replicas: number) => ({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels: { app: name, tier } },
  spec: {
    replicas, selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container(`registry.example/shop/${name}:1.4`)] } },
  },
});

/** The namespace shop: Deployments, ConfigMaps, and a user with the right to read ConfigMaps there. */
export async function fillShop(server: Pick<Shop, 'request'>): Promise<void> {
  await create(server, '/api/v1/namespaces', { metadata: { name: 'shop', labels: { team: 'sales' } } });
  for (const [name, tier, replicas] of [['web', 'front', 3], ['cart', 'front', 2], ['catalog', 'back', 4], ['worker', 'back', 1]] as const) {
    await create(server, '/apis/apps/v1/namespaces/shop/deployments', deployment(name, tier, replicas));
  }
  const maps = { prices: { currency: 'EUR', vat: '19' }, 'feature-flags': { checkout: 'new', search: 'old' } };
  for (const [name, data] of Object.entries(maps)) await create(server, '/api/v1/namespaces/shop/configmaps', { metadata: { name }, data });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
  await create(server, '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles', { metadata: { name: 'config-reader' }, rules });
  await create(server, '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings', {
    metadata: { name: 'config-reader-alice' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'config-reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  });
}

const TOGETHER = 100;

/** So many ConfigMaps in the namespace many: many-0000, many-0001, … */
export async function makeMany(server: Pick<Shop, 'request'>, count: number): Promise<void> {
  await create(server, '/api/v1/namespaces', { metadata: { name: 'many' } });
  for (let first = 0; first < count; first += TOGETHER) {
    await Promise.all(Array.from({ length: Math.min(TOGETHER, count - first) }, (_, index) =>
      create(server, '/api/v1/namespaces/many/configmaps', { metadata: { name: `many-${String(first + index).padStart(4, '0')}` }, data: { value: 'x' } })));
  }
}

/** Texts that do something where they are taken for markup. */
export const attacks = { markup: '<img src=x onerror="attacked=1">', script: '</script><script>attacked=1</script>', link: 'javascript:attacked=1' } as const;

/** A definition and objects that hold attacks wherever the API takes any text. */
export async function attackDefinition(server: Pick<Shop, 'request'>): Promise<void> {
  await create(server, '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: attacks.markup, annotations: { note: attacks.script, link: attacks.link } }, rules: [],
  });
  const text = { type: 'string', description: attacks.markup };
  await create(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'evils.evil.example' },
    spec: {
      group: 'evil.example', scope: 'Cluster', names: { plural: 'evils', singular: 'evil', kind: 'Evil', shortNames: ['ev'] },
      versions: [{
        name: 'v1', served: true, storage: true, subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', description: attacks.script, properties: { spec: { type: 'object', properties: { text } },
          status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
        additionalPrinterColumns: [{ name: attacks.markup, type: 'string', jsonPath: '.spec.text', description: attacks.script }],
      }],
    },
  });
  await until(server, '/apis/evil.example/v1/evils');
  await create(server, '/apis/evil.example/v1/evils', {
    apiVersion: 'evil.example/v1', kind: 'Evil', metadata: { name: 'evil', annotations: { note: attacks.markup } }, spec: { text: attacks.markup },
  });
  const condition = { type: attacks.markup, status: attacks.script, reason: attacks.link, message: attacks.markup };
  const body = { status: { phase: attacks.markup, conditions: [condition] } };
  const answer = await server.request({ method: 'PATCH', path: '/apis/evil.example/v1/evils/evil/status', body });
  assert.equal(answer.status, 200, answer.text);
}

async function until(server: Pick<Shop, 'request'>, path: string): Promise<void> {
  for (let tries = 0; (await server.request({ path })).status !== 200; tries += 1) {
    assert.ok(tries < 200, `${path} is not served`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
