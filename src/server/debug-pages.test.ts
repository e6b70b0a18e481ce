// The pages for operators: /statusz, /flagz, profiles of V8, the verbosity of the log, the state of flow control.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../base/index.ts';
import { noPostgres, startPostgres } from '../storage/postgres/server.suite.ts';
import { type TestServer, startTestServer } from '../test-support/index.ts';
import { createLogger } from './observability/logger.ts';

describe('pages for operators', () => {
  const lines: string[] = [];
  let server: TestServer;
  before(async () => {
    const logger = createLogger({ verbosity: 0, clock: systemClock, write: (line) => void lines.push(line) });
    server = await startTestServer({ logger, eventTtlMs: 7_200_000, historyMs: 1500, compactionIntervalMs: 500 });
  });
  after(() => server.close());
  const get = (path: string, headers: Record<string, string> = {}) => server.request({ path, headers });

  it('/statusz is text, or an object for those that name its version', async () => {
    const text = await get('/statusz');
    assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8');
    assert.match(text.text, /\nStarted: \w{3} \w{3} [ \d]\d [\d:]{8} UTC \d{4}\n/);
    assert.match(text.text, /^\napiserver statusz\nWarning: .*\n\nStarted: .*\nUp: 0 hr 00 min \d\d sec\n[\s\S]*\nEmulation version: 1\.36\nPaths: \/flagz /);
    const { headers, body } = await get('/statusz', { accept: 'application/json;v=v1beta1;g=config.k8s.io;as=Statusz' });
    assert.equal(headers['content-type'], 'application/json;g=config.k8s.io;v=v1beta1;as=Statusz');
    assert.deepEqual([body.kind, body.apiVersion, body.metadata.name, body.emulationVersion], ['Statusz', 'config.k8s.io/v1beta1', 'apiserver', '1.36']);
    assert.match(String((await get('/statusz', { accept: 'application/json;v=v1alpha1;g=config.k8s.io;as=Statusz' })).headers['warning']), /deprecated/);
    assert.equal((await get('/statusz', { accept: 'application/json' })).status, 406);
  });

  it('/flagz lists the flags with their values, as Go spells them', async () => {
    const { text } = await get('/flagz');
    for (const line of [
      'anonymous-auth: true', 'event-ttl: 2h0m0s', 'authorization-mode: [RBAC]', 'request-timeout: 1m0s', 'history: 1.5s', 'compaction-interval: 500ms',
    ]) {
      assert.ok(text.includes(`\n${line}\n`), line);
    }
    const yaml = await get('/flagz', { accept: 'application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz' });
    assert.match(yaml.text, /kind: Flagz/);
    assert.equal((await server.request({ path: '/flagz', token: 'alice-token' })).status, 403);
  });

  it('/debug/pprof takes profiles of the CPU and of the heap', async () => {
    const cpu = await get('/debug/pprof/profile?seconds=0.2');
    assert.deepEqual([cpu.status, Array.isArray(cpu.body.nodes), Array.isArray(cpu.body.samples)], [200, true, true]);
    const heap = await get('/debug/pprof/heap?seconds=0.1');
    assert.deepEqual([heap.status, typeof heap.body.head], [200, 'object']);
    assert.match((await get('/debug/pprof/')).text, /<title>\/debug\/pprof\/<\/title>/);
    assert.deepEqual([(await get('/debug/pprof')).status, (await get('/debug/pprof/nope')).text], [302, 'Unknown profile\n']);
    const [one, other] = await Promise.all([get('/debug/pprof/profile?seconds=0.2'), get('/debug/pprof/heap?seconds=0.2')]);
    assert.deepEqual([one.status, other.status].sort(), [200, 429]);
  });

  it('/debug/flags/v changes the verbosity', async () => {
    const put = (body: string) => server.request({ method: 'PUT', path: '/debug/flags/v', body });
    assert.equal((await put('3')).text, 'successfully set klog.logging.verbosity to 3\n');
    await get('/version');
    assert.ok(lines.some((line) => line.includes('"URI":"/version"')));
    assert.deepEqual([(await put('x')).status, (await get('/debug/flags/v')).status], [400, 406]);
    await put('0');
  });

  it('/debug/api_priority_and_fairness shows levels, queues and requests as tables', async () => {
    const root = '/debug/api_priority_and_fairness';
    const levels = (await get(`${root}/dump_priority_levels`)).text;
    assert.match(levels, /^PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, /);
    assert.match(levels, /\nworkload-high, {5}0, {12}true, {3}false, {7}0, /);
    assert.match((await get(`${root}/dump_queues`)).text, /\nworkload-low, {6}127, {4}0, /);
    const requests = (await server.request({ path: `${root}/dump_requests?includeRequestDetails=1` })).text;
    assert.match(requests, /^PriorityLevelName, FlowSchemaName, QueueIndex, .* UserName, .*Namespace, Name, {3}APIVersion, Resource, SubResource\n/);
    // The request that asks runs in an exempt level, without a seat.
    assert.match(requests, /\nexempt, +exempt, +-1, +-1, +, +2[^,]*Z, 1, +0, +0s, +2[^,]*Z, [^,]+, +get, +\/debug\/api_priority_and_fairness\/dump_requests, /);
    assert.match(levels, /\nexempt, +0, +false, +false, +0, +1, +[1-9]/);
    assert.equal((await get(`${root}/nope`)).status, 404);
  });

  it('--profiling=false serves none of them', async () => {
    const plain = await startTestServer({ profiling: false });
    for (const path of ['/debug/pprof/', '/debug/flags/v', '/debug/api_priority_and_fairness/dump_queues']) {
      assert.equal((await plain.request({ path })).status, 404, path);
    }
    await plain.close();
  });
});

describe('a server on PostgreSQL', { skip: noPostgres }, () => {
  it('shows no password at /flagz, and has metrics though its data directory has no store', async () => {
    const postgres = await startPostgres();
    const directory = mkdtempSync(join(tmpdir(), 'pintle-pages-'));
    const datastoreEndpoint = postgres.url('pintle').replace('pintle@', 'pintle:secret@');
    const server = await startTestServer({ dataDir: directory, datastoreEndpoint });
    try {
      const { text } = await server.request({ path: '/flagz' });
      assert.match(text, /^datastore-endpoint: postgres:\/\/pintle:\*\*\*@127\.0\.0\.1:\d+\/postgres$/m);
      assert.equal((await server.request({ path: '/metrics' })).status, 200);
    } finally {
      await server.close();
      await postgres.stop();
      rmSync(directory, { recursive: true });
    }
  });
});
