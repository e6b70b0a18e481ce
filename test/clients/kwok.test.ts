// A fake node of kwok: it becomes ready, pods on it run and end, and what waits for pods comes to its end. PINTLE_KWOK names the program; without it the
// suite says that it skips.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type TestServer, eventually, startTestServer } from '../../src/test-support/index.ts';

const program = process.env['PINTLE_KWOK'];
const WAIT_MS = 60_000;

/** What becomes of nodes and pods, as kwok's configuration says it. */
const stage = (name: string, kind: string, key: string, operator: string, rest: object): string => JSON.stringify({
  apiVersion: 'kwok.x-k8s.io/v1alpha1', kind: 'Stage', metadata: { name },
  spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions: [
    { key, operator, ...(operator === 'NotIn' && { values: ['True'] }) },
    ...(name === 'pod-running' ? [{ key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' }] : []),
  ] }, next: rest },
});
const ready = '{type: Ready, status: "True", reason: Fake, message: fake, lastHeartbeatTime: {{ Now | Quote }}, lastTransitionTime: {{ Now | Quote }}}';
const running = '{name: c, image: i, imageID: "", ready: true, restartCount: 0, state: {running: {startedAt: {{ Now | Quote }}}}}';
const stages = [
  stage('node-ready', 'Node', '.status.conditions.[] | select( .type == "Ready" ) | .status', 'NotIn', { statusTemplate: `conditions: [${ready}]` }),
  stage('pod-running', 'Pod', '.status.podIP', 'DoesNotExist', { statusTemplate: ['phase: Running', 'podIP: 10.9.0.1',
    'conditions: [{type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}]', `containerStatuses: [${running}]`].join('\n') }),
  stage('pod-gone', 'Pod', '.metadata.deletionTimestamp', 'Exists', { delete: true }),
];

interface Status {
  readonly status: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const isReady = ({ status: { conditions = [] } }: Status): boolean => conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

async function read(server: TestServer, path: string): Promise<Status> {
  const { status, body, text } = await server.request({ path });
  assert.equal(status, 200, text);
  return body as Status;
}

test('a node of kwok becomes ready; pods on it run, and are gone once they are deleted', { skip: program === undefined && 'PINTLE_KWOK names no program' },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'pintle-kwok-'));
    const server = await startTestServer();
    writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig, { mode: 0o600 });
    writeFileSync(join(folder, 'stages.yaml'), stages.join('\n---\n'));
    const kwok = spawn(program!, [`--kubeconfig=${join(folder, 'kubeconfig')}`, `--config=${join(folder, 'stages.yaml')}`, '--manage-all-nodes=true'],
      { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    kwok.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
    context.after(async () => {
      kwok.kill('SIGKILL');
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const pods = '/api/v1/namespaces/default/pods';
    await server.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'fake' } } });
    const spec = { nodeName: 'fake', containers: [{ name: 'c', image: 'i' }] };
    await server.request({ method: 'POST', path: pods, body: { metadata: { name: 'p' }, spec } });
    await eventually(async () => assert.ok(isReady(await read(server, '/api/v1/nodes/fake')), said), WAIT_MS);
    await eventually(async () => {
      const pod = await read(server, `${pods}/p`);
      assert.equal(pod.status.phase, 'Running', said);
      assert.ok(isReady(pod));
    }, WAIT_MS);
    assert.equal((await server.request({ method: 'DELETE', path: `${pods}/p` })).status, 200);
    await eventually(async () => assert.equal((await server.request({ path: `${pods}/p` })).status, 404, said), WAIT_MS);
  });
