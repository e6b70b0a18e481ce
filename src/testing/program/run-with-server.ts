// A program with a test server beside it: its environment leads to the server, and when it fails, what it asked is summed up.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '../../client/index.ts';
import { type RunSettings, StartError } from '../../server/index.ts';
import { ManifestError } from '../manifests/documents.ts';
import { type RequestRecord, showRecord } from '../record/requests.ts';
import { type TestServer, createTestServer } from '../test-server.ts';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** As shells answer for a command that is not there. */
const NOT_FOUND = 127;
const LAST_REQUESTS = 10;

/** Runs a command with a server; answers its exit code, 128 and the signal's number where a signal ended it. */
export async function runWithServer(settings: RunSettings, words: readonly string[]): Promise<number> {
  await using server = await startServer(settings);
  const folder = mkdtempSync(join(tmpdir(), 'pintle-run-'));
  try {
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 });
    const code = await runCommand(words, {
      ...process.env, KUBECONFIG: kubeconfig, PINTLE_URL: server.url, ...(settings.existingCluster && { USE_EXISTING_CLUSTER: 'true' }),
    });
    if (code !== 0) process.stderr.write(`pintle: ${words[0]} ended with ${code}\n${summarize(server.requests)}`);
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws StartError for manifests that cannot be read or applied. */
async function startServer({ crds, manifests, namespaces, seed, requestLog }: RunSettings): Promise<TestServer> {
  try {
    return await createTestServer({ crds, manifests, namespaces, requestLog, ...(seed !== '' && { seed }) });
  } catch (error) {
    if (error instanceof ManifestError || error instanceof ApiError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

function runCommand([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: 'inherit' });
    const forwards = forwarded.map((signal) => ({ signal, forward: () => void child.kill(signal) }));
    for (const { signal, forward } of forwards) process.on(signal, forward);
    const end = (code: number): void => {
      for (const { signal, forward } of forwards) process.off(signal, forward);
      resolve(code);
    };
    child.on('error', (error) => {
      process.stderr.write(`pintle: cannot run ${command}: ${error.message}\n`);
      end(NOT_FOUND);
    });
    child.on('close', (code, signal) => end(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

/** The requests by user, verb, resource and answer, and the last requests. */
export function summarize(requests: readonly RequestRecord[]): string {
  const counts = new Map<string, number>();
  for (const { user, verb, resource, status } of requests) {
    const line = `${status === 0 ? 'no answer' : status} ${verb} ${resource === '' ? '(no resource)' : resource} by ${user}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([line, count]) => `${String(count).padStart(6)} × ${line}`);
  if (lines.length === 0) return 'It asked the server for nothing.\n';
  return ['Requests:', ...lines, 'The last ones:', ...requests.slice(-LAST_REQUESTS).map((record) => `  ${showRecord(record)}`), ''].join('\n');
}
