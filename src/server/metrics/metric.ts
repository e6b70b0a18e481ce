// Metrics in the Prometheus text format: counters, gauges and histograms by label text, gathered in a registry that renders them. Written by hand: a
// client library costs more at start than the rest of this room. Label sets are bounded, since clients choose some of them.
import { createHash } from 'node:crypto';

/** Name and help of a metric; the stability is one of upstream's. */
export interface MetricSpec {
  readonly name: string;
  readonly help: string;
  readonly stability?: 'ALPHA' | 'BETA' | 'STABLE';
}

/** A label text (as formatLabels makes it; '' for none) and a value. */
export type Sample = readonly [labels: string, value: number];

/** Beyond this many label sets of a metric nothing new is counted. */
const MAX_SERIES = 5000;

/** Labels as a metric line has them. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name] as string)}"`;
  return text;
}

/** A label that stands for a text: its SHA-256, as upstream writes it. */
export const hashText = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

function escapeLabel(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value;
}

/** The two lines before the samples of a metric. */
export function describeMetric({ name, help, stability }: MetricSpec, type: 'counter' | 'gauge' | 'histogram'): string[] {
  return [`# HELP ${name} ${stability === undefined ? '' : `[${stability}] `}${help}`, `# TYPE ${name} ${type}`];
}

