// /metrics: what the parts of the server have counted, with what is measured at the moment of asking: stored objects, seats, the process.
import { readFile, readdir, stat } from 'node:fs/promises';
import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { join } from 'node:path';
import { once } from '../../base/index.ts';
import { HISTORY_LIMIT } from '../../cache/index.ts';
import type { Response } from '../../endpoints/index.ts';
import { subresourcesIn, versionIn } from '../../registry/index.ts';
import type { Audit } from '../audit/audit.ts';
import { renderNoAudit } from '../audit/audit-metrics.ts';
import { kubernetesVersion } from '../cli/version.ts';
import type { Api } from '../compose.ts';
import type { FlowControl, FlowSample } from '../flow-control/flow-control.ts';
import { listGates } from '../options/feature-gates.ts';
import { type AllowedLabels, limitLabels } from './allowed-labels.ts';
import { type MetricSpec, type Sample, finishMetrics, formatLabels, renderCounter, renderGauge } from './metric.ts';
import type { ServerMetrics, ShowInfo } from './metrics.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';
const encoder = new TextEncoder();

interface MetricSources {
  readonly metrics: ServerMetrics;
  readonly flowControl: FlowControl | undefined;
  readonly audit: Audit | undefined;
  /** Of the embedded store; '' without one. */
  readonly storeDirectory: string;
  /** The sizes of the databases elsewhere, none where nothing knows them; each rejects when it cannot be asked. */
  readonly readRemoteSizes: readonly (() => Promise<number>)[];
  /** Names of --disabled-metrics. */
  readonly disabled: ReadonlySet<string>;
  /** Those of --allow-metric-labels. */
  readonly allowed: AllowedLabels;
  /** The settings of --feature-gates. */
  readonly featureGates: readonly string[];
}

const renderGates = (settings: readonly string[]): string[] => renderGauge({
  name: 'kubernetes_feature_enabled', stability: 'BETA', help: 'This metric records the data about the stage and enablement of a k8s feature.',
}, listGates(settings).map(({ name, stage, isOn }): Sample => [formatLabels({ name, stage }), isOn ? 1 : 0]));

/** Upstream validates some kinds in two ways and counts where they differ. There is one way here, and nothing that it could differ from. */
const renderValidation = (): string[] => [
  ['mismatch', 'Number of times declarative validation results differed from handwritten validation results for core types.'],
  ['panic', 'Number of times declarative validation has panicked during validation.'],
].flatMap(([what, help = '']) => renderCounter({ name: `apiserver_validation_declarative_validation_${what}_total`, stability: 'BETA', help }, [['', 0]]));

/** Renders everything that this process has counted. */
export async function renderMetrics(api: Api, sources: MetricSources): Promise<string> {
  const { metrics, flowControl, audit, storeDirectory, readRemoteSizes, disabled, allowed, featureGates } = sources;
  const [objects, size] = await Promise.all([renderObjects(api), renderStorageSize(storeDirectory, readRemoteSizes)]);
  const lines = [
    ...metrics.render(), ...objects, ...size, ...renderFlows(flowControl?.samples() ?? []), ...api.admissionMetrics.render(),
    ...(audit?.metrics.render() ?? renderNoAudit()),
    ...api.aggregator.renderMetrics(), ...await renderProcess(), ...renderGates(featureGates), ...renderValidation(),
  ];
  return finishMetrics(limitLabels(lines, allowed), disabled);
}

/** Metrics as an answer. */
export const answerMetricsText = (text: string): Response => ({ status: 200, headers: { 'content-type': CONTENT_TYPE }, body: encoder.encode(text) });

/** Leaves out what neither this server nor one behind an APIService has. */
export function showServed(api: () => Pick<Api, 'catalog' | 'aggregator'>): ShowInfo {
  return (info) => {
    const { group, version, resource, subresource } = info;
    const { catalog, aggregator } = api();
    const row = catalog.find(group, version, resource);
    if (row !== undefined && (subresource === '' || subresourcesIn(row, version).some(({ name }) => name === subresource))) return info;
    const remote = row === undefined ? aggregator.find(group, version) : undefined;
    if (remote === undefined) return { ...info, group: '', version: '', resource: '', subresource: '' };
    const isListed = remote.discovery?.resources.some((one) => (one as { readonly resource?: unknown }).resource === resource) === true;
    return { ...info, resource: isListed ? resource : '', subresource: '' };
  };
}

