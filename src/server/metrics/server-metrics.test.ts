// /metrics of a whole server: the STABLE and BETA names of kube-apiserver, the labels that dashboards ask for, and that what happened is counted.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createMetrics } from './metrics.ts';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';

/** Names that appear with their first sample. */
const absent: ReadonlyMap<string, string> = new Map([['apiserver_storage_size_bytes', 'a server in memory has no file']]);

/** As kube-apiserver 1.36.3 answers them: `-` for a metric without labels, several sets where series differ. */
const list = new URL('../../../../test/data/kube-apiserver-metrics.txt', import.meta.url);
const reference = readFileSync(list, 'utf8').trim().split('\n').map((line) => {
  const [name = '', type = '', labels = '', help = ''] = line.split('\t');
  return { name, type, help, labelSets: labels.split(' ').map((set) => (set === '-' ? '' : set)) };
});

/** The sets of label names of each metric, without those of buckets. */
function readLabelSets(text: string): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>();
  let current = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('# TYPE ')) current = line.split(' ')[2] as string;
    if (line === '' || line.startsWith('#')) continue;
    const names = [...line.matchAll(/([a-z_]+)="(?:[^"\\]|\\.)*"/g)].map(([, name]) => name).filter((name) => name !== 'le').sort().join(',');
    sets.set(current, (sets.get(current) ?? new Set()).add(names));
  }
  return sets;
}

