// /metrics: the counters of the filters, with what is measured at the moment of asking.
import type { Response } from '../../endpoints/index.ts';
import type { Audit } from '../audit/audit.ts';
import type { Api } from '../compose.ts';
import type { FlowControl } from '../flow-control/flow-control.ts';
import type { ProcessFacts, ServerMetrics } from './metrics.ts';
import { kubernetesVersion } from '../cli/version.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores';
const encoder = new TextEncoder();

/** Renders everything. */
export async function answerMetrics(
  api: Api, { metrics, flowControl, audit }: {
    readonly metrics: ServerMetrics; readonly flowControl: FlowControl | undefined; readonly audit: Audit | undefined;
  },
): Promise<Response> {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const text = metrics.render({
    objects: await countObjects(api),
    flows: flowControl?.samples() ?? [],
    cpuSeconds: (user + system) / 1e6,
    residentBytes: memory.rss,
    heapBytes: memory.heapUsed,
    startSeconds: (performance.timeOrigin ?? 0) / 1000,
    build: { major: kubernetesVersion.major, minor: kubernetesVersion.minor, git_version: kubernetesVersion.gitVersion, platform: kubernetesVersion.platform },
  });
  return answerMetricsText(`${text}${[...api.admissionMetrics.render(), ...(audit?.metrics.render() ?? []), ...api.aggregator.renderMetrics()].join('\n')}\n`);
}

/** Metrics as an answer. */
export const answerMetricsText = (text: string): Response => ({ status: 200, headers: { 'content-type': CONTENT_TYPE }, body: encoder.encode(text) });

async function countObjects({ catalog, registry }: Api): Promise<ProcessFacts['objects']> {
  const rows = catalog.resources().filter((row) => row.storedAs === undefined && row.verbs.includes('list'));
  return Promise.all(rows.map(async (row) => {
    const predicate = { everything: true, matches: () => true };
    const list = await registry.list({ resource: row, version: row.storageVersion, namespace: '' }, { predicate, resourceVersion: '0' });
    return { group: row.group, resource: row.plural, count: list.count };
  }));
}
