// Stopping: every part in its order, under load, in a process that has nothing else to keep it alive.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Clock, type Timer, createManualClock, delay, holdProcess, systemClock } from '../base/index.ts';
import { createLogger, silentLogger } from './observability/logger.ts';
import { startServer } from './server.ts';
import { type RunningParts, stopServer } from './shutdown.ts';

describe('stopServer', () => {
  const stopAll = async (failing: string): Promise<{ order: string[]; error: unknown }> => {
    const order: string[] = [];
    const step = (name: string) => () => {
      order.push(name);
      if (name === failing) throw new Error(`${name} failed`);
    };
    const stoppable = (name: string) => ({ stop: step(name) });
    const parts: RunningParts = {
      markStopping: step('mark'), sendAway() {}, controllers: { stop: async () => step('controllers')() },
      listener: { close: async () => step('listener')(), drain: async () => {}, endWatches: async () => {} },
      identity: stoppable('identity'), format: stoppable('format'),
      authentication: stoppable('authentication'), following: stoppable('flow'), tracing: undefined, audit: stoppable('audit'), workers: stoppable('workers'),
      store: { close: step('store') },
      api: {
        authorization: stoppable('authorization'), definitions: stoppable('definitions'), webhooks: stoppable('webhooks'),
        policies: stoppable('policies'), quotas: stoppable('quotas'), aggregator: stoppable('aggregator'), backends: stoppable('backends'),
        registry: { close: step('registry') },
      },
    };
    const options = {
      clock: createManualClock(), logger: silentLogger, shutdownDelayMs: 0, shutdownGraceMs: 1, shutdownSendRetryAfter: false, shutdownWatchGraceMs: 0,
    };
    const error = await stopServer(options, parts).catch((caught: unknown) => caught);
    return { order, error };
  };
  const all = ['mark', 'controllers', 'listener', 'audit', 'identity', 'authentication', 'flow', 'authorization', 'definitions', 'webhooks', 'policies',
    'quotas', 'aggregator', 'backends', 'workers', 'format', 'registry', 'store'];

  it('stops every part, the store last', async () => {
    assert.deepEqual(await stopAll(''), { order: all, error: undefined });
  });

  it('closes the store even if another part fails, and reports the failure', async () => {
    for (const failing of ['controllers', 'authentication', 'workers', 'registry']) {
      const { order, error } = await stopAll(failing);
      assert.deepEqual(order, all);
      assert.equal((error as Error).message, `${failing} failed`);
    }
  });
});

describe('a start that fails', () => {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pintle-failed-start-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** The system's clock, with the timers that are set. */
  const createCountingClock = (): { clock: Clock; timers: Set<object> } => {
    const timers = new Set<object>();
    const after = (delayMs: number, callback: () => void): Timer => {
      const one = {};
      timers.add(one);
      const timer = systemClock.after(delayMs, () => {
        timers.delete(one);
        callback();
      });
      return {
        cancel() {
          timers.delete(one);
          timer.cancel();
        },
      };
    };
    return { clock: { ...systemClock, after }, timers };
  };

  /** Starts in vain; resolves once no timer is set any more. */
  const failToStart = async (options: Parameters<typeof startServer>[0], message: RegExp): Promise<void> => {
    const { clock, timers } = createCountingClock();
    const lines: string[] = [];
    const logger = createLogger({ verbosity: 0, clock, write: (line) => void lines.push(line) });
    await assert.rejects(startServer({ ...options, clock, logger }), message);
    const release = holdProcess();
    while (timers.size > 0) await delay(systemClock, 1);
    release();
    assert.deepEqual(lines, []);
  };

  it('leaves nothing that works by itself, wherever it fails', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { readonly port: number };
    await failToStart({ securePort: port, dataDir: join(directory, 'port') }, /the port is in use/);
    taken.close();
    await failToStart({ dataDir: join(directory, 'origins'), corsAllowedOrigins: ['('] }, /--cors-allowed-origins/);
    await failToStart({ dataDir: join(directory, 'certificate'), tlsSniCertKeys: ['/none,/none'] }, /--tls-sni-cert-key/);
    await failToStart({ dataDir: join(directory, 'policy'), authorizationConfig: '/none' }, /--authorization-config/);
  });
});

