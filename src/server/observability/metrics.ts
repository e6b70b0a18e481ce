// Metrics in the Prometheus text format, under the names and labels that upstream dashboards ask for. Written by hand: a client library
// costs more at start than the rest of this room.
import type { RequestInfo } from '../../endpoints/index.ts';
import type { FlowSample } from '../flow-control/flow-control.ts';

/** A request that is finished. */
interface RequestRecord {
  readonly info: RequestInfo;
  readonly dryRun: boolean;
  readonly status: number;
  readonly durationMs: number;
}

/** The numbers of one server. */
export interface ServerMetrics {
  readonly inFlight: { readOnly: number; mutating: number };
  longRunning: number;
  recordRequest(record: RequestRecord): void;
  /** Counts events sent to watchers. */
  recordWatchEvents(resource: { readonly group: string; readonly version: string; readonly resource: string }, count: number): void;
  /** All metrics as text; `objects` are the stored ones by resource. */
  render(facts: ProcessFacts): string;
}

/** Figures that are measured when they are read. */
export interface ProcessFacts {
  readonly objects: readonly { readonly group: string; readonly resource: string; readonly count: number }[];
  /** What flow control counts. */
  readonly flows: readonly FlowSample[];
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly startSeconds: number;
  readonly build: Readonly<Record<string, string>>;
}

/** Bounds of the durations of requests. */
const bucketsSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
/** Label sets that differ by what a client may choose freely are bounded: beyond this many they are counted together. */
const MAX_SERIES = 5000;

interface Series {
  readonly labels: string;
  readonly codes: Map<number, number>;
  readonly buckets: number[];
  sumSeconds: number;
  count: number;
}

/** Starts at zero. */
export function createMetrics(): ServerMetrics {
  const requests = new Map<string, Series>();
  const watchEvents = new Map<string, number>();
  const recall = createSeriesMemo();
  const metrics: ServerMetrics = {
    inFlight: { readOnly: 0, mutating: 0 },
    longRunning: 0,
    recordRequest(record) {
      const series = recall(record, () => findSeries(requests, labelRequest(record)));
      const seconds = record.durationMs / 1000;
      series.codes.set(record.status, (series.codes.get(record.status) ?? 0) + 1);
      let index = 0;
      while (index < bucketsSeconds.length && seconds > (bucketsSeconds[index] as number)) index += 1;
      series.buckets[index] = (series.buckets[index] as number) + 1;
      series.sumSeconds += seconds;
      series.count += 1;
    },
    recordWatchEvents({ group, version, resource }, count) {
      const labels = formatLabels({ group, resource, version });
      if (watchEvents.size < MAX_SERIES || watchEvents.has(labels)) watchEvents.set(labels, (watchEvents.get(labels) ?? 0) + count);
    },
    render: (facts) => [
      ...renderRequests(requests),
      ...renderGauge('apiserver_current_inflight_requests', 'Requests in flight by kind.', [
        [formatLabels({ request_kind: 'mutating' }), metrics.inFlight.mutating], [formatLabels({ request_kind: 'readOnly' }), metrics.inFlight.readOnly]]),
      ...renderGauge('apiserver_longrunning_requests', 'Watches and other long requests that are open.', [['', metrics.longRunning]]),
      ...renderCounter('apiserver_watch_events_total', 'Events sent to watchers.', [...watchEvents]),
      ...renderFacts(facts),
    ].join('\n').concat('\n'),
  };
  return metrics;
}

