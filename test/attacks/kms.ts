// Attacks by a key management plugin, which a server has to trust with its keys and with nothing else: one that hangs, answers late, garbage, without
// end, or is stopped. Meanwhile alice floods writes of Secrets and asks for readiness all the time, and an ordinary user writes ConfigMaps.
import type { ServerHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestPlugin, type TestPlugin } from '../../src/server/encryption/testing.ts';
import { frameMessage } from '../../src/grpc/index.ts';
import { type Attack, type Victim, configMap, send } from './attack.ts';

const SECRETS = '/api/v1/namespaces/alice/secrets';
const WRITERS = 10;
const PAUSE_MS = 20;
/** A good status is asked for again after 20 s, a bad one after 3 s. */
const NOTICE_SECONDS = 40;
const MORE_MS = 5000;
/** What a write of others may take at its 99th percentile, beside floods of writes on a shared disk. */
const WRITE_P99_MS = 250;

interface Flood {
  readonly statuses: Map<number, number>;
  readonly writeMs: number[];
  stop(): Promise<void>;
}

/** Writes of Secrets and of ConfigMaps, and questions for readiness, until it is stopped. */
function startFlood(victim: Victim): Flood {
  let isOn = true;
  const statuses = new Map<number, number>();
  const writeMs: number[] = [];
  let count = 0;
  const loop = async (one: () => Promise<void>): Promise<void> => {
    while (isOn) await one();
  };
  const writeSecret = async (): Promise<void> => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `flood${count++}` }, stringData: { a: 'b'.repeat(100) } };
    const { status } = await send(victim, { method: 'POST', path: SECRETS, body });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await sleep(PAUSE_MS);
  };
  const writeConfigMap = async (): Promise<void> => {
    const body = configMap('mine', { a: String(count) });
    const { ms } = await send(victim, { method: 'PUT', path: '/api/v1/namespaces/bob/configmaps/mine', token: 'bob-token', body });
    writeMs.push(ms);
    await sleep(20);
  };
  const askReadiness = async (): Promise<void> => {
    await send(victim, { path: '/readyz', timeoutMs: 10_000 });
    await sleep(50);
  };
  const all = [...Array.from({ length: WRITERS }, () => loop(writeSecret)), loop(writeConfigMap), ...Array.from({ length: 5 }, () => loop(askReadiness))];
  return { statuses, writeMs, async stop() {
    isOn = false;
    await Promise.all(all);
  } };
}

async function waitUntil(holds: () => Promise<boolean>): Promise<boolean> {
  for (let second = 0; second < NOTICE_SECONDS; second++) {
    if (await holds()) return true;
    await sleep(1000);
  }
  return false;
}

const isReady = async (victim: Victim): Promise<boolean> => (await send(victim, { path: '/readyz' })).status === 200;

/** Lets the plugin fail, waits until the server has noticed it, and lets it be well again. */
function pluginAttack(name: string, spoil: (plugin: TestPlugin) => Promise<() => Promise<void>>): Attack {
  return {
    number: '68', name,
    async run(victim) {
      const { plugin } = victim;
      if (plugin === undefined) return { holds: true, answer: 'not tried: the plugin of this server is elsewhere' };
      const wasReady = await waitUntil(() => isReady(victim));
      const flood = startFlood(victim);
      const mend = await spoil(plugin);
      const isNoticed = await waitUntil(async () => !await isReady(victim));
      await sleep(MORE_MS);
      await mend();
      const isWell = await waitUntil(() => isReady(victim));
      await flood.stop();
      await send(victim, { method: 'DELETE', path: SECRETS });
      flood.writeMs.sort((a, b) => a - b);
      const p99Ms = flood.writeMs[Math.floor(flood.writeMs.length * 0.99)] ?? Infinity;
      const isWritten = [...flood.statuses.keys()].every((status) => [201, 409, 429].includes(status));
      return {
        holds: wasReady && isNoticed && isWell && isWritten && p99Ms <= WRITE_P99_MS,
        answer: `Secrets ${JSON.stringify(Object.fromEntries(flood.statuses))}, ${flood.writeMs.length} ConfigMaps with p99 ${p99Ms.toFixed(0)} ms; `
          + `${isNoticed ? 'not ready' : 'NOT NOTICED'}, then ${isWell ? 'ready' : 'NOT READY'}`,
      };
    },
  };
}

/** A plugin whose calls are answered by this. */
const answerWith = (answer: (stream: ServerHttp2Stream) => void) => async (plugin: TestPlugin) => {
  plugin.instead = answer;
  return async () => {
    plugin.instead = undefined;
  };
};

/** Writes messages as long as they are taken. */
function answerWithoutEnd(stream: ServerHttp2Stream, piece: Buffer): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  const write = (): void => {
    while (!stream.destroyed && stream.write(piece));
    if (!stream.destroyed) stream.once('drain', write);
  };
  write();
}

const garbage = Buffer.concat(Array.from({ length: 10_000 }, () => frameMessage(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61]))));
const startOf64Mb = Buffer.concat([Buffer.from([0, 0x04, 0, 0, 0]), Buffer.alloc(60_000, 0x0a)]);

/** Plugins that do not do their work. */
export const kmsAttacks: readonly Attack[] = [
  pluginAttack('a key management plugin that hangs', answerWith(() => {})),
  pluginAttack('a key management plugin that answers after 30 s', answerWith((stream) => {
    setTimeout(() => stream.destroyed || stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { endStream: true }), 30_000).unref();
  })),
  pluginAttack('a key management plugin that answers garbage', answerWith((stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(frameMessage(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61])));
  })),
  pluginAttack('a key management plugin that answers small messages without end', answerWith((stream) => answerWithoutEnd(stream, garbage))),
  pluginAttack('a key management plugin that answers large messages without end', answerWith((stream) => answerWithoutEnd(stream, startOf64Mb))),
  pluginAttack('a key management plugin that is stopped', async (plugin) => {
    await plugin.close();
    return async () => void (await startTestPlugin(plugin.path));
  }),
];
