// Argo CD's engine against this server: it reads the types of OpenAPI v2, watches every kind, syncs manifests by server-side apply and asks by dry runs
// what would change. PINTLE_GITOPS names the program that `go build` makes in test/clients/go-gitops (minutes of a processor, so that no suite builds it by
// itself).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startTestServer } from '../../src/test-support/index.ts';

const program = process.env['PINTLE_GITOPS'];
const labels = { 'app.kubernetes.io/managed-by': 'gitops' };

const manifests = (replicas: number, port: number): string => [
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', labels }, spec: {
    replicas, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: {
      containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1000m' } } }],
    } },
  } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', labels }, spec: { selector: { app: 'web' }, ports: [{ port, name: 'http' }] } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', labels }, data: { a: 'b' } },
].map((object) => JSON.stringify(object)).join('\n---\n');

test('the engine of Argo CD syncs by server-side apply, finds nothing to change then, and predicts changes',
  { skip: program === undefined && 'PINTLE_GITOPS names no program', timeout: 180_000 }, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'pintle-gitops-'));
    const server = await startTestServer();
    context.after(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const files = { kubeconfig: server.kubeconfig, one: manifests(2, 80), two: manifests(3, 81) };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
    const child = spawn(program!, Object.keys(files).map((name) => join(folder, name)), { stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, log] = await Promise.all([text(child.stdout), text(child.stderr)]);
    assert.notEqual(said, '', log.slice(-3000));
    const { resources, predicted, ...found } = JSON.parse(said) as { readonly resources: number; readonly predicted: string };
    assert.ok(resources > 50, `${resources} resources`);
    assert.deepEqual(found, {
      parsed: ['Deployment', 'Service', 'ConfigMap'], synced: { 'Deployment/web': 'Synced', 'Service/web': 'Synced', 'ConfigMap/web': 'Synced' },
      before: [], after: ['Deployment/web', 'Service/web'], structured: ['Deployment/web', 'Service/web'],
    });
    const { spec } = JSON.parse(predicted) as { readonly spec: { readonly replicas: number; readonly revisionHistoryLimit: number } };
    assert.deepEqual([spec.replicas, spec.revisionHistoryLimit], [3, 10]);
    const { body } = await server.request({ path: '/apis/apps/v1/namespaces/default/deployments/web' });
    assert.equal((body as { readonly spec: { readonly replicas: number } }).spec.replicas, 2);
  });