/** Counts APIs that are deprecated, once one of their requests is seen. */
export function countDeprecated(api: () => Api, { registry }: ServerMetrics): (info: Parameters<ServerMetrics['watchCounts']>[0]) => void {
  const seen = new Set<string>();
  registry.gauge({
    name: 'apiserver_requested_deprecated_apis', stability: 'STABLE',
    help: 'Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.',
  }, () => [...seen].map((labels): Sample => [labels, 1]));
  const showInfo = showServed(api);
  return (info) => {
    const { group, version, resource, subresource } = showInfo(info);
    const row = api().catalog.find(group, version, resource);
    const warning = row === undefined ? undefined : versionIn(row, version)?.deprecationWarning;
    if (warning === undefined) return;
    const removed = /, unavailable in v(\d{1,3}\.\d{1,3})\+/.exec(warning)?.[1] ?? '';
    seen.add(formatLabels({ group, removed_release: removed, resource, subresource, version }));
  };
}

const OBJECTS_HELP = 'Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.';

async function renderObjects({ catalog, registry }: Api): Promise<string[]> {
  const rows = catalog.resources().filter((row) => row.storedAs === undefined && row.verbs.includes('list'));
  const found = await Promise.all(rows.map(async (row) => {
    const predicate = { everything: true, matches: () => true };
    const { count, revision } = await registry.list({ resource: row, version: row.storageVersion, namespace: '' }, { predicate, resourceVersion: '0' });
    return { group: row.group, resource: row.plural, count, revision };
  }));
  const names = found.map(({ group, resource, count }): Sample => [formatLabels({ resource: group === '' ? resource : `${resource}.${group}` }), count]);
  const byGroup = (pick: (one: (typeof found)[number]) => number): Sample[] => found.map((one) =>
    [formatLabels({ group: one.group, resource: one.resource }), pick(one)]);
  return [
    ...renderGauge({
      name: 'apiserver_storage_objects', stability: 'STABLE', help: `(Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] ${OBJECTS_HELP}`,
    }, names),
    ...renderGauge({
      name: 'apiserver_resource_objects', stability: 'ALPHA', help: OBJECTS_HELP,
    }, byGroup(({ count }) => count)),
    ...renderGauge({
      name: 'watch_cache_capacity', stability: 'ALPHA', help: 'Total capacity of watch cache broken by resource type.',
    }, byGroup(() => HISTORY_LIMIT)),
    ...renderGauge({
      name: 'apiserver_watch_cache_resource_version', stability: 'ALPHA',
      help: 'Current resource version of watch cache broken by resource type. This is truncated to the 15 least significant digits.',
    }, byGroup(({ revision }) => revision % 1e15)),
  ];
}

const storageSize: MetricSpec = {
  name: 'apiserver_storage_size_bytes', stability: 'STABLE', help: 'Size of the storage database file physically allocated in bytes.',
};

async function renderStorageSize(directory: string, readRemoteSizes: MetricSources['readRemoteSizes']): Promise<string[]> {
  if (readRemoteSizes.length > 0) {
    const sizes = await Promise.all(readRemoteSizes.map((read) => read().catch(() => undefined)));
    const samples = sizes.flatMap((bytes, index): Sample[] => (bytes === undefined ? [] : [[formatLabels({ storage_cluster_id: `etcd-${index}` }), bytes]]));
    return samples.length === 0 ? [] : renderGauge(storageSize, samples);
  }
  if (directory === '') return [];
  const names = await readdir(directory);
  const sizes = await Promise.all(names.map((name) => stat(join(directory, name)).then(({ blocks }) => blocks * 512, () => 0)));
  return renderGauge(storageSize, [[formatLabels({ storage_cluster_id: 'embedded' }), sizes.reduce((total, one) => total + one, 0)]]);
}

const flowHelp: Readonly<Record<string, string>> = {
  apiserver_flowcontrol_dispatched_requests_total: '[BETA] Number of requests executed by API Priority and Fairness subsystem',
  apiserver_flowcontrol_rejected_requests_total: '[BETA] Number of requests rejected by API Priority and Fairness subsystem',
  apiserver_flowcontrol_current_executing_requests:
    '[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
  apiserver_flowcontrol_current_executing_seats:
    '[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in '
      + 'the API Priority and Fairness subsystem',
  apiserver_flowcontrol_current_inqueue_requests: '[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem',
  apiserver_flowcontrol_current_inqueue_seats: '[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem',
  apiserver_flowcontrol_lower_limit_seats: '[ALPHA] Configured lower bound on number of execution seats available to each priority level',
  apiserver_flowcontrol_upper_limit_seats: '[ALPHA] Configured upper bound on number of execution seats available to each priority level',
  apiserver_flowcontrol_nominal_limit_seats: '[BETA] Nominal number of execution seats configured for each priority level',
  apiserver_flowcontrol_current_limit_seats: '[ALPHA] current derived number of execution seats available to each priority level',
  pintle_flowcontrol_unread_answers: 'Answers that wait for clients that do not read them; they have given their seats back.',
  pintle_flowcontrol_stuck_seats: 'Seats that were not given back although their requests are past their deadlines.',
};