const scopeOf = ({ isResource, name, namespace }: RequestInfo): string =>
  (!isResource ? '' : name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster');

/** Remembers the series of requests that differ in nothing that is a label: making the labels costs more than counting. */
function createSeriesMemo(): (record: RequestRecord, find: () => Series) => Series {
  const known = new Map<string, Series>();
  return ({ info, dryRun }, find) => {
    if (!info.isResource) return find();
    const key = `${info.verb}/${dryRun}/${scopeOf(info)}/${info.version}/${info.resource}/${info.subresource}/${info.group}`;
    let series = known.get(key);
    if (series === undefined) {
      series = find();
      if (known.size < MAX_SERIES) known.set(key, series);
    }
    return series;
  };
}

const knownVerbs: Readonly<Record<string, string>> = {
  get: 'GET', list: 'LIST', watch: 'WATCH', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE', deletecollection: 'DELETECOLLECTION',
  post: 'POST', put: 'PUT', head: 'GET', connect: 'CONNECT', options: 'OPTIONS',
};

function labelRequest({ info, dryRun }: RequestRecord): string {
  return formatLabels({
    component: 'apiserver', dry_run: dryRun ? 'All' : '', group: info.group, resource: info.resource, scope: scopeOf(info),
    subresource: info.isResource ? info.subresource : nameRoot(info.path), verb: knownVerbs[info.verb] ?? 'other', version: info.version,
  });
}

/** Paths that are not resources are counted by their first segment, if it is one of ours. */
function nameRoot(path: string): string {
  const root = /^\/([a-z]+)(?:\/|$)/.exec(path)?.[1] ?? '';
  return ['api', 'apis', 'healthz', 'livez', 'readyz', 'metrics', 'openapi', 'version'].includes(root) ? root : '';
}

function findSeries(requests: Map<string, Series>, labels: string): Series {
  const known = requests.get(labels);
  if (known !== undefined) return known;
  if (requests.size >= MAX_SERIES && labels !== overflowLabels) return findSeries(requests, overflowLabels);
  const series: Series = { labels, codes: new Map(), buckets: [...bucketsSeconds, Infinity].map(() => 0), sumSeconds: 0, count: 0 };
  requests.set(labels, series);
  return series;
}

/** Labels as a metric line has them. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',');
}

function escapeLabel(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value;
}

const overflowLabels = formatLabels({ component: 'apiserver', dry_run: '', group: '', resource: '', scope: '', subresource: '', verb: 'other', version: '' });

const describe = (name: string, help: string, type: string): string[] => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];

function renderRequests(requests: ReadonlyMap<string, Series>): string[] {
  const lines = describe('apiserver_request_total', 'Requests by verb, resource and response code.', 'counter');
  for (const { labels, codes } of requests.values()) {
    for (const [code, count] of codes) lines.push(`apiserver_request_total{code="${code}",${labels}} ${count}`);
  }
  const all = [...requests.values()];
  return [
    ...lines, ...renderDurations('apiserver_request_duration_seconds', 'Time from the headers of a request to the end of its response.', all, 0),
    ...renderDurations('apiserver_request_sli_duration_seconds', 'The same of requests that end by themselves.', all.filter(endsByItself), LEAST_SLI_SECONDS),
  ];
}

/** Objectives are not measured more finely than this. */
const LEAST_SLI_SECONDS = 0.05;
const endsByItself = ({ labels }: Series): boolean => !labels.includes('verb="WATCH"') && !labels.includes('verb="CONNECT"');

function renderDurations(name: string, help: string, all: readonly Series[], least: number): string[] {
  const lines = describe(name, help, 'histogram');
  for (const { labels, buckets, sumSeconds, count } of all) {
    let total = 0;
    for (const [index, bound] of bucketsSeconds.entries()) {
      total += buckets[index] as number;
      if (bound >= least) lines.push(`${name}_bucket{${labels},le="${bound}"} ${total}`);
    }
    lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`, `${name}_sum{${labels}} ${sumSeconds}`, `${name}_count{${labels}} ${count}`);
  }
  return lines;
}

/** The outcomes of health checks as metrics: what they are at this moment, and how often they were asked for here. */
export function createCheckMetrics(): (outcomes: readonly { readonly name: string; readonly type: string; readonly passed: boolean }[]) => string {
  const counts = new Map<string, number>();
  return (outcomes) => {
    const now = outcomes.map(({ name, type, passed }): Sample => [formatLabels({ name, type }), passed ? 1 : 0]);
    for (const { name, type, passed } of outcomes) {
      const labels = formatLabels({ name, status: passed ? 'success' : 'error', type });
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    }
    return [
      ...renderGauge('kubernetes_healthcheck', 'Whether a health check passes.', now),
      ...renderCounter('kubernetes_healthchecks_total', 'Outcomes of health checks.', [...counts]),
    ].join('\n').concat('\n');
  };
}

type Sample = readonly [labels: string, value: number];
const renderSamples = (name: string, samples: readonly Sample[]): string[] =>
  samples.map(([labels, value]) => (labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`));
/** A gauge as lines. */
export const renderGauge = (name: string, help: string, samples: readonly Sample[]): string[] =>
  [...describe(name, help, 'gauge'), ...renderSamples(name, samples)];
/** The lines of a counter. */
export const renderCounter = (name: string, help: string, samples: readonly Sample[]): string[] =>
  [...describe(name, help, 'counter'), ...renderSamples(name, samples)];

function renderFacts(facts: ProcessFacts): string[] {
  const objects = facts.objects.map(({ group, resource, count }): Sample =>
    [formatLabels({ resource: group === '' ? resource : `${resource}.${group}` }), count]);
  const counts = facts.objects.map(({ group, resource, count }): Sample => [formatLabels({ group, resource }), count]);
  return [
    ...renderGauge('apiserver_storage_objects', 'Stored objects by resource.', objects),
    ...renderGauge('apiserver_resource_objects', 'Stored objects by group and resource.', counts),
    ...renderFlows(facts.flows),
    ...renderGauge('kubernetes_build_info', 'What this server is.', [[formatLabels(facts.build), 1]]),
    ...renderCounter('process_cpu_seconds_total', 'User and system CPU time.', [['', facts.cpuSeconds]]),
    ...renderGauge('process_resident_memory_bytes', 'Resident memory.', [['', facts.residentBytes]]),
    ...renderGauge('process_heap_bytes', 'Heap in use.', [['', facts.heapBytes]]),
    ...renderGauge('process_start_time_seconds', 'Start of the process since the epoch.', [['', facts.startSeconds]]),
  ];
}

const flowHelp: Readonly<Record<string, string>> = {
  apiserver_flowcontrol_dispatched_requests_total: 'Requests that were let through.',
  apiserver_flowcontrol_rejected_requests_total: 'Requests that were turned away.',
  apiserver_flowcontrol_current_executing_requests: 'Requests that have begun and not ended.',
  apiserver_flowcontrol_current_executing_seats: 'Seats that are taken.',
  apiserver_flowcontrol_current_inqueue_requests: 'Requests that wait for a seat.',
  apiserver_flowcontrol_nominal_limit_seats: 'Seats of each priority level.',
  pintle_flowcontrol_stuck_seats: 'Seats that were not given back although their requests are past their deadlines.',
};

function renderFlows(flows: readonly FlowSample[]): string[] {
  return Object.entries(flowHelp).flatMap(([name, help]) => {
    const samples = flows.filter((sample) => sample.name === name).map(({ labels, value }): Sample => [formatLabels(labels), value]);
    if (samples.length === 0) return [];
    return name.endsWith('_total') ? renderCounter(name, help, samples) : renderGauge(name, help, samples);
  });
}
