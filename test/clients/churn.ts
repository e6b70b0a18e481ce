// Shared by the client suites: a server with a short history, a proxy in front of it that cuts connections, and a writer that does not stop.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/base/index.ts';
import { type TestServer, eventually, startTestServer } from '../../src/test-support/index.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';

/** A server, the way to it that breaks, and a kubeconfig of that way. */
interface Arena {
  readonly server: TestServer;
  readonly proxy: CuttingProxy;
  readonly kubeconfig: string;
  /** Lets the server's clock jump; its timers go on as they are. */
  skip(ms: number): void;
  close(): Promise<void>;
}

/** Starts both; superseded versions are forgotten as soon as the cache allows. */
export async function startArena(): Promise<Arena> {
  let skippedMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skippedMs, now: () => systemClock.now() + skippedMs };
  const server = await startTestServer({ clock, historyMs: 200, compactionIntervalMs: 200 });
  const proxy = await startCuttingProxy(server.port);
  return {
    server, proxy,
    kubeconfig: server.kubeconfig.replaceAll(server.url, proxy.url),
    skip(ms) {
      skippedMs += ms;
    },
    async close() {
      await proxy.close();
      await server.close();
    },
  };
}

// More events than the cache keeps however old they are, and longer than it keeps the others.
const manyEvents = 150;
const longMs = 100_000;
const path = '/api/v1/namespaces/default/configmaps';

/** One round of writes: creates, changes and deletes among ten names, a little apart. */
async function writeRound(server: TestServer, round: number): Promise<void> {
  for (let step = 0; step < 10; step += 1) {
    const name = `item-${(round * 3 + step) % 10}`;
    const body = { metadata: { name, labels: { round: `r${round}` } }, data: { round: String(round), step: String(step) } };
    const created = await server.request({ method: 'POST', path, body });
    if (created.status === 409) {
      const erase = (round + step) % 3 === 0;
      await server.request({ method: erase ? 'DELETE' : 'PATCH', path: `${path}/${name}`, ...(!erase && { body }) });
    }
    await sleep(5);
  }
}

/** Writes while connections are cut, then while there are none for longer than the history lasts: clients that come back get 410. */
export async function churn({ server, proxy, skip }: Arena): Promise<void> {
  for (let round = 0; round < 6; round += 1) {
    await writeRound(server, round);
    proxy.cut();
    await sleep(100);
  }
  proxy.refuse(true);
  for (let write = 0; write < manyEvents; write += 1) {
    await server.request({ method: 'PATCH', path: `${path}/kube-root-ca.crt`, body: { metadata: { annotations: { write: String(write) } } } });
  }
  skip(longMs);
  await sleep(600);
  await writeRound(server, 7);
  proxy.refuse(false);
  await writeRound(server, 8);
}

/** Names and versions as the server lists them. */
async function listVersions(server: TestServer): Promise<Record<string, string>> {
  const { body } = await server.request({ path });
  return Object.fromEntries(body.items.map((item: any) => [item.metadata.name, item.metadata.resourceVersion]));
}

/** Waits until what a client has seen is what the server lists. */
export function awaitSameAsList(server: TestServer, read: () => Record<string, string> | Promise<Record<string, string>>): Promise<void> {
  return eventually(async () => assert.deepEqual(await read(), await listVersions(server)));
}
