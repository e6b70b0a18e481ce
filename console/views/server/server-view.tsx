// The server itself: requests, latency, watches, flow control, store and memory as they are now, from its metrics.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Plot } from '../../plots/index.ts';
import { formatBytes, formatCount } from '../../model/index.ts';
import { Notice, Waiting, resolveColour } from '../../ui/index.ts';
import { Definitions } from './definitions.tsx';
import { Tables, milliseconds } from './tables.tsx';
import { type Reading, useMetrics } from './use-metrics.ts';

interface Line {
  readonly id: string;
  readonly title: string;
}

interface PlotProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly readings: readonly Reading[];
  readonly format: (value: number) => string;
}

const perSecond = (value: number): string => `${value >= 10 ? Math.round(value) : value.toFixed(1)}/s`;
const percent = (value: number): string => `${Math.round(value)} %`;
const whole = (value: number): string => formatCount(Math.round(value));

/** A plot; its caption has the latest values as text. */
function LivePlot({ title, lines, readings, format }: PlotProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const show = (): void => plot.current?.show(readings.map(({ time }) => time), lines.map(({ id }) => readings.map(({ values }) => values[id] ?? null)));
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    let isGone = false;
    void import('../../plots/index.ts').then(({ createPlot }) => {
      // The component may have left the page while the plots were loaded.
      const parent = place.current;
      if (isGone || parent === null) return;
      const coloured = lines.map(({ title: name }, index) => ({ title: name, colour: `--owner-${index}` }));
      plot.current = createPlot({ parent, lines: coloured, format, colourOf: (name) => resolveColour(parent, name) });
      latest.current();
    });
    return () => {
      isGone = true;
      plot.current?.close();
    };
  }, []);
  useEffect(show, [readings]);
  const last = readings.at(-1)?.values;
  return (
    <figure class="card plot">
      <figcaption>
        <strong>{title}</strong>
        {lines.map(({ id, title: name }, index) => {
          const value = last?.[id];
          return <span key={id}><span class={`owner-mark owner-${index}`} aria-hidden="true">&nbsp;</span> {name} {value == null ? '–' : format(value)}</span>;
        })}
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}

const plots: readonly Omit<PlotProps, 'readings'>[] = [
  { title: 'Requests', format: perSecond, lines: [{ id: 'requests', title: 'all' }, { id: 'refused', title: '4xx' }, { id: 'failed', title: '5xx' }] },
  { title: 'Latency', format: milliseconds, lines: [{ id: 'p50', title: 'p50' }, { id: 'p90', title: 'p90' }, { id: 'p99', title: 'p99' }] },
  { title: 'Watches', format: whole, lines: [{ id: 'watches', title: 'open' }, { id: 'events', title: 'events a second' }] },
  { title: 'Flow control', format: whole, lines: [{ id: 'seats', title: 'seats taken' }, { id: 'queued', title: 'queued' }] },
  { title: 'Memory', format: formatBytes, lines: [{ id: 'memory', title: 'resident' }] },
  { title: 'Processor', format: percent, lines: [{ id: 'cpu', title: 'of one core' }] },
  { title: 'Store', format: formatBytes, lines: [{ id: 'store', title: 'size' }] },
  { title: 'Revisions', format: perSecond, lines: [{ id: 'revisions', title: 'new' }] },
  { title: 'Revision', format: whole, lines: [{ id: 'revision', title: 'latest' }] },
  { title: 'Objects', format: whole, lines: [{ id: 'objects', title: 'all' }] },
];

/** The page. */
export function ServerView(): JSX.Element {
  const state = useMetrics();
  const { readings, latest, problem } = state;
  return (
    <div class="object" tabIndex={0} role="region" aria-label="Server">
      <div class="list-head"><h1>Server</h1><span class="hint">from /metrics, every two seconds</span></div>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      {readings.length === 0 && problem === '' && <Waiting what="Reading the metrics" />}
      {readings.length > 0 && <div class="plots">{plots.map((plot) => <LivePlot key={plot.title} {...plot} readings={readings} />)}</div>}
      {latest !== undefined && <Tables state={state} latest={latest} />}
      <Definitions />
    </div>
  );
}
