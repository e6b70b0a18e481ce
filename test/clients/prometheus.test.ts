// The scrape recipe, the dashboard and the alerts of deploy/monitoring on a Prometheus (Debian's package): every query of the dashboard has data,
// every rule is evaluated, and a check that fails raises its alert. Skipped where the program is not there.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { type TestServer, eventually, findPorts, startTestServer } from '../../src/test-support/index.ts';

const program = process.env['PINTLE_PROMETHEUS'] ?? 'prometheus';
const isThere = spawnSync(program, ['--version']).error === undefined;
const monitoring = fileURLToPath(new URL('../../../deploy/monitoring/', import.meta.url));
const LONG_MS = 60_000;

/** Prometheus has no way to report a port that it picks. */
const [port] = await findPorts(1) as [number];

function ask(path: string): Promise<any> {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error as Error);
        }
      });
    }).on('error', reject).end();
  });
}

const query = async (expression: string): Promise<readonly any[]> => {
  const { status, data, error } = await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`);
  assert.equal(status, 'success', `${expression}: ${error}`);
  return data.result;
};

describe('deploy/monitoring', { skip: isThere ? false : 'there is no prometheus on PATH' }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-prometheus-'));
  let server: TestServer;
  let prometheus: ChildProcess;
  before(async () => {
    const token = { token: 'prometheus-token', user: { name: 'system:serviceaccount:monitoring:prometheus', groups: ['system:serviceaccounts'] } };
    server = await startTestServer({ dataDir: join(directory, 'data'), tokens: [token] });
    for (const name of ['rules.yaml', 'prometheus.yaml']) copyFileSync(join(monitoring, name), join(directory, name));
    const { parse } = await import('yaml');
    const documents = readFileSync(join(monitoring, 'monitoring-account.yaml'), 'utf8').split('\n---\n').map((text) => parse(text) as Record<string, any>);
    const paths: Record<string, string> = {
      Namespace: '/api/v1/namespaces', ServiceAccount: '/api/v1/namespaces/monitoring/serviceaccounts',
      ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    };
    for (const body of documents) assert.equal((await server.request({ method: 'POST', path: paths[body['kind']] as string, body })).status, 201);
    writeFileSync(join(directory, 'pintle-token'), 'prometheus-token');
    copyFileSync(join(directory, 'data', 'pki', 'ca.crt'), join(directory, 'ca.crt'));
    const config = readFileSync(join(directory, 'prometheus.yaml'), 'utf8');
    const faster = config.replaceAll('127.0.0.1:6443', `127.0.0.1:${server.port}`).replace('15s', '1s\n  evaluation_interval: 1s');
    writeFileSync(join(directory, 'prometheus.yaml'), faster);
    prometheus = spawn(program, [
      `--config.file=${join(directory, 'prometheus.yaml')}`, `--storage.tsdb.path=${join(directory, 'tsdb')}`, `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ], { stdio: 'inherit' });
  });
  after(async () => {
    const ended = new Promise((resolve) => prometheus.on('exit', resolve));
    prometheus.kill('SIGTERM');
    await ended;
    await server.close();
    rmSync(directory, { recursive: true });
  });

  /** What the dashboard shows comes from use: writes, reads, watches, a refusal. */
  async function use(): Promise<void> {
    const path = '/api/v1/namespaces/default/configmaps';
    await server.request({ method: 'POST', path, body: { metadata: { generateName: 'a-' } } });
    await server.request({ path });
    await server.request({ path, token: 'alice-token' });
    await server.request({ path: `${path}?watch=1&timeoutSeconds=1` });
  }

  it('scrapes with the rights of its account', async () => {
    await eventually(async () => assert.deepEqual((await query('up')).map(({ value }) => value[1]), ['1', '1']), LONG_MS);
  });

  it('has data for every query of the dashboard', async () => {
    const { panels } = JSON.parse(readFileSync(join(monitoring, 'dashboard.json'), 'utf8')) as {
      panels: readonly { title: string; targets: readonly { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expression: expr.replaceAll('$__rate_interval', '1m') })));
    assert.ok(queries.length > 20);
    await eventually(async () => {
      await use();
      for (const { title, expression } of queries) {
        const values = (await query(expression)).map(({ value }) => Number(value[1]));
        assert.ok(values.some((value) => Number.isFinite(value)), `${title}: ${expression}`);
      }
    }, LONG_MS);
  });

  it('evaluates every rule, and raises the alert of an API that is deprecated', async () => {
    await server.request({ path: '/api/v1/endpoints' });
    await eventually(async () => {
      const { data } = await ask('/api/v1/rules');
      const rules = data.groups.flatMap(({ rules: all }: { rules: readonly any[] }) => all) as readonly any[];
      assert.ok(rules.length >= 10);
      assert.deepEqual(rules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name}: ${lastError}`), []);
      assert.deepEqual(rules.filter(({ state }) => state === 'firing').map(({ name }) => name), ['PintleDeprecatedApi']);
    }, LONG_MS);
  });
});
