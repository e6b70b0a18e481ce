// A client program in another language: it gets a kubeconfig as its argument and answers each line on stdin with one line of JSON.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Talks to it. */
export interface Program {
  /** One question, one answer. */
  ask(): Promise<any>;
  /** Asks until the answer passes; rejects after 30 s. */
  until(passes: (answer: any) => boolean): Promise<any>;
}

/** Starts it; it ends with the test. */
export function startProgram(
  context: TestContext, options: { readonly command: string; readonly args: readonly string[]; readonly kubeconfig: string },
): Program {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-client-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, options.kubeconfig, { mode: 0o600 });
  const child = spawn(options.command, [...options.args, file], { stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting: { readonly resolve: (answer: any) => void; readonly reject: (error: Error) => void }[] = [];
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4000);
  });
  createInterface(child.stdout).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line)));
  child.on('close', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`the program ended: ${log}`));
  });
  child.stdin.on('error', () => {});
  context.after(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (): Promise<any> => new Promise((resolve, reject) => {
    if (child.exitCode !== null) return reject(new Error(`the program ended: ${log}`));
    waiting.push({ resolve, reject });
    child.stdin.write('?\n');
  });
  return {
    ask,
    async until(passes) {
      const deadlineMs = performance.now() + 30_000;
      for (;;) {
        const answer = await ask();
        if (passes(answer)) return answer;
        if (performance.now() > deadlineMs) throw new Error(`not in time: ${JSON.stringify(answer)} ${log}`);
        await sleep(50);
      }
    },
  };
}

const informerFolder = join(fileURLToPath(new URL('../../../', import.meta.url)), 'test', 'clients', 'go-informer');

/** Builds client-go's informer; answers why it could not. */
export function buildInformer(output: string): string | undefined {
  const build = (...args: string[]) => spawnSync('go', args, { cwd: informerFolder, encoding: 'utf8', timeout: 400_000 });
  if (build('version').status !== 0) return 'go is not on PATH';
  const download = build('mod', 'download');
  if (download.status !== 0) return `the modules could not be downloaded: ${download.stderr.slice(0, 300)}`;
  const built = build('build', '-buildvcs=false', '-o', output, '.');
  assert.equal(built.status, 0, built.stderr);
  return undefined;
}
