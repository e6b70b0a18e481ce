// The metrics of requests, under upstream's names, labels and buckets: requests and their durations and sizes, what is in flight, watches, outcomes of
// authentication and authorization. What other parts of the server count they add to the same registry.
import type { ClientCertificate } from '../../auth/index.ts';
import type { Clock } from '../../base/index.ts';
import type { RequestInfo, WatchCounts } from '../../endpoints/index.ts';
import {
  Counter, MetricRegistry, type MetricSpec, Observations, type Sample, describeMetric, formatLabels, renderCounter, renderGauge, renderObservations,
} from './metric.ts';

/** A request that is finished. */
interface RequestRecord {
  readonly info: RequestInfo;
  readonly dryRun: boolean;
  readonly status: number;
  readonly durationMs: number;
  /** Bytes of the answer, where they are known when it begins. */
  readonly responseBytes?: number | undefined;
  /** Bytes of the body that came, where it was read. */
  readonly requestBytes?: number | undefined;
  /** The server ended the request by itself: too many at once, too late. */
  readonly isTerminated?: boolean;
}

/** The numbers of one server. */
export interface ServerMetrics {
  readonly registry: MetricRegistry;
  readonly inFlight: { readOnly: number; mutating: number };
  /** Requests that wait for a seat. */
  readonly inQueue: { readOnly: number; mutating: number };
  /** A long-running request has begun; the function that it answers is called when the request ends. */
  beginLongRunning(info: RequestInfo): () => void;
  recordRequest(record: RequestRecord): void;
  watchCounts(info: RequestInfo): WatchCounts;
  recordAuthentication(outcome: Authenticated): void;
  /** A client certificate stands for the caller of a request. */
  recordCertificate(certificate: Pick<ClientCertificate, 'expiresMs'>, clock: Pick<Clock, 'now'>): void;
  recordAuthorization(result: 'allowed' | 'denied' | 'no-opinion' | 'error', durationMs: number): void;
  /** Makes what counts a decision of a mode of authorization: its labels are the same for all requests. */
  decisionCounter(labels: Readonly<Record<'decision' | 'name' | 'type', string>>): () => void;
  /** All metrics as lines. */
  render(): string[];
}

interface Authenticated {
  readonly result: 'success' | 'failure' | 'error';
  readonly username: string;
  readonly durationMs: number;
}

/** Bounds of the durations of requests. */
const bucketsSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const bodyBounds = Array.from({ length: 31 }, (_, index) => 50_000 + 100_000 * index);
const eventSizeBounds = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];
const watchListBounds = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];
/** From half an hour to a year. */
const lifetimeBounds = [0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000];
const decisionBounds = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000);
/** Label sets that differ by what a client may choose freely are bounded: beyond this many they are counted together. */
const MAX_SERIES = 5000;

interface Series {
  readonly labels: string;
  /** The same without the dry run. */
  readonly plainLabels: string;
  readonly codes: Map<number, number>;
  readonly terminations: Map<number, number>;
  readonly durations: Observations;
  readonly sizes: Observations;
}

const requestSpecs = {
  total: {
    name: 'apiserver_request_total', stability: 'STABLE',
    help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
  },
  durations: {
    name: 'apiserver_request_duration_seconds', stability: 'STABLE',
    help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
  },
  objectives: {
    name: 'apiserver_request_sli_duration_seconds', stability: 'ALPHA',
    help: 'Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, '
      + 'resource, subresource, scope and component.',
  },
  sizes: {
    name: 'apiserver_response_sizes', stability: 'STABLE',
    help: 'Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
  },
  terminations: {
    name: 'apiserver_request_terminations_total', stability: 'ALPHA',
    help: 'Number of requests which apiserver terminated in self-defense.',
  },
} as const satisfies Readonly<Record<string, MetricSpec>>;

/** The info of a request as labels may show it: without names that are served nowhere, since clients choose their paths and every name is kept. */
export type ShowInfo = (info: RequestInfo) => RequestInfo;

