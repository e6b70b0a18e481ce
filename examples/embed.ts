// Pintle as a library: a server in this process, used through the client that every Node program uses. Run: node dist/examples/embed.js
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { createServer } from '../src/index.ts';

/** Starts a server in memory, writes an object, reads it back, stops; answers what was read. */
export async function runEmbedded(): Promise<string | undefined> {
  const server = await createServer();
  try {
    await server.ready;
    const config = new KubeConfig();
    config.loadFromString(server.kubeconfig);
    const core = config.makeApiClient(CoreV1Api);
    await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'greeting' }, data: { text: 'hello' } } });
    const { data } = await core.readNamespacedConfigMap({ namespace: 'default', name: 'greeting' });
    return data?.['text'];
  } finally {
    await server.close();
  }
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${await runEmbedded()}\n`);