function renderFlows(flows: readonly FlowSample[]): string[] {
  return Object.entries(flowHelp).flatMap(([name, help]) => {
    const samples = flows.filter((sample) => sample.name === name).map(({ labels, value }): Sample => [formatLabels(labels), value]);
    if (samples.length === 0) return [];
    return name.endsWith('_total') ? renderCounter({ name, help }, samples) : renderGauge({ name, help }, samples);
  });
}

/** The delays of the event loop since the last look; measured from the first look on, so that servers without monitoring pay nothing. */
const delays = once((): IntervalHistogram => monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS }));
const DELAY_RESOLUTION_MS = 20;
/** Of the event loop, which is one in the process, at the last look. */
let lastUtilization = performance.eventLoopUtilization();

function renderEventLoop(): string[] {
  const utilization = performance.eventLoopUtilization();
  const { utilization: busy } = performance.eventLoopUtilization(utilization, lastUtilization);
  lastUtilization = utilization;
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - DELAY_RESOLUTION_MS / 1000);
  const measured = delays().count > 0 ? delays() : undefined;
  const quantiles = measured === undefined ? [] : [50, 90, 99].map((percent): Sample =>
    [`quantile="${percent / 100}"`, seconds(measured.percentile(percent))]);
  const longest = measured === undefined ? 0 : seconds(measured.max);
  delays().enable();
  delays().reset();
  return [
    ...renderGauge({ name: 'pintle_event_loop_delay_seconds', help: 'How late timers came since the last scrape.' }, quantiles),
    ...renderGauge({ name: 'pintle_event_loop_longest_turn_seconds', help: 'The longest turn of the event loop since the last scrape.' }, [['', longest]]),
    ...renderGauge({ name: 'pintle_event_loop_utilization', help: 'Part of the time since the last scrape in which the event loop was busy.' }, [['', busy]]),
  ];
}

async function renderProcess(): Promise<string[]> {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const { emulationMajor: major, emulationMinor: minor, minCompatibilityMajor: minMajor, minCompatibilityMinor: minMinor, ...version } = kubernetesVersion;
  const build = formatLabels({
    build_date: version.buildDate, compiler: version.compiler, git_commit: version.gitCommit, git_tree_state: version.gitTreeState,
    git_version: version.gitVersion, go_version: version.goVersion, major: version.major, minor: version.minor, platform: version.platform,
  });
  const gauge = (name: string, help: string, value: number): string[] => renderGauge({ name, help }, [['', value]]);
  return [
    ...renderGauge({
      name: 'kubernetes_build_info', stability: 'BETA',
      help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from "
        + 'which Kubernetes was built, and platform on which it is running.',
    }, [[build, 1]]),
    ...renderGauge({
      name: 'version_info', stability: 'ALPHA',
      help: 'Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for '
        + 'aggregated-apiservers.',
    }, [[formatLabels({ binary: version.gitVersion.slice(1), component: 'kube', emulation: `${major}.${minor}`, min_compat: `${minMajor}.${minMinor}` }), 1]]),
    ...renderEventLoop(),
    ...renderCounter({ name: 'process_cpu_seconds_total', help: 'Total user and system CPU time spent in seconds.' }, [['', (user + system) / 1e6]]),
    ...gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    ...gauge('process_heap_bytes', 'Heap in use in bytes.', memory.heapUsed),
    ...gauge('nodejs_external_memory_bytes', 'Memory of buffers and of libraries in bytes.', memory.external),
    ...gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', performance.timeOrigin / 1000),
    ...await renderLimits(),
  ];
}

/** File descriptors and addressed memory; absent where the system has no /proc. */
async function renderLimits(): Promise<string[]> {
  try {
    const read = (name: string): Promise<string> => readFile(`/proc/self/${name}`, 'utf8');
    const [open, limits, status] = await Promise.all([readdir('/proc/self/fd'), read('limits'), read('status')]);
    const memory = Number(/^VmSize:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
    const most = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
    return [
      ...renderGauge({ name: 'process_open_fds', help: 'Number of open file descriptors.' }, [['', open.length]]),
      ...(Number.isFinite(most) ? renderGauge({ name: 'process_max_fds', help: 'Maximum number of open file descriptors.' }, [['', most]]) : []),
      ...renderGauge({ name: 'process_virtual_memory_bytes', help: 'Virtual memory size in bytes.' }, [['', memory]]),
    ];
  } catch {
    return [];
  }
}
