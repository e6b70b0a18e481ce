// The metrics of several processes as those of one server, in the Prometheus text format. Counters and histograms are added up. A gauge is added up where
// each process has a part of the whole (requests in flight, memory), and is the largest value where all of them describe the same thing.
import type { Steps } from '../../base/index.ts';

/** Gauges of which each process has a part. */
const parts: ReadonlySet<string> = new Set([
  'apiserver_current_inflight_requests', 'apiserver_current_inqueue_requests', 'apiserver_longrunning_requests', 'apiserver_registered_watchers',
  'apiserver_flowcontrol_current_executing_requests', 'apiserver_flowcontrol_current_executing_seats', 'apiserver_flowcontrol_current_inqueue_requests',
  'apiserver_flowcontrol_current_inqueue_seats', 'apiserver_flowcontrol_current_limit_seats', 'apiserver_flowcontrol_nominal_limit_seats',
  'apiserver_flowcontrol_lower_limit_seats', 'apiserver_flowcontrol_upper_limit_seats',
  'process_resident_memory_bytes', 'process_heap_bytes', 'process_open_fds', 'nodejs_external_memory_bytes',
]);
/** What a registry says about itself is the same in each process. */
const accounts: ReadonlySet<string> = new Set(['registered_metrics_total', 'disabled_metrics_total', 'hidden_metrics_total']);

interface Family {
  readonly head: string[];
  isAdded: boolean;
  readonly samples: Map<string, number>;
}

const nameOf = (line: string): string => line.split(' ', 3)[2] ?? '';

function addSample(family: Family, line: string): void {
  const space = line.lastIndexOf(' ');
  const [series, value] = [line.slice(0, space), Number(line.slice(space + 1))];
  const before = family.samples.get(series);
  family.samples.set(series, before === undefined ? value : family.isAdded ? before + value : Math.max(before, value));
}

/** Joins texts, each in a step; families and series stand in the order in which they first come. */
export function* joinMetrics(texts: readonly string[]): Steps<string> {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let family: Family = { head: [], isAdded: false, samples: new Map() };
    for (const line of text.split('\n')) {
      if (line.startsWith('# HELP ')) {
        const name = nameOf(line);
        family = families.get(name) ?? { head: [line], isAdded: false, samples: new Map() };
        families.set(name, family);
      } else if (line.startsWith('# TYPE ')) {
        const name = nameOf(line);
        family.isAdded = !accounts.has(name) && (parts.has(name) || !line.endsWith(' gauge'));
        if (family.head.length === 1) family.head.push(line);
      } else if (line !== '') addSample(family, line);
    }
    yield;
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...Array.from(samples, ([series, value]) => `${series} ${value}`)]);
  return `${lines.join('\n')}\n`;
}