/** Starts at zero. */
export function createMetrics(showInfo: ShowInfo = (info) => info): ServerMetrics {
  const registry = new MetricRegistry();
  const requests = new Map<string, Series>();
  const longRunning = new Map<string, number>();
  const seriesFor = createSeriesMemo(requests, showInfo);
  const recordBody = createBodySizes(registry, showInfo);
  const [inFlight, inQueue] = [{ readOnly: 0, mutating: 0 }, { readOnly: 0, mutating: 0 }];
  registry.gauge({
    name: 'apiserver_current_inflight_requests', stability: 'STABLE',
    help: 'Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
  }, () => showKinds(inFlight));
  registry.gauge({
    name: 'apiserver_current_inqueue_requests', stability: 'ALPHA',
    help: 'Maximal number of queued requests in this apiserver per request kind in last second.',
  }, () => showKinds(inQueue));
  registry.gauge({
    name: 'apiserver_longrunning_requests', stability: 'STABLE',
    help: 'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are '
      + 'tracked this way.',
  }, () => [...longRunning]);
  return {
    registry, inFlight, inQueue,
    beginLongRunning(info) {
      const labels = formatLabels(describeRequest(showInfo(info)));
      const before = longRunning.get(labels);
      if (before === undefined && longRunning.size >= MAX_SERIES) return () => {};
      longRunning.set(labels, (before ?? 0) + 1);
      return () => void longRunning.set(labels, (longRunning.get(labels) as number) - 1);
    },
    recordRequest(record) {
      const series = seriesFor(record);
      series.codes.set(record.status, (series.codes.get(record.status) ?? 0) + 1);
      if (record.isTerminated === true) series.terminations.set(record.status, (series.terminations.get(record.status) ?? 0) + 1);
      series.durations.observe(record.durationMs / 1000);
      if (record.responseBytes !== undefined) series.sizes.observe(record.responseBytes);
      if (record.requestBytes !== undefined) recordBody(record.info, record.requestBytes);
    },
    watchCounts: createWatchCounts(registry),
    ...createDecisionCounts(registry),
    render: () => [...renderRequests([...requests.values()]), ...registry.render()],
  };
}

const showKinds = ({ mutating, readOnly }: ServerMetrics['inFlight']): readonly Sample[] =>
  [['request_kind="mutating"', mutating], ['request_kind="readOnly"', readOnly]];

/** Sizes of the bodies of writes, by their objects. */
function createBodySizes(registry: MetricRegistry, showInfo: ShowInfo): (info: RequestInfo, bytes: number) => void {
  const sizes = registry.histogram({
    name: 'apiserver_request_body_size_bytes', stability: 'ALPHA', bounds: bodyBounds,
    help: 'Apiserver request body size in bytes broken out by resource and verb.',
  });
  const known = new Map<string, Observations>();
  return (info, bytes) => {
    const key = `${info.verb}/${info.resource}/${info.group}`;
    let series = known.get(key);
    if (series === undefined) {
      const { group, resource, verb } = showInfo(info);
      series = sizes.series(formatLabels({ group, resource, verb }));
      if (resource === info.resource && known.size < MAX_SERIES) known.set(key, series);
    }
    series.observe(bytes);
  };
}

function createWatchCounts(registry: MetricRegistry): ServerMetrics['watchCounts'] {
  const events = registry.counter({ name: 'apiserver_watch_events_total', stability: 'ALPHA', help: 'Number of events sent in watch clients' });
  const sizes = registry.histogram({
    name: 'apiserver_watch_events_sizes', stability: 'ALPHA', help: 'Watch event size distribution in bytes', bounds: eventSizeBounds,
  });
  const lists = registry.histogram({
    name: 'apiserver_watch_list_duration_seconds', stability: 'BETA', bounds: watchListBounds,
    help: 'Response latency distribution in seconds for watch list requests broken by group, version, resource and scope.',
  });
  return (info) => {
    const { group, version, resource } = info;
    const labels = formatLabels({ group, resource, version });
    const series = sizes.series(labels);
    return {
      sent(count, bytes) {
        if (count === 0) return;
        events.add(labels, count);
        for (let left = count; left > 0; left -= 1) series.observe(bytes / count);
      },
      initialSent: (durationMs) => lists.observe(formatLabels({ group, resource, scope: scopeOf(info), version }), durationMs / 1000),
    };
  };
}

/** Names that upstream shows; all others are counted together, as there. */
const shownUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);
const compressUser = (name: string): string => (shownUsers.has(name) ? name : name.includes('@') ? 'email_id' : 'other');

/** Label texts by value: every request counts under some, and a new text has to be hashed. */
function createLabelTexts(label: string): (value: string) => string {
  const known = new Map<string, string>();
  return (value) => {
    let text = known.get(value);
    if (text === undefined) known.set(value, (text = formatLabels({ [label]: value })));
    return text;
  };
}

