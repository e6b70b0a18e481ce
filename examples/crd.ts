// A custom resource and its controller in one file: every Greeting is answered in its status, and again whenever its spec changes.
// Run: node dist/examples/crd.js
import {
  ApiextensionsV1Api, CustomObjectsApi, KubeConfig, type KubernetesObject, type V1CustomResourceDefinition, makeInformer,
} from '@kubernetes/client-node';
import { createServer } from '../src/index.ts';

const kind = { group: 'example.com', version: 'v1', namespace: 'default', plural: 'greetings' } as const;

/** What the custom resource is. */
const greetings: V1CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'greetings.example.com' },
  spec: {
    group: kind.group, scope: 'Namespaced', names: { plural: kind.plural, kind: 'Greeting' },
    versions: [{
      name: kind.version, served: true, storage: true, subresources: { status: {} },
      schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 50 } } },
        status: { type: 'object', properties: { text: { type: 'string' }, observedGeneration: { type: 'integer' } } },
      } } },
    }],
  },
};

/** One object of it. */
interface Greeting extends KubernetesObject {
  spec: { name: string };
  status?: { text?: string; observedGeneration?: number };
}

/** Defines the kind and starts its controller; answers how to stop it. */
export async function startGreetings(config: KubeConfig): Promise<() => Promise<void>> {
  const definitions = config.makeApiClient(ApiextensionsV1Api);
  await definitions.createCustomResourceDefinition({ body: greetings });
  await waitUntilServed(definitions);
  const objects = config.makeApiClient(CustomObjectsApi);
  const reconcile = async (greeting: Greeting): Promise<void> => {
    const { name = '', generation = 0 } = greeting.metadata ?? {};
    if (greeting.status?.observedGeneration === generation) return;
    const status = { text: `Hello, ${greeting.spec.name}!`, observedGeneration: generation };
    await objects.replaceNamespacedCustomObjectStatus({ ...kind, name, body: { ...greeting, status } });
  };
  // Another client was faster: the event of its change brings the object here again.
  const enqueue = (greeting: Greeting): void => void reconcile(greeting).catch(() => undefined);
  const list = () => objects.listNamespacedCustomObject(kind);
  const informer = makeInformer<Greeting>(config, `/apis/${kind.group}/${kind.version}/namespaces/${kind.namespace}/${kind.plural}`, list);
  informer.on('add', enqueue);
  informer.on('update', enqueue);
  await informer.start();
  return () => informer.stop();
}

/** A new kind is served once its definition is established, here as on any Kubernetes API server. */
async function waitUntilServed(definitions: ApiextensionsV1Api): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { status } = await definitions.readCustomResourceDefinition({ name: greetings.metadata?.name ?? '' });
    if (status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') === true) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('the kind is not established');
}

/** Greets the person of a Greeting and returns the text of the status. */
export async function greet(config: KubeConfig, name: string): Promise<string> {
  const objects = config.makeApiClient(CustomObjectsApi);
  const body: Greeting = { apiVersion: 'example.com/v1', kind: 'Greeting', metadata: { name: name.toLowerCase() }, spec: { name } };
  await objects.createNamespacedCustomObject({ ...kind, body });
  for (let attempt = 0; attempt < 200; attempt++) {
    const { status } = await objects.getNamespacedCustomObject({ ...kind, name: name.toLowerCase() }) as Greeting;
    if (status?.text !== undefined) return status.text;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`nobody greeted ${name}`);
}

if (process.argv[1] === import.meta.filename) {
  const server = await createServer();
  await server.ready;
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  const stop = await startGreetings(config);
  console.log(await greet(config, 'World'));
  await stop();
  await server.close();
}
