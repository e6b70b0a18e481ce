// The ConfigMap extension-apiserver-authentication in kube-system: how aggregated servers find out whose certificates this server believes.
import type { KubeObject } from '../apimachinery/index.ts';
import { createClientFor, hasReason, isTerminating } from './client.ts';
import type { ControllerContext } from './context.ts';
import type { InformerListener } from './informer.ts';
import { WorkQueue } from './work-queue.ts';

const namespace = 'kube-system';
const name = 'extension-apiserver-authentication';

/** Writes the ConfigMap when its namespace is there, and puts its data right at every start. */
export function createAuthenticationConfigMap(
  context: ControllerContext, data: Readonly<Record<string, string>>,
): { readonly onNamespace: InformerListener; stop(): Promise<void> } {
  const maps = createClientFor(context, ['', 'v1', 'configmaps'], 'kube-apiserver');
  const wanted = Object.entries(data);
  const make = (): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...(wanted.length > 0 && { data: { ...data } }) });
  const queue = new WorkQueue({
    clock: context.clock, concurrency: 1, onError: (key, error) => context.report('extension-apiserver-authentication', key, error),
    async work() {
      try {
        const found = await maps.get({ namespace, name });
        if (found === undefined) await maps.createIfAbsent(namespace, make());
        else if (wanted.some(([key, value]) => readData(found)[key] !== value)) {
          await maps.update({ namespace, name }, '', (current) => ({ ...current, data: { ...readData(current), ...data } }));
        }
      } catch (error) {
        if (!isTerminating(error) && !hasReason(error, 'NotFound')) throw error;
      }
    },
  });
  return {
    onNamespace(type, object) {
      if (type === 'present' && object.name === namespace) queue.add(name);
    },
    stop: () => queue.stop(),
  };
}

const readData = (map: KubeObject): Readonly<Record<string, string>> => (map['data'] ?? {}) as Record<string, string>;
