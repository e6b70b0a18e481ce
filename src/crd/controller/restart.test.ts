// A restart with definitions whose schemas have patterns: a process that has not used a pattern yet serves them at the first attempt.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { requestUntil, startTestServer } from '../../test-support/index.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function define(plural: string): object {
  const schema = { openAPIV3Schema: { type: 'object', properties: { size: { type: 'string', pattern: '^[a-z]+$' } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope: 'Cluster', names: { plural, kind: `K${plural}` }, versions: [{ name: 'v1', served: true, storage: true, schema }] },
  };
}

/** Starts a server in a process of its own and prints what it logs about definitions, then the status of an object that breaks its pattern. */
const restarted = (directory: string): string => `
  import { startTestServer } from ${JSON.stringify(new URL('../../test-support/index.js', import.meta.url).href)};
  const log = (message, fields) => void (message.includes('definition') && console.log(message, JSON.stringify(fields)));
  const logger = { verbosity: 2, warn: log, error: log, info: (_level, message, fields) => log(message, fields) };
  const server = await startTestServer({ dataDir: ${JSON.stringify(directory)}, logger });
  const body = { apiVersion: 'example.com/v1', kind: 'Kkind3', metadata: { name: 'a' }, size: 'UPPER' };
  console.log((await server.request({ method: 'POST', path: '/apis/example.com/v1/kind3', body })).status);
  await server.close();
`;

test('a restart with 48 definitions needs no second attempt for any of them', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-restart-'));
  try {
    const server = await startTestServer({ dataDir: directory });
    await Promise.all(Array.from({ length: 48 }, (_, index) => server.request({ method: 'POST', path, body: define(`kind${index}`) })));
    const isEstablished = ({ type, status }: { readonly type: string; readonly status: string }): boolean => type === 'Established' && status === 'True';
    for (const { metadata } of (await server.request({ path })).body.items) {
      await requestUntil(server, { path: `${path}/${metadata.name}` }, { until: ({ body }) => body.status?.conditions?.some(isEstablished) === true });
    }
    await server.close();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', restarted(directory)]);
    assert.equal(stdout, '422\n');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
