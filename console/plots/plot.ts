// Plots over time: uPlot in the colours of the page, drawn again as values come and as the page changes its size.
import uPlot from 'uplot';

/** One line of a plot. */
export interface PlotLine {
  readonly title: string;
  /** Name of a colour of the page, such as --owner-0. */
  readonly colour: string;
}

/** What a plot begins with. */
export interface PlotOptions {
  readonly parent: HTMLElement;
  readonly lines: readonly PlotLine[];
  readonly format: (value: number) => string;
  /** A colour of the page by its name, as canvases read it. */
  readonly colourOf: (name: string) => string;
}

/** A plot on the page. */
export interface Plot {
  /** Times in seconds, then the values of each line; null where there are none. */
  show(times: readonly number[], values: readonly (readonly (number | null)[])[]): void;
  close(): void;
}

const HEIGHT_PX = 150;
const AXIS_PX = 62;

/** Puts a plot into `parent`. */
export function createPlot({ parent, lines, format, colourOf }: PlotOptions): Plot {
  const axis = { stroke: colourOf('--muted'), grid: { stroke: colourOf('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const plot = new uPlot({
    width: parent.clientWidth, height: HEIGHT_PX, legend: { show: false }, cursor: { y: false, points: { size: 5 } }, padding: [8, 8, 0, 0],
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.15 : 1] } },
    axes: [{ ...axis, values: (_plot, ticks) => ticks.map(formatTime) }, { ...axis, size: AXIS_PX, values: (_plot, ticks) => ticks.map(format) }],
    series: [{}, ...lines.map(({ title, colour }) => ({ label: title, stroke: colourOf(colour), width: 1.6, points: { show: false } }))],
  }, [[], ...lines.map(() => [])], parent);
  const observer = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height: HEIGHT_PX }));
  observer.observe(parent);
  return {
    show: (times, values) => plot.setData([[...times], ...values.map((line) => [...line])]),
    close() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

/** Hours, minutes and seconds of the reader's own clock. */
function formatTime(seconds: number): string {
  const time = new Date(seconds * 1000);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}
