// Metrics in the text format of Prometheus, and what they say about the time between two readings.

/** One value with its labels. */
export interface Sample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** Samples by the name of their metric. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>;

/** Reads the labels of a line; text inside of quotes is taken as it is. */
function readLabels(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const equals = text.indexOf('="', at);
    if (equals === -1) break;
    const name = text.slice(at, equals);
    let value = '';
    let end = equals + 2;
    for (; end < text.length && text[end] !== '"'; end += 1) value += text[end] === '\\' ? text[end += 1] ?? '' : text[end];
    labels.set(name, value);
    at = end + 2;
  }
  return labels;
}

/** Reads a page of metrics. */
export function parseMetrics(page: string): Metrics {
  const metrics = new Map<string, Sample[]>();
  for (const line of page.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const close = line.lastIndexOf('}');
    const space = line.indexOf(' ', close + 1);
    const brace = close === -1 ? -1 : line.indexOf('{');
    const name = line.slice(0, brace === -1 ? space : brace);
    const value = Number(line.slice(space + 1).split(' ')[0]?.replace('+Inf', 'Infinity'));
    const samples = metrics.get(name) ?? [];
    samples.push({ labels: brace === -1 ? new Map() : readLabels(line.slice(brace + 1, close)), value });
    metrics.set(name, samples);
  }
  return metrics;
}

/** Which samples count. */
export type Choice = (labels: ReadonlyMap<string, string>) => boolean;

const all: Choice = () => true;

/** The sum of a metric over the samples that are chosen. */
export const sumOf = (metrics: Metrics, name: string, choice: Choice = all): number =>
  (metrics.get(name) ?? []).reduce((sum, { labels, value }) => (choice(labels) ? sum + value : sum), 0);

/** The largest value of a metric; 0 where there is none. */
export const largestOf = (metrics: Metrics, name: string): number => (metrics.get(name) ?? []).reduce((largest, { value }) => Math.max(largest, value), 0);

/** A counter that began again counts from nothing. */
const grow = (old: number, now: number): number => (now >= old ? now - old : now);

/** How much a counter grew. */
export const growthOf = (before: Metrics, after: Metrics, name: string, choice: Choice = all): number =>
  grow(sumOf(before, name, choice), sumOf(after, name, choice));

/** The sums of a metric by the values of labels, with a blank between them. */
export function sumBy(metrics: Metrics, name: string, ...by: readonly string[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of metrics.get(name) ?? []) {
    const key = by.map((label) => labels.get(label) ?? '').join(' ');
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}

/** How much a counter grew by the values of labels, in one pass over each reading. */
export function growthBy(before: Metrics, after: Metrics, name: string, ...by: readonly string[]): Map<string, number> {
  const old = sumBy(before, name, ...by);
  return new Map([...sumBy(after, name, ...by)].map(([key, now]) => [key, grow(old.get(key) ?? 0, now)]));
}

/** The quantile of a histogram's growth, by straight lines within its buckets; undefined where nothing was counted. */
export function quantileOf({ before, after, name, choice = all }: HistogramGrowth, quantile: number): number | undefined {
  const old = new Map<number, number>();
  const bounds = new Map<number, number>();
  const add = (metrics: Metrics, into: Map<number, number>): void => {
    for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
      const bound = Number(labels.get('le')?.replace('+Inf', 'Infinity'));
      if (choice(labels)) into.set(bound, (into.get(bound) ?? 0) + value);
    }
  };
  add(before, old);
  add(after, bounds);
  const buckets = [...bounds].sort(([a], [b]) => a - b).map(([bound, count]) => ({ bound, count: Math.max(0, count - (old.get(bound) ?? 0)) }));
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return undefined;
  const wanted = total * quantile;
  let [lower, counted] = [0, 0];
  for (const { bound, count } of buckets) {
    if (count >= wanted) return bound === Infinity ? lower : lower + (bound - lower) * ((wanted - counted) / Math.max(count - counted, 1e-9));
    [lower, counted] = [bound, count];
  }
  return lower;
}

/** A histogram at two times. */
export interface HistogramGrowth {
  readonly before: Metrics;
  readonly after: Metrics;
  readonly name: string;
  readonly choice?: Choice;
}