const renderSamples = (name: string, samples: readonly Sample[]): string[] =>
  samples.map(([labels, value]) => (labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`));

/** A gauge as lines. */
export const renderGauge = (spec: MetricSpec, samples: readonly Sample[]): string[] => [...describeMetric(spec, 'gauge'), ...renderSamples(spec.name, samples)];

/** The lines of a counter. */
export const renderCounter = (spec: MetricSpec, samples: readonly Sample[]): string[] =>
  [...describeMetric(spec, 'counter'), ...renderSamples(spec.name, samples)];

/** A count or an observation of one registry, for the same metric of another. */
export type Tally = readonly [name: string, labels: string, value: number];

type NoteTally = (labels: string, value: number) => void;

/** Tallies that wait to be taken; with more of them nothing new is noted. */
const MAX_TALLIES = 20_000;

/** Counts that grow. */
export class Counter {
  readonly #values = new Map<string, number>();
  readonly #note: NoteTally | undefined;

  constructor(note?: NoteTally) {
    this.#note = note;
  }

  add(labels: string, count = 1): void {
    this.#note?.(labels, count);
    const before = this.#values.get(labels);
    if (before !== undefined || this.#values.size < MAX_SERIES) this.#values.set(labels, (before ?? 0) + count);
  }

  get samples(): readonly Sample[] {
    return [...this.#values];
  }
}

/** The observations of one label set. */
export class Observations {
  /** By bucket, the last beyond all bounds. */
  readonly counts: number[];
  sum = 0;
  count = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = [...bounds, Infinity].map(() => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] as number)) index += 1;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
    this.count += 1;
  }
}

/** As Go prints numbers: with an exponent of two digits from a million on, and below a ten-thousandth. */
const formatBound = (bound: number): string =>
  (bound >= 1e6 || (bound > 0 && bound < 1e-4) ? bound.toExponential() : String(bound)).replace(/e([-+])(\d)$/, 'e$10$2');

/** The lines of observations. */
export function renderObservations(name: string, bounds: readonly number[], series: Iterable<readonly [labels: string, observations: Observations]>): string[] {
  const lines: string[] = [];
  for (const [labels, { counts, sum, count }] of series) {
    const [before, all] = labels === '' ? ['', ''] : [`${labels},`, `{${labels}}`];
    let total = 0;
    for (const [index, bound] of bounds.entries()) {
      total += counts[index] as number;
      lines.push(`${name}_bucket{${before}le="${formatBound(bound)}"} ${total}`);
    }
    lines.push(`${name}_bucket{${before}le="+Inf"} ${count}`, `${name}_sum${all} ${sum}`, `${name}_count${all} ${count}`);
  }
  return lines;
}

/** Observations by label set. */
export class Histogram {
  readonly bounds: readonly number[];
  readonly #series = new Map<string, Observations>();
  /** Gets what finds no place any more. */
  readonly #overflow: Observations;
  readonly #note: NoteTally | undefined;

  constructor(bounds: readonly number[], note?: NoteTally) {
    this.bounds = bounds;
    this.#note = note;
    this.#overflow = new Observations(bounds);
  }

  /** The series of a label text, for callers that keep it. */
  series(labels: string): Observations {
    let found = this.#series.get(labels);
    if (found === undefined) {
      if (this.#series.size >= MAX_SERIES) return this.#overflow;
      this.#series.set(labels, (found = new Observations(this.bounds)));
    }
    return found;
  }

  observe(labels: string, value: number): void {
    this.#note?.(labels, value);
    this.series(labels).observe(value);
  }

  render(name: string): string[] {
    return renderObservations(name, this.bounds, this.#series);
  }
}

interface Registered {
  readonly render: () => string[];
  /** Counts or observes; absent for values that are read when they are asked for. */
  readonly apply?: NoteTally;
}

/** The metrics of one server. Those of a worker are shown by the server: what the worker notes, the server counts. */
export class MetricRegistry {
  readonly #metrics = new Map<string, Registered>();
  readonly #isNoting: boolean;
  #tallies: Tally[] = [];

  constructor({ notes = false }: { readonly notes?: boolean } = {}) {
    this.#isNoting = notes;
  }

  counter(spec: MetricSpec): Counter {
    const counter = new Counter(this.#noteFor(spec));
    this.#metrics.set(spec.name, { render: () => renderCounter(spec, counter.samples), apply: (labels, value) => counter.add(labels, value) });
    return counter;
  }

  histogram(spec: MetricSpec & { readonly bounds: readonly number[] }): Histogram {
    const histogram = new Histogram(spec.bounds, this.#noteFor(spec));
    const render = (): string[] => [...describeMetric(spec, 'histogram'), ...histogram.render(spec.name)];
    this.#metrics.set(spec.name, { render, apply: (labels, value) => histogram.observe(labels, value) });
    return histogram;
  }

  /** A gauge whose values are read when they are asked for. */
  gauge(spec: MetricSpec, read: () => readonly Sample[]): void {
    this.#metrics.set(spec.name, { render: () => renderGauge(spec, read()) });
  }

  /** A counter whose values are read when they are asked for. */
  countOf(spec: MetricSpec, read: () => readonly Sample[]): void {
    this.#metrics.set(spec.name, { render: () => renderCounter(spec, read()) });
  }

  render(): string[] {
    return [...this.#metrics.values()].flatMap(({ render }) => render());
  }

  /** The tallies since they were last taken. */
  takeTallies(): readonly Tally[] {
    const taken = this.#tallies;
    this.#tallies = [];
    return taken;
  }

  /** Counts and observes what another registry has noted. */
  applyTallies(tallies: readonly Tally[]): void {
    for (const [name, labels, value] of tallies) this.#metrics.get(name)?.apply?.(labels, value);
  }

  #noteFor({ name }: MetricSpec): NoteTally | undefined {
    if (!this.#isNoting) return undefined;
    return (labels, value) => {
      if (this.#tallies.length < MAX_TALLIES) this.#tallies.push([name, labels, value]);
    };
  }
}

/** The text without the metrics of these names; and the registry's account of itself. */
export function finishMetrics(lines: readonly string[], disabled: ReadonlySet<string>): string {
  const shown: string[] = [];
  const counts = new Map<string, number>();
  let [isShown, dropped] = [true, 0];
  for (const line of lines) {
    if (line.startsWith('# HELP ')) {
      const [, , name = '', word = ''] = line.split(' ', 4);
      isShown = !disabled.has(name);
      const stability = /^\[[A-Z]+\]$/.test(word) ? word.slice(1, -1) : '';
      if (isShown) counts.set(stability, (counts.get(stability) ?? 0) + 1);
      else dropped += 1;
    }
    if (isShown) shown.push(line);
  }
  const registered = [...counts].map(([stability, count]): Sample => [formatLabels({ deprecated_version: '', stability_level: stability }), count]);
  return [
    ...shown, ...renderCounter({ name: 'registered_metrics_total', stability: 'BETA', help: 'The count of registered metrics broken by stability level and '
      + 'deprecation version.' }, registered),
    ...renderCounter({ name: 'disabled_metrics_total', stability: 'BETA', help: 'The count of disabled metrics.' }, [['', dropped]]),
    ...renderCounter({ name: 'hidden_metrics_total', stability: 'BETA', help: 'The count of hidden metrics.' }, [['', 0]]), '',
  ].join('\n');
}
