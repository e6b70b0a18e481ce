// What every namespace has: the `default` ServiceAccount, and the `kube-root-ca.crt` ConfigMap with the authority of this server.
// Both come back when they are removed; the ConfigMap is put right when its data change. Servers on one store with an authority
// each would overwrite one another for ever: another authority is replaced once in a server's life, and then left alone.
import type { KubeObject } from '../../apimachinery/index.ts';
import {
  type Predicate, type ReflectorListener, type SystemClient, WorkQueue, createSystemClient, hasReason, isTerminating, startReflector,
} from '../../registry/index.ts';
import type { ControllerContext } from '../context.ts';

const ROOT_CA_NAME = 'kube-root-ca.crt';
const ROOT_CA_DESCRIPTION = 'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or '
  + 'kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

const certificates = /^\s*-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/;

/** A controller that keeps one object in every namespace. */
interface NamespaceContent {
  readonly onNamespace: ReflectorListener;
  stop(): Promise<void>;
}

interface ContentOptions {
  readonly controller: string;
  readonly objects: SystemClient;
  readonly name: string;
  readonly make: () => KubeObject;
  /** Whether an object that is there is as it should be. */
  readonly isRight: (object: KubeObject) => boolean;
  readonly correct: (object: KubeObject) => KubeObject;
  /** Whether an object that is not right may be another server's, which has as much of a claim to it. */
  readonly isRival: (object: KubeObject) => boolean;
}

/** Keeps the `default` ServiceAccount. */
export function createDefaultServiceAccounts(context: ControllerContext): NamespaceContent {
  return keepInNamespaces(context, {
    controller: 'serviceaccount',
    objects: createSystemClient(context, ['', 'v1', 'serviceaccounts'], 'kube-controller-manager'),
    name: 'default',
    make: () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }),
    isRight: () => true,
    correct: (object) => object,
    isRival: () => false,
  });
}

/** Keeps the ConfigMap with the authority's certificate (PEM; '' when there is none), beside those of other servers where the store is shared. */
export function createRootCaPublisher(
  context: ControllerContext, { authority, sharesStore = false }: { readonly authority: string; readonly sharesStore?: boolean },
): NamespaceContent {
  const data = authority === '' ? {} : { 'ca.crt': authority };
  const isRight = (object: KubeObject) => {
    const found = (object['data'] ?? {}) as Record<string, string>;
    return Object.keys(found).length === Object.keys(data).length && (authority === '' || found['ca.crt'] === authority);
  };
  const isRival = (object: KubeObject) => {
    const found = (object['data'] ?? {}) as Record<string, string>;
    return sharesStore && Object.keys(found).length === 1 && certificates.test(found['ca.crt'] ?? '');
  };
  const annotations = { 'kubernetes.io/description': ROOT_CA_DESCRIPTION };
  return keepInNamespaces(context, {
    controller: 'root-ca-cert-publisher',
    objects: createSystemClient(context, ['', 'v1', 'configmaps'], 'kube-controller-manager'),
    name: ROOT_CA_NAME,
    make: () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ROOT_CA_NAME, annotations: { ...annotations } }, data: { ...data } }),
    isRight,
    isRival,
    correct: (object) => ({ ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } }, data: { ...data } }),
  });
}

function keepInNamespaces(context: ControllerContext, options: ContentOptions): NamespaceContent {
  const { objects, name, controller } = options;
  const live = new Set<string>();
  const written = new Set<string>();
  const queue = new WorkQueue({
    observer: context.observeQueue?.('namespace_contents'),
    clock: context.clock,
    concurrency: 4,
    onError: (key, error) => context.report(controller, key, error),
    work: (namespace) => (live.has(namespace) ? keepObject(options, namespace, written) : Promise.resolve()),
  });
  const predicate: Predicate = { everything: false, name, matches: (object) => object.name === name };
  const reflector = startReflector({
    registry: context.registry, clock: context.clock, target: objects.target(''), predicate,
    onError: (error) => context.report(controller, name, error),
    onChange: (_type, object) => queue.add(object.namespace),
  });
  return {
    onNamespace(type, object) {
      const active = type === 'present' && object.object('v1').metadata.deletionTimestamp === undefined;
      if (!active) {
        live.delete(object.name);
        written.delete(object.name);
      } else if (!live.has(object.name)) {
        live.add(object.name);
        queue.add(object.name);
      }
    },
    stop() {
      reflector.stop();
      return queue.stop();
    },
  };
}

/** `written` has the namespaces in which this server has written the object. */
async function keepObject({ objects, name, ...content }: ContentOptions, namespace: string, written: Set<string>): Promise<void> {
  try {
    const found = await objects.get({ namespace, name });
    if (found === undefined) {
      if (await objects.createIfAbsent(namespace, content.make())) written.add(namespace);
    } else if (!content.isRight(found) && !(written.has(namespace) && content.isRival(found))) {
      written.add(namespace);
      await objects.update({ namespace, name }, '', content.correct);
    }
  } catch (error) {
    // The namespace is ending or gone: it needs no objects any more.
    if (!isTerminating(error) && !hasReason(error, 'NotFound')) throw error;
  }
}
