// The recipes of docs/testing.md in other languages: an envtest suite in Go with the programs of `pintle envtest`, suites of pytest, kopf and
// Maven and cargo under `pintle run`. Where Go, Java with Maven, cargo, or Python with its packages (PINTLE_PYTHON names the interpreter) is missing, they
// say that they skip.
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

test('an envtest suite with USE_EXISTING_CLUSTER runs under pintle run', { timeout: 900_000 }, (context) => {
  const go = (command: string, ...args: string[]) => spawnSync(command, args, {
    cwd: join(clients, 'go-envtest'), encoding: 'utf8', timeout: 800_000, env: { ...process.env, USE_EXISTING_CLUSTER: 'true' },
  });
  if (go('go', 'version').status !== 0) return context.skip('go is not on PATH');
  const download = go('go', 'mod', 'download');
  if (download.status !== 0) return context.skip(`the modules could not be downloaded: ${download.stderr.slice(0, 300)}`);
  const { status, stdout, stderr } = go(process.execPath, program, 'run', '--', 'go', 'test', '-count=1', '-v', '-run', 'TestExistingCluster', '.');
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /--- PASS: TestExistingCluster/);
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

test('an operator by kopf runs under pintle run', { timeout: 120_000 }, (context) => {
  const python = process.env['PINTLE_PYTHON'] ?? 'python3';
  if (spawnSync(python, ['-c', 'import kopf, kubernetes, pytest']).status !== 0) return context.skip(`${python} lacks the modules kopf, kubernetes and pytest`);
  const folder = join(clients, 'python', 'kopf');
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    program, 'run', '--crds', join(folder, 'greetings.yaml'), '--', python, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', folder,
  ], { encoding: 'utf8', env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /1 passed/);
});

test('suites of the official Java client and of fabric8 run under pintle run', { timeout: 600_000 }, (context) => {
  const maven = ['-B', '-f', join(clients, 'java', 'pom.xml')];
  const compile = spawnSync('mvn', [...maven, '-q', 'test-compile'], { encoding: 'utf8', timeout: 300_000 });
  if (compile.error !== undefined) return context.skip('mvn is not on PATH');
  const isOffline = /Could not transfer|Could not resolve|Cannot access/i.test(compile.stdout);
  if (isOffline) return context.skip(`Maven cannot fetch the clients: ${compile.stdout.slice(0, 300)}`);
  assert.equal(compile.status, 0, compile.stdout);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'run', '--namespaces', 'team', '--', 'mvn', ...maven, 'test'], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /Tests run: 4, Failures: 0, Errors: 0, Skipped: 0/);
});

test('a suite of the Rust client kube runs under pintle run', { timeout: 1_200_000 }, (context) => {
  const target = process.env['PINTLE_CARGO_TARGET'] ?? '';
  if (target === '') return context.skip('PINTLE_CARGO_TARGET names no folder for what cargo builds, which takes minutes');
  const cargo = ['test', '--locked', '--manifest-path', join(clients, 'rust', 'Cargo.toml'), '--target-dir', target];
  const build = spawnSync('cargo', [...cargo, '--no-run'], { encoding: 'utf8' });
  if (build.error !== undefined) return context.skip('cargo is not on PATH');
  const isOffline = /failed to download|Could not resolve host|failed to fetch/.test(build.stderr);
  if (isOffline) return context.skip(`the crates could not be downloaded: ${build.stderr.slice(-300)}`);
  assert.equal(build.status, 0, build.stderr);
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'run', '--namespaces', 'team', '--', 'cargo', ...cargo], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /1 passed/);
});
