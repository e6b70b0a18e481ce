// The package as its users get it: packed, installed elsewhere, compiled against with the strictest options, started. And what is shipped beside it.
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '../../src/test-support/index.ts';

const tree = fileURLToPath(new URL('../../../', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'pintle-package-'));
after(() => rmSync(root, { recursive: true }));

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

function run(program: string, args: readonly string[], cwd = root): { status: number | null; output: string; stdout: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  return { status, output: `${stdout}${stderr}`, stdout };
}

const { stdout } = run('npm', ['pack', '--json', '--silent', '--pack-destination', root], tree);
const [packed] = JSON.parse(stdout) as [Packed];
const paths = new Set(packed.files.map(({ path }) => path));

const consumer = `
import { type RunningServer, type ServerOptions, createServer, defineAdmission, StartError } from 'pintle';
import {
  type Clock, type Fault, type Logger, type Random, type StaticToken, type TestServer, type TestServerOptions, createManualClock, createSeededRandom,
  createTestServer,
} from 'pintle/testing';
const options: Partial<ServerOptions> = { admission: [] };
const server: RunningServer = await createServer(options);
await server.ready;
const kubeconfig: string = server.kubeconfig;
console.log(kubeconfig.length > 0, StartError.name, typeof defineAdmission, server.port > 0);
await server.close();
const [clock, random]: [Clock, Random] = [createManualClock(), createSeededRandom(1)];
const faults: Fault[] = [{ verb: 'create', status: 409 }];
const chosen: TestServerOptions = { clock, faults };
const tested: TestServer = await createTestServer(chosen);
const names: (string | undefined)[] = (await tested.list('ns')).map((object) => object.metadata?.name);
const [unused]: [((logger: Logger, token: StaticToken) => Random)?] = [() => random];
console.log(names.length, typeof unused);
await tested.close();
`;

/** A request, one that a user may not make, and a watch. */
const clientScript = `
import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { createTestServer } from 'pintle/testing';
const server = await createTestServer({ namespaces: ['shop'], users: ['ann'] });
const core = await server.client(CoreV1Api);
await core.createNamespacedConfigMap({ namespace: 'shop', body: { metadata: { name: 'prices' }, data: { apple: '3' } } });
const { data } = await core.readNamespacedConfigMap({ namespace: 'shop', name: 'prices' });
const guest = await server.client(CoreV1Api, { user: 'ann' });
const reason = await guest.listNamespacedConfigMap({ namespace: 'shop' }).catch((error) => JSON.parse(error.body).reason);
const config = new KubeConfig();
config.loadFromString(server.kubeconfig);
const type = await new Promise((resolve) => {
  void new Watch(config).watch('/api/v1/namespaces/shop/configmaps', { fieldSelector: 'metadata.name=prices' }, resolve, () => undefined);
});
const { version } = JSON.parse(readFileSync('node_modules/@kubernetes/client-node/package.json', 'utf8'));
console.log(version, data.apple, reason, type);
await server.close();
`;

test('the package holds what its documents link to, and no tests', () => {
  for (const path of [...paths].filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(tree, path), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const target = posix.join(posix.dirname(path), link).replace(/\/$/, '');
      assert.ok(paths.has(target) || [...paths].some((name) => name.startsWith(`${target}/`)), `${path} links to ${link}, which is not in the package`);
    }
  }
  const expected = [
    'LICENSE', 'CHANGELOG.md', 'dist/bin/pintle.js', 'dist/bin/program.cjs', 'dist/bin/program.bytecode', 'dist/src/index.d.ts', 'deploy/Dockerfile',
    'docs/upgrading.md',
  ];
  for (const path of expected) assert.ok(paths.has(path), path);
  assert.deepEqual([...paths].filter((path) => /^dist\/.*(\.(test|suite)\.|test-support)|\.pintle/.test(path)), []);
});