type DecisionCounts = Pick<ServerMetrics, 'recordAuthentication' | 'recordCertificate' | 'recordAuthorization' | 'decisionCounter'>;

function createDecisionCounts(registry: MetricRegistry): DecisionCounts {
  const users = registry.counter({
    name: 'authenticated_user_requests', stability: 'ALPHA', help: 'Counter of authenticated requests broken out by username.',
  });
  const measure = (what: string, attempts: string, attemptsHelp: string) => ({
    attempts: registry.counter({ name: attempts, stability: 'ALPHA', help: attemptsHelp }),
    durations: registry.histogram({
      name: `${what.toLowerCase()}_duration_seconds`, stability: 'ALPHA', bounds: decisionBounds,
      help: `${what} duration in seconds broken out by result.`,
    }),
  });
  const authentication = measure('Authentication', 'authentication_attempts', 'Counter of authenticated attempts.');
  const authorization = measure('Authorization', 'authorization_attempts_total',
    "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.");
  const decisions = registry.counter({
    name: 'apiserver_authorization_decisions_total', stability: 'ALPHA',
    help: 'Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.',
  });
  const lifetimes = registry.histogram({
    name: 'apiserver_client_certificate_expiration_seconds', stability: 'ALPHA', bounds: lifetimeBounds,
    help: 'Distribution of the remaining lifetime on the certificate used to authenticate a request.',
  }).series('');
  const [labelResult, labelUser] = [createLabelTexts('result'), createLabelTexts('username')];
  const record = ({ attempts, durations }: ReturnType<typeof measure>, result: string, durationMs: number): void => {
    const labels = labelResult(result);
    attempts.add(labels);
    durations.observe(labels, durationMs / 1000);
  };
  return {
    recordAuthentication({ result, username, durationMs }) {
      record(authentication, result, durationMs);
      if (result === 'success') users.add(labelUser(compressUser(username)));
    },
    recordCertificate({ expiresMs }, clock) {
      if (expiresMs !== undefined) lifetimes.observe((expiresMs - clock.now()) / 1000);
    },
    recordAuthorization: (result, durationMs) => record(authorization, result, durationMs),
    decisionCounter(labels) {
      const text = formatLabels(labels);
      return () => decisions.add(text);
    },
  };
}