describe('/metrics', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ disabledMetrics: ['process_heap_bytes'], featureGates: ['ShardedListAndWatch=true'] });
    const maps = '/api/v1/namespaces/default/configmaps';
    await server.request({ method: 'POST', path: maps, body: { metadata: { name: 'a' } } });
    await server.request({ path: `${maps}/a` });
    await server.request({ path: '/api/v1/endpoints' });
    await server.request({ path: maps, token: 'alice-token' });
    await server.request({ path: maps, token: 'wrong' });
    await server.request({ path: '/version', token: 'alice-token' });
    const watch = `${maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`;
    await server.request({ path: watch });
  });
  after(() => server.close());
  const scrape = async (): Promise<string> => (await server.request({ path: '/metrics' })).text;

  it('has metrics of kube-apiserver, all STABLE and BETA ones among them, with their help, type and labels', async () => {
    const text = `${await scrape()}${(await server.request({ path: '/metrics/slis' })).text}`;
    const lines = new Set(text.split('\n'));
    const wanted = reference.filter(({ name }) => !absent.has(name)).flatMap(({ name, help, type }) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]);
    assert.deepEqual(wanted.filter((line) => !lines.has(line)), []);
    const found = readLabelSets(text);
    for (const { name, labelSets } of reference) {
      for (const set of found.get(name) ?? []) assert.ok(labelSets.includes(set), `${name} has the labels ${set} instead of ${labelSets.join(' or ')}`);
    }
    for (const name of absent.keys()) assert.ok(!text.includes(`# HELP ${name} `), `${name} is there`);
  });

  it('says which feature gates are on, and in which stage they are', async () => {
    const text = await scrape();
    for (const line of [
      'kubernetes_feature_enabled{name="APIServerIdentity",stage="BETA"} 1', 'kubernetes_feature_enabled{name="ShardedListAndWatch",stage="ALPHA"} 1',
      'kubernetes_feature_enabled{name="ConsistentListFromCache",stage=""} 1', 'kubernetes_feature_enabled{name="KMSv1",stage="DEPRECATED"} 0',
    ]) assert.ok(text.includes(`${line}\n`), line);
  });

  it('counts what happened, under the labels of kube-apiserver', async () => {
    const text = await scrape();
    for (const line of [
      'apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1',
      'apiserver_response_sizes_count{component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 1',
      'apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} 0',
      'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1',
      'apiserver_watch_list_duration_seconds_count{group="",resource="configmaps",scope="namespace",version="v1"} 1',
      'etcd_requests_total{group="",operation="create",resource="configmaps"}', 'authentication_attempts{result="error"} 1',
      'authorization_attempts_total{result="no-opinion"} 1',
      'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"} 1',
      'authenticated_user_requests{username="admin"}', 'workqueue_adds_total{name="namespace"}',
      'apiserver_storage_events_received_total{group="",resource="configmaps"}', 'apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 3',
      'apiserver_resource_objects{group="",resource="configmaps"}', 'pintle_event_loop_utilization',
      'apiserver_watch_cache_initializations_total{group="",resource="configmaps"} 1',
      'apiserver_watch_cache_events_received_total{group="",resource="configmaps"}', 'apiserver_init_events_total{group="",resource="configmaps"} 0',
      'apiserver_cache_list_total{group="",index="",resource="endpoints"}', 'apiserver_storage_list_total{group="",resource="configmaps"} 1',
      'apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="endpoints",success="true"}',
      'apiserver_watch_cache_read_wait_seconds_count{group="",resource="endpoints"}', 'serviceaccount_valid_tokens_total 0',
      'apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="create"} 1', 'apiserver_tls_handshake_errors_total 0',
      'version_info{binary="1.36.3",component="kube",emulation="1.36",min_compat="1.35"} 1',
    ]) assert.ok(text.includes(line), line);
  });

  it('counts how long requests waited and took, once the flows are known', async () => {
    const flow = 'flow_schema="[a-z-]+",priority_level="[a-z-]+"';
    const lines = [
      `apiserver_flowcontrol_request_wait_duration_seconds_count\\{execute="true",${flow}\\} \\d`, `apiserver_flowcontrol_work_estimated_seats_sum\\{${flow}\\} \\d`,
      `apiserver_flowcontrol_request_execution_seconds_count\\{${flow},type="regular"\\} \\d`,
      'apiserver_flowcontrol_lower_limit_seats\\{priority_level="workload-low"\\} 24', `apiserver_flowcontrol_current_inqueue_seats\\{${flow}\\} 0`,
    ].map((line) => new RegExp(line));
    await eventually(async () => {
      await server.request({ path: '/api/v1/namespaces/default/configmaps', token: 'alice-token' });
      const text = await scrape();
      for (const line of lines) assert.match(text, line);
    });
  });

  it('measures how long the certificates of clients are still good', async () => {
    const metrics = createMetrics();
    metrics.recordCertificate({ expiresMs: 4_000_000 }, { now: () => 1_000_000 });
    const text = metrics.render().join('\n');
    for (const line of ['bucket{le="1800"} 0', 'bucket{le="3600"} 1', 'bucket{le="2.592e+06"} 1', 'sum 3000', 'count 1']) {
      assert.ok(text.includes(`apiserver_client_certificate_expiration_seconds_${line}`), line);
    }
  });

  it('every line is a comment, or a name with labels and a number', async () => {
    for (const line of (await scrape()).trimEnd().split('\n')) {
      assert.match(line, /^(?:# (?:HELP|TYPE) .+|[a-z_][a-zA-Z0-9_]*(?:\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*\})? (?:-?[0-9.e+-]+|\+Inf|NaN))$/);
    }
  });

  it('shows no name of a path that is served nowhere', async () => {
    const paths = [
      '/api/v1/chosen-resources', '/apis/chosen.example.com/v1/things', '/apis/chosen.example.com/v1/things?watch=1', '/apis/apps/chosen1/deployments',
      '/api/v1/namespaces/default/configmaps/a/chosen-part', '/api/v1/namespaces/default/endpoints/a/chosen-part', '/chosen-root',
    ];
    for (const path of paths) for (const token of [undefined, 'alice-token']) await server.request({ path, ...(token !== undefined && { token }) });
    const text = await scrape();
    assert.ok(!text.includes('chosen'), text.split('\n').find((line) => line.includes('chosen')));
    const unknown = 'component="apiserver",dry_run="",group="",resource="",scope="cluster",subresource="",verb="LIST",version=""';
    assert.match(text, new RegExp(`^apiserver_request_total\\{code="403",${unknown}\\} 3$`, 'm'));
  });

  it('--disabled-metrics leaves metrics out, and counts them', async () => {
    const text = await scrape();
    assert.ok(!text.includes('process_heap_bytes'));
    assert.match(text, /^disabled_metrics_total 1$/m);
  });

  it('measures the longest turn between two scrapes', async () => {
    await scrape();
    const { text } = await requestUntil(server, { path: '/metrics' }, { until: (answer) => /^pintle_event_loop_delay_seconds\{/m.test(answer.text) });
    assert.match(text, /^pintle_event_loop_longest_turn_seconds [0-9.e-]+$/m);
  });
});
