// `pintle run` as a user starts it, and plain scripts of the library: exit codes, environment, summary.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const distribution = new URL('../../../', import.meta.url);
const program = fileURLToPath(new URL('bin/pintle.js', distribution));
const library = new URL('src/testing/index.js', distribution).href;

const pintle = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
const script = (text: string) => spawnSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8' });

/** Reads a namespace with the token or certificate of KUBECONFIG, then ends with 3. */
const child = `
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
const text = readFileSync(process.env.KUBECONFIG, 'utf8');
const read = (name) => Buffer.from(new RegExp(name + ': (.*)').exec(text)[1], 'base64');
const options = { ca: read('certificate-authority-data'), cert: read('client-certificate-data'), key: read('client-key-data'), agent: false };
get(process.env.PINTLE_URL + '/api/v1/namespaces/team', options, (response) => response.resume().on('end', () => {
  console.log(response.statusCode);
  process.exitCode = 3;
}));`;

describe('pintle run', () => {
  it('leads a program to a server, passes its exit code on and sums up what a failed one asked', (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'pintle-run-test-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'team.yaml'), 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n');
    const log = join(folder, 'requests.jsonl');
    const command = [process.execPath, '--input-type=module', '-e', child];
    const { status, stdout, stderr } = pintle('run', '--manifests', folder, '--seed', '7', '--request-log', log, '--', ...command);
    assert.deepEqual([status, stdout.trim()], [3, '200'], stderr);
    assert.match(stderr, /ended with 3\nRequests:\n +1 × 200 get namespaces by kubernetes-admin\n/);
    assert.deepEqual(readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line).status), [200]);
    assert.deepEqual(pintle('run', '--', join(folder, 'absent')).status, 127);
    assert.match(pintle('run').stderr, /run needs a command/);
    assert.match(pintle('run', '--manifests', join(folder, 'nothing.yaml'), '--', 'true').stderr, /no such manifest/);
  });
});

describe('plain scripts', () => {
  it('get the same answers from the same seed in each process', () => {
    const text = `import { createTestServer } from ${JSON.stringify(library)}; const server = await createTestServer({ seed: 5, tls: false });
      const ask = async (method, path, body) => console.log((await server.request({ method, path, body })).text);
      await ask('POST', '/api/v1/namespaces', { metadata: { generateName: 'n-' } });
      for (const list of ['namespaces', 'serviceaccounts', 'services', 'configmaps']) await ask('GET', '/api/v1/' + list);
      await server.close();`;
    const [first, second] = [script(text), script(text)];
    assert.equal(first.status, 0, first.stderr);
    assert.ok(first.stdout.length > 1000);
    assert.equal(first.stdout, second.stdout);
  });

  it('end by themselves with 0 when the server is closed, with or without having used it', () => {
    for (const use of ['', 'await server.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });', 'await (await server.fork()).close();',
      'void server.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } }).catch(() => {});', 'await server.reset();']) {
      const { status, stderr } = script(`import { createTestServer } from ${JSON.stringify(library)}; const server = await createTestServer(); ${use} await server.close();`);
      assert.equal(status, 0, `${use}: ${stderr}`);
    }
  });
});