describe('installed', () => {
  let missing: string | undefined;
  before(() => {
    writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
    const { status, output } = run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', join(root, packed.filename)]);
    if (status !== 0) missing = `npm cannot install its dependencies here: ${output.slice(-300)}`;
  });

  test('its types pass a consumer that checks libraries and everything that is strict', (t) => {
    if (missing !== undefined) return t.skip(missing);
    writeFileSync(join(root, 'index.ts'), consumer);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noPropertyAccessFromIndexSignature', '--noImplicitOverride'];
    const { status, output } = run(join(tree, 'node_modules/.bin/tsc'), [
      'index.ts', '--skipLibCheck', 'false', ...strict, '--module', 'nodenext', '--target', 'es2023',
    ]);
    assert.equal(status, 0, output);
    const started = run(process.execPath, ['index.js']);
    assert.equal(started.stdout, 'true StartError function true\n4 function\n', started.output);
  });

  for (const version of ['1.4.0', '2.0.1']) {
    test(`a test with @kubernetes/client-node ${version} gets its clients from server.client`, (t) => {
      if (missing !== undefined) return t.skip(missing);
      const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
      if (version.startsWith('2.') && (major < 22 || (major === 22 && minor < 19))) return t.skip('version 2 needs Node.js 22.19');
      const { status, output } = run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', `@kubernetes/client-node@${version}`]);
      if (status !== 0) return t.skip(`npm cannot install it here: ${output.slice(-300)}`);
      writeFileSync(join(root, 'client.mjs'), clientScript);
      assert.equal(run(process.execPath, ['client.mjs']).output, `${version} 3 Forbidden ADDED\n`);
    });
  }

  test('npx pintle version prints its version, and the server starts, answers and stops', async (t) => {
    if (missing !== undefined) return t.skip(missing);
    const { version } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as { version: string };
    assert.match(run('npx', ['pintle', 'version']).stdout, new RegExp(`^pintle ${version.replaceAll('.', '\\.')} \\(Kubernetes v1\\.36\\.\\d+\\)\n$`));
    const bin = join(root, 'node_modules/.bin/pintle');
    assert.ok(statSync(bin).mode & 0o100, 'the command can be run');
    const server = spawn(bin, ['serve', '--data-dir', join(root, 'data'), '--secure-port', '0'], { cwd: root });
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      server.stdout.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        const found = /Serving on (\S+),/.exec(text)?.[1];
        if (found !== undefined) resolve(found);
      });
      server.on('exit', () => reject(new Error(text)));
    });
    // The check of the image, run beside the server as the image does.
    const check = (at: string): number | null => run(process.execPath, [join(root, 'node_modules/pintle/deploy/healthcheck.mjs'), `${at}/readyz`]).status;
    for (let tries = 0; check(url) !== 0; tries += 1) assert.ok(tries < 50);
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    assert.equal(await ended, 0);
    assert.equal(check(url), 1);
  });
});

test('npm sbom lists the dependencies of the package', () => {
  const { stdout: text } = run('npm', ['run', '--silent', 'sbom'], tree);
  const bom = JSON.parse(text) as { bomFormat: string; components: { purl: string }[] };
  const { dependencies } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  assert.equal(bom.bomFormat, 'CycloneDX');
  const names = bom.components.map(({ purl }) => /^pkg:npm\/(.+)@/.exec(decodeURIComponent(purl))?.[1]);
  for (const name of Object.keys(dependencies)) assert.ok(names.includes(name), name);
});

const has = (program: string, ...args: string[]): string | false => (spawnSync(program, args).status === 0 ? false : `${program} is not on PATH`);

test('the unit of systemd is sound', { skip: has('systemd-analyze', '--version') }, () => {
  const { status, output } = run('systemd-analyze', ['verify', join(tree, 'deploy/pintle.service')]);
  assert.equal(status, 0, output);
  assert.doesNotMatch(output, /pintle\.service/);
});

test('the manifests are taken by the server itself, without a warning of Pod Security', { skip: has('kubectl', 'version', '--client') }, async () => {
  const server = await startTestServer();
  try {
    writeFileSync(join(root, 'kubeconfig'), server.kubeconfig);
    // Without blocking this process, which serves.
    const output = await new Promise<string>((resolve, reject) => {
      const args = ['--kubeconfig', join(root, 'kubeconfig'), 'apply', '-k', join(tree, 'deploy/kubernetes')];
      execFile('kubectl', args, (error, out, warnings) => (error === null ? resolve(`${out}${warnings}`) : reject(error)));
    });
    assert.doesNotMatch(output, /[Ww]arning/);
    assert.equal(output.match(/ created$/gm)?.length, 8, output);
  } finally {
    await server.close();
  }
});

test('what Dockerfile and compose file name exists', () => {
  const dockerfile = readFileSync(join(tree, 'deploy/Dockerfile'), 'utf8');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
  const ignored = readFileSync(join(tree, '.dockerignore'), 'utf8').split('\n');
  for (const source of copied) assert.ok(existsSync(join(tree, source)) && ignored.includes(`!${source}`), source);
  assert.match(dockerfile, /^USER 65532:65532$/m);
  assert.ok(readdirSync(dirname(join(tree, 'deploy/compose.yaml'))).includes('Dockerfile'));
});
