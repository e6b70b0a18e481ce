// `pintle console`: a link that logs a browser in once, at the server of a data directory, or at a port of this machine that leads to any cluster.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Agent, request as requestSecure } from 'node:https';
import { request as requestPlain } from 'node:http';
import { join, resolve } from 'node:path';
import { systemClock, systemRandom } from '../../base/index.ts';
import type { ClusterAccess } from '../../kubeconfig/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { StartError } from '../options/options.ts';
import { type SettingsOf, checks, integer, text, toggle } from '../options/schema.ts';
import { servingOptions } from '../options/serving.ts';
import { type Command, print } from './command.ts';
import { waitForSignal } from './wait-for-signal.ts';

const schema = {
  dataDir: servingOptions.dataDir,
  kubeconfig: text({ flag: 'kubeconfig', help: 'Serve the console for the cluster of this kubeconfig, on a port of this machine, until the command is ended.' }),
  context: text({ flag: 'context', help: 'Context of the kubeconfig; by default its current one.' }),
  port: integer({ flag: 'port', default: 0, check: checks.port, help: 'Port for --kubeconfig; 0 picks a free one.' }),
  open: toggle({ flag: 'open', default: true, help: 'Open the link in a browser where there is one.' }),
} as const;

type ConsoleSettings = SettingsOf<typeof schema>;

const TIMEOUT_MS = 10_000;

/** Prints the link and opens it. */
export const consoleCommand: Command<typeof schema> = {
  name: 'console', summary: 'Open the console in a browser, logged in once by a link.', schema,
  run: ({ settings }) => (settings.kubeconfig === '' ? openOwn(settings) : serveCluster(settings)),
};

async function serveCluster({ kubeconfig, context, port, open }: ConsoleSettings): Promise<number> {
  const [target, { startClusterConsole }] = await Promise.all([readAccess(kubeconfig, context), import('../console/cluster-console.ts')]);
  const stopped = waitForSignal();
  const served = await startClusterConsole({ target, port, clock: systemClock, random: systemRandom, logger: silentLogger });
  print(`The console of ${new URL(target.url).host} (context ${target.name}): this link logs in once, within a minute.`);
  show(served.link, open);
  await stopped;
  await served.close();
  return 0;
}

async function openOwn({ dataDir, open }: ConsoleSettings): Promise<number> {
  const path = join(resolve(dataDir), 'admin.kubeconfig');
  if (!existsSync(path)) throw new StartError(`${path} does not exist; start the server once, or give --data-dir or --kubeconfig`);
  const target = await readAccess(path);
  const code = await askForCode(target);
  print(`This link logs in as ${code.user} once, within ${code.expiresInSeconds} seconds.`);
  show(`${new URL(target.url).origin}/console/#code=${code.code}`, open);
  return 0;
}

interface Code {
  readonly code: string;
  readonly user: string;
  readonly expiresInSeconds: number;
}

/** What leads to the cluster; throws StartError for a kubeconfig that does not. */
async function readAccess(kubeconfig: string, context = ''): Promise<ClusterAccess> {
  const { readKubeconfig } = await import('../../kubeconfig/index.ts');
  try {
    return await readKubeconfig({ kubeconfig: resolve(kubeconfig), context: context || undefined }, systemClock);
  } catch (error) {
    throw new StartError(`--kubeconfig: ${(error as Error).message}`, { cause: error });
  }
}

async function askForCode(access: ClusterAccess): Promise<Code> {
  const { authorities } = access;
  const url = new URL(access.url);
  const { certificate, key, headers: shown } = await access.credentials();
  const agent = url.protocol === 'https:' ? new Agent({
    ...(authorities !== undefined && { ca: authorities }), ...(certificate !== undefined && { cert: certificate }), ...(key !== undefined && { key }),
  }) : undefined;
  const headers = { 'content-length': '0', ...shown };
  const options = { method: 'POST', headers, agent, timeout: TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    const call = (url.protocol === 'https:' ? requestSecure : requestPlain)(new URL('/console/codes', url), options as object, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () => {
        agent?.destroy();
        if (response.statusCode === 201) resolve(JSON.parse(body) as Code);
        else reject(new StartError(`${url.origin} gives no login link (${response.statusCode}): is its console on? See pintle serve --console`));
      });
    });
    call.on('timeout', () => call.destroy(new Error('it takes too long')));
    call.on('error', (error) => reject(new StartError(`${url.origin} does not answer: ${error.message}`, { cause: error })));
    call.end();
  });
}

/** Prints a link, and opens it where there is a screen. */
function show(link: string, open: boolean): void {
  print(link);
  const hasScreen = process.platform === 'darwin' || process.env['DISPLAY'] !== undefined || process.env['WAYLAND_DISPLAY'] !== undefined;
  if (!open || !hasScreen) return;
  const opener = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [link], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