const distribution = new URL('../../', import.meta.url);
const library = new URL('src/index.js', distribution).href;
const program = new URL('bin/pintle.js', distribution);

/** Runs a script of its own as a user writes it: with `await` at its top, and nothing else that keeps it alive. */
function runScript(script: string): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code ?? 'signal', output: `${stdout}${stderr}` });
    });
  });
}

describe('a process with a server', () => {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pintle-stop-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('settles `await server.close()` in a script, whether or not the server was ready or asked anything', async () => {
    const ask = `const { Agent, request } = await import('node:https');
      const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
      const ignore = () => {};
      const go = () => request(server.url + '/version', { agent }, (response) => response.resume().on('end', go).on('error', ignore)).on('error', ignore).end();
      for (let count = 0; count < 20; count += 1) go();
      await new Promise((resolve) => setTimeout(resolve, 50));
      setImmediate(() => agent.destroy());`;
    const dataDir = JSON.stringify(join(directory, 'script'));
    const rows = [['', ''], ['{ dataDir: DIR }', ''], ['', 'await server.ready;'], ['{ dataDir: DIR }', ask], ['{ shutdownDelayMs: 50 }', '']] as const;
    for (const [options, work] of rows) {
      const script = `const { createServer } = await import(${JSON.stringify(library)});
        const server = await createServer(${options.replace('DIR', dataDir)}); ${work} await server.close(); console.log('settled');`;
      assert.deepEqual(await runScript(script), { code: 0, output: 'settled\n' }, `${options} ${work}`);
    }
  });

  /** Writes until the server stops answering; the names of what was acknowledged. */
  function startWriters(url: string): { readonly acknowledged: Set<string>; stop(): void } {
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/json' };
    const acknowledged = new Set<string>();
    let [next, isOver] = [0, false];
    const write = (): void => {
      if (isOver) return;
      const name = `c${next++}`;
      const sent = request(`${url}/api/v1/namespaces/default/configmaps`, { method: 'POST', agent, headers }, (response) => {
        if (response.statusCode === 201) acknowledged.add(name);
        response.resume().on('end', write).on('error', () => {});
      });
      sent.on('error', () => {}).end(JSON.stringify({ metadata: { name } }));
    };
    for (let count = 0; count < 16; count += 1) write();
    return { acknowledged, stop() {
      isOver = true;
      agent.destroy();
    } };
  }

  async function startProgram(dataDir: string): Promise<{ url: string; stop(): Promise<number | null> }> {
    const tokens = join(directory, 'tokens.csv');
    await writeFile(tokens, 'admin-token,admin,admin,"system:masters"\n');
    const flags = ['--data-dir', dataDir, '--secure-port', '0', '--token-auth-file', tokens];
    const child = spawn(process.execPath, [program.pathname, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    let text = '';
    for await (const chunk of child.stdout) {
      text += String(chunk);
      if (text.includes('kubectl')) break;
    }
    const url = /https:\S+?(?=,)/.exec(text)?.[0] ?? '';
    return { url, stop() {
      child.kill('SIGTERM');
      return ended;
    } };
  }

  it('ends with 0 at SIGTERM while clients write, and keeps every write that it acknowledged', async () => {
    const dataDir = join(directory, 'data');
    for (let round = 0; round < 2; round += 1) {
      await rm(dataDir, { recursive: true, force: true });
      const first = await startProgram(dataDir);
      const writers = startWriters(first.url);
      while (writers.acknowledged.size < 50) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(await first.stop(), 0);
      writers.stop();
      const second = await startProgram(dataDir);
      const names = await listNames(second.url);
      assert.deepEqual([...writers.acknowledged].filter((name) => !names.has(name)), []);
      assert.equal(await second.stop(), 0);
    }
  });

  function listNames(url: string): Promise<Set<string>> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: 'Bearer admin-token' };
      request(`${url}/api/v1/namespaces/default/configmaps`, { headers, rejectUnauthorized: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: { metadata: { name: string } }[] };
          resolve(new Set(items.map(({ metadata }) => metadata.name)));
        });
      }).on('error', reject).end();
    });
  }
});
