// A typed controller that runs in the process of the server and, unchanged, against any cluster: every Website gets a ConfigMap that it owns, and a
// status. In the process: node dist/examples/typed-controller.js. Against a cluster: KUBECONFIG=… node dist/examples/typed-controller.js cluster
import { type KubernetesObject, controlledBy, createServer, defineController, runControllers } from '../src/index.ts';

/** One object of the custom kind. */
export interface Website extends KubernetesObject {
  spec: { title: string };
  status?: { page?: string; observedGeneration?: number };
}

/** What the custom kind is. */
export const websites: KubernetesObject = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'websites.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'websites', kind: 'Website' },
    versions: [{
      name: 'v1', served: true, storage: true, subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', required: ['title'], properties: { title: { type: 'string', maxLength: 50 } } },
        status: { type: 'object', properties: { page: { type: 'string' }, observedGeneration: { type: 'integer' } } },
      } } },
    }],
  },
};

/** Keeps the page of each Website in a ConfigMap: made again when it is deleted, put right when it is changed. */
export const websiteController = defineController<Website>({
  name: 'website-controller',
  for: { apiVersion: 'example.com/v1', kind: 'Website' },
  owns: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
  concurrency: 4,
  async reconcile({ object: website, client }) {
    // What it owns is garbage-collected.
    if (website === undefined || website.metadata?.deletionTimestamp !== undefined) return;
    const { name = '', namespace = '', generation = 0 } = website.metadata ?? {};
    await client.apply({
      apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${name}-page`, namespace, ownerReferences: [controlledBy(website)] },
      data: { 'index.html': `<h1>${website.spec.title}</h1>` },
    });
    await client.applyStatus(website, { page: `${name}-page`, observedGeneration: generation });
  },
});

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === 'cluster') {
    await runControllers([websiteController], { leaderElection: { namespace: 'default', name: 'website-controller' } });
  } else {
    const server = await createServer({ dataDir: '.pintle' });
    await server.ready;
    await runControllers([websiteController], { server });
    console.log(`KUBECONFIG=${server.kubeconfigPath}`);
  }
}
