// ConfigMaps of kube-system that others read: how aggregated servers find out whose certificates this server believes, and since when the
// use of tokens from Secrets is noted, which decides when unused ones may go.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type ReflectorListener, WorkQueue, createSystemClient, hasReason, isTerminating } from '../../registry/index.ts';
import type { ControllerContext } from '../context.ts';

type Data = Readonly<Record<string, string>>;

/** A ConfigMap and what must be in it, given what is; its other data are left alone. */
interface SystemConfigMap {
  readonly name: string;
  readonly wanted: (present: Data) => Data;
}

const NAMESPACE = 'kube-system';

/** Where aggregated servers look; a server that says nothing about its authorities still makes it. */
export const authenticationMap = (data: (present: Data) => Data): SystemConfigMap => ({ name: 'extension-apiserver-authentication', wanted: data });

/** Names the day on which the uses of tokens began to be noted. */
export const tokenTrackingMap = (nowMs: () => number): SystemConfigMap => ({
  name: 'kube-apiserver-legacy-service-account-token-tracking',
  wanted: ({ since }) => ({ since: since !== undefined && /^\d{4}-\d\d-\d\d$/.test(since) ? since : new Date(nowMs()).toISOString().slice(0, 10) }),
});

/** Writes each ConfigMap when its namespace is there, and puts its data right at every start and whenever `refresh` is called. */
export function createSystemConfigMaps(
  context: ControllerContext, all: readonly SystemConfigMap[],
): { readonly onNamespace: ReflectorListener; refresh(): void; stop(): Promise<void> } {
  const maps = createSystemClient(context, ['', 'v1', 'configmaps'], 'kube-apiserver');
  const queue = new WorkQueue({
    observer: context.observeQueue?.('system_config_maps'),
    clock: context.clock, concurrency: 1, onError: (key, error) => context.report('system-config-maps', key, error),
    async work(name) {
      const one = all.find((map) => map.name === name);
      if (one === undefined) return;
      try {
        const found = await maps.get({ namespace: NAMESPACE, name });
        const data = one.wanted(found === undefined ? {} : readData(found));
        const entries = Object.entries(data);
        if (found === undefined) {
          await maps.createIfAbsent(NAMESPACE, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...(entries.length > 0 && { data: { ...data } }) });
        } else if (entries.some(([key, value]) => readData(found)[key] !== value)) {
          await maps.update({ namespace: NAMESPACE, name }, '', (current) => ({ ...current, data: { ...readData(current), ...data } }));
        }
      } catch (error) {
        if (!isTerminating(error) && !hasReason(error, 'NotFound')) throw error;
      }
    },
  });
  const refresh = (): void => {
    for (const { name } of all) queue.add(name);
  };
  return {
    onNamespace(type, object) {
      if (type === 'present' && object.name === NAMESPACE) refresh();
    },
    refresh,
    stop: () => queue.stop(),
  };
}

const readData = (map: KubeObject): Data => (map['data'] ?? {}) as Record<string, string>;
