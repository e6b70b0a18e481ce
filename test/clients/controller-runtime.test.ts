// Controller-runtime's own suites, unmodified, with the programs of `pintle envtest`. They take minutes, so PINTLE_CONTROLLER_RUNTIME names the packages
// (`client,cache,builder`); without it, and without Go, the suite says that it skips.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/pintle.js', import.meta.url));
const packages = (process.env['PINTLE_CONTROLLER_RUNTIME'] ?? '').split(',').filter((name) => name !== '');
const MODULE = 'sigs.k8s.io/controller-runtime@v0.24.1';

const skip = packages.length === 0 && 'PINTLE_CONTROLLER_RUNTIME names no packages';

test('the suites of controller-runtime pass as with the real programs', { timeout: 3_600_000, skip }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-controller-runtime-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const go = (args: readonly string[], cwd: string, assets = '') => spawnSync('go', args, {
    cwd, encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...process.env, KUBEBUILDER_ASSETS: assets },
  });
  const download = go(['mod', 'download', '-json', MODULE], folder);
  if (download.error !== undefined) return context.skip('go is not on PATH');
  const { Dir: source = '' } = JSON.parse(download.stdout || '{}') as { readonly Dir?: string };
  if (source === '') return context.skip(`the module could not be downloaded: ${download.stdout.slice(0, 300)}`);
  const copy = join(folder, 'module');
  cpSync(source, copy, { recursive: true });
  const assets = join(folder, 'assets');
  assert.equal(spawnSync(process.execPath, [program, 'envtest', '--bare', '--dir', assets]).status, 0);
  for (const name of packages) {
    const { status, stdout, stderr } = go(['test', '-count=1', `./pkg/${name}`], copy, assets);
    assert.equal(status, 0, `${name}: ${stdout.slice(-4000)}${stderr.slice(-2000)}`);
  }
});