/** A create is counted as one of its object, whose name may be in its body. */
const scopeOf = ({ isResource, name, namespace, verb }: RequestInfo): string =>
  (!isResource ? '' : name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster');

/** Remembers the series of requests that differ in nothing that is a label: making the labels costs more than counting. */
function createSeriesMemo(requests: Map<string, Series>, showInfo: ShowInfo): (record: RequestRecord) => Series {
  const known = new Map<string, Series>();
  return ({ info, dryRun }) => {
    if (!info.isResource) return findSeries(requests, { info, dryRun });
    const key = `${info.verb}/${dryRun}/${scopeOf(info)}/${info.version}/${info.resource}/${info.subresource}/${info.group}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const shown = showInfo(info);
    const series = findSeries(requests, { info: shown, dryRun });
    if (shown === info && known.size < MAX_SERIES) known.set(key, series);
    return series;
  };
}

const knownVerbs: Readonly<Record<string, string>> = {
  get: 'GET', list: 'LIST', watch: 'WATCH', create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE', deletecollection: 'DELETECOLLECTION',
  post: 'POST', put: 'PUT', head: 'GET', connect: 'CONNECT', options: 'OPTIONS', apply: 'APPLY',
};
const connectSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** The verb of a request as metrics and logs name it. */
export const verbLabel = ({ isResource, subresource, verb }: RequestInfo): string =>
  (isResource && connectSubresources.has(subresource) ? 'CONNECT' : knownVerbs[verb] ?? 'other');

/** The labels that all metrics of requests share. */
const describeRequest = (info: RequestInfo) => ({
  component: 'apiserver', group: info.group, resource: info.resource, scope: scopeOf(info),
  subresource: info.isResource ? info.subresource : nameRoot(info.path), verb: verbLabel(info), version: info.version,
});

/** Paths that are not resources are counted by their first segment, if it is one of ours. */
function nameRoot(path: string): string {
  const root = /^\/([a-z]+)(?:\/|$)/.exec(path)?.[1] ?? '';
  return ['api', 'apis', 'healthz', 'livez', 'readyz', 'metrics', 'openapi', 'version'].includes(root) ? root : '';
}

const overflowLabels = { component: 'apiserver', group: '', resource: '', scope: '', subresource: '', verb: 'other', version: '' };

function findSeries(requests: Map<string, Series>, { info, dryRun }: Pick<RequestRecord, 'info' | 'dryRun'>): Series {
  const described = describeRequest(info);
  const found = seriesOf(described, dryRun ? 'All' : '');
  const known = requests.get(found.labels);
  if (known !== undefined) return known;
  const kept = requests.size < MAX_SERIES ? found : seriesOf(overflowLabels, '');
  const other = requests.get(kept.labels);
  if (other !== undefined) return other;
  requests.set(kept.labels, kept);
  return kept;
}

function seriesOf(described: ReturnType<typeof describeRequest>, dryRun: string): Series {
  const { component, ...rest } = described;
  return {
    labels: formatLabels({ component, dry_run: dryRun, ...rest }), plainLabels: formatLabels(described), codes: new Map(), terminations: new Map(),
    durations: new Observations(bucketsSeconds), sizes: new Observations(sizeBounds),
  };
}

/** Objectives are not measured more finely than this. */
const LEAST_SLI_SECONDS = 0.05;
const objectiveBounds = bucketsSeconds.filter((bound) => bound >= LEAST_SLI_SECONDS);
const endsByItself = ({ labels }: Series): boolean => !labels.includes('verb="WATCH"') && !labels.includes('verb="CONNECT"');
const isRead = ({ labels }: Series): boolean => /verb="(?:GET|LIST)"/.test(labels);

/** The same observations with the finest buckets joined. */
function coarsen({ counts, sum, count }: Observations): Observations {
  const coarse = new Observations(objectiveBounds);
  const joined = bucketsSeconds.length - objectiveBounds.length;
  coarse.counts.splice(0, coarse.counts.length, ...counts.slice(joined));
  coarse.counts[0] = counts.slice(0, joined + 1).reduce((total, one) => total + one, 0);
  return Object.assign(coarse, { sum, count });
}

function renderRequests(all: readonly Series[]): string[] {
  const byCode = (pick: (series: Series) => ReadonlyMap<number, number>, labelsOf: (series: Series) => string): [string, number][] =>
    all.flatMap((series) => [...pick(series)].map(([code, count]): [string, number] => [`code="${code}",${labelsOf(series)}`, count]));
  const histogram = (spec: MetricSpec, bounds: readonly number[], series: readonly (readonly [string, Observations])[]): string[] =>
    [...describeMetric(spec, 'histogram'), ...renderObservations(spec.name, bounds, series)];
  const { total, durations, objectives, sizes, terminations } = requestSpecs;
  return [
    ...renderCounter(total, byCode(({ codes }) => codes, ({ labels }) => labels)),
    ...histogram(durations, bucketsSeconds, all.map((series) => [series.labels, series.durations])),
    ...histogram(objectives, objectiveBounds, all.filter(endsByItself).map((series) => [series.plainLabels, coarsen(series.durations)])),
    ...histogram(sizes, sizeBounds, all.filter((series) => isRead(series) && series.sizes.count > 0).map((series) => [series.plainLabels, series.sizes])),
    ...renderCounter(terminations, byCode((series) => series.terminations, (series) => series.plainLabels)),
  ];
}

/** The outcomes of health checks as metrics: what they are at this moment, and how often they were asked for here. */
export function createCheckMetrics(): (outcomes: readonly { readonly name: string; readonly type: string; readonly passed: boolean }[]) => string {
  const counts = new Counter();
  return (outcomes) => {
    const now = outcomes.map(({ name, type, passed }) => [formatLabels({ name, type }), passed ? 1 : 0] as const);
    for (const { name, type, passed } of outcomes) counts.add(formatLabels({ name, status: passed ? 'success' : 'error', type }));
    return [
      ...renderGauge({ name: 'kubernetes_healthcheck', stability: 'STABLE', help: 'This metric records the result of a single healthcheck.' }, now),
      ...renderCounter({
        name: 'kubernetes_healthchecks_total', stability: 'STABLE', help: 'This metric records the results of all healthcheck.',
      }, counts.samples),
    ].join('\n').concat('\n');
  };
}
