// Admission in TypeScript: hooks of the server's own process instead of webhooks behind TLS. Run: node dist/examples/admission.js
import { CoreV1Api, KubeConfig, type V1ConfigMap } from '@kubernetes/client-node';
import { createServer, defineAdmission } from '../src/index.ts';

/** Labels every ConfigMap with its writer. */
export const labelWriter = defineAdmission<V1ConfigMap>({
  name: 'label-writer.example.com',
  match: { resources: ['configmaps'] },
  mutate({ object, user }) {
    if (object?.metadata === undefined) return;
    object.metadata.labels = { ...object.metadata.labels, 'example.com/writer': user.name.replace(/[^a-z]/g, '-') };
  },
});

/** Refuses ConfigMaps that hold a password, and warns about empty ones. */
export const refusePasswords = defineAdmission<V1ConfigMap>({
  name: 'no-passwords.example.com',
  match: { resources: ['configmaps'] },
  validate({ object, deny, warn }) {
    const keys = Object.keys(object?.data ?? {});
    if (keys.includes('password')) deny('passwords belong into Secrets');
    if (keys.length === 0) warn('this ConfigMap is empty');
  },
});

/** Starts a server with both hooks; returns what they made of two writes. */
export async function tryAdmission(): Promise<{ readonly writer: string | undefined; readonly refusal: string }> {
  const server = await createServer({ admission: [labelWriter, refusePasswords] });
  try {
    await server.ready;
    const config = new KubeConfig();
    config.loadFromString(server.kubeconfig);
    const core = config.makeApiClient(CoreV1Api);
    const write = (name: string, data: Record<string, string>) => core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name }, data } });
    const { metadata } = await write('settings', { color: 'blue' });
    const refusal = await write('secrets', { password: 'x' }).then(() => '', (error: { body?: string }) => String(JSON.parse(error.body ?? '{}').message));
    return { writer: metadata?.labels?.['example.com/writer'], refusal };
  } finally {
    await server.close();
  }
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${JSON.stringify(await tryAdmission())}\n`);
