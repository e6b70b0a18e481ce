// The recipes of docs/testing.md in other languages: an envtest suite in Go with the programs of `pintle envtest`, a pytest suite under `pintle run`.
// Where Go, or Python with its packages (PINTLE_PYTHON names the interpreter), is missing, they say that they skip.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const program = join(root, 'dist', 'bin', 'pintle.js');
const clients = join(root, 'test', 'clients');

test('envtest suites of controller-runtime, one with webhooks, run unmodified with the programs of pintle envtest', { timeout: 900_000 }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-envtest-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const assets = spawnSync(process.execPath, [program, 'envtest', '--dir', folder], { encoding: 'utf8' });
  assert.equal(assets.stdout.trim(), folder);
  const go = (...args: string[]) => spawnSync('go', args, {
    cwd: join(clients, 'go-envtest'), encoding: 'utf8', timeout: 800_000, env: { ...process.env, KUBEBUILDER_ASSETS: folder },
  });
  if (go('version').status !== 0) return context.skip('go is not on PATH');
  const download = go('mod', 'download');
  if (download.status !== 0) return context.skip(`the modules could not be downloaded: ${download.stderr.slice(0, 300)}`);
  const { status, stdout, stderr } = go('test', '-count=1', '-v', './...');
  assert.equal(status, 0, stdout + stderr);
  for (const name of ['TestControlPlane', 'TestWebhooks']) assert.match(stdout, new RegExp(`--- PASS: ${name}`));
});

test('a pytest suite runs under pintle run', { timeout: 120_000 }, (context) => {
  const python = process.env['PINTLE_PYTHON'] ?? 'python3';
  if (spawnSync(python, ['-c', 'import kubernetes, pytest']).status !== 0) return context.skip(`${python} lacks the modules kubernetes and pytest`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    program, 'run', '--namespaces', 'team', '--', python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', join(clients, 'python', 'recipe'),
  ], { encoding: 'utf8', env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /2 passed/);
});
