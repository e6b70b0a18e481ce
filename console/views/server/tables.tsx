// Tables of the server's metrics: the busiest users and flows, the most frequent and the slowest requests, and the time and refusals of admission.
import type { ComponentChildren, JSX } from 'preact';
import { type Metrics, formatCount, growthBy, quantileOf, sumBy } from '../../model/index.ts';
import { type ServerState, lasting } from './use-metrics.ts';

const MOST = 12;
const DURATION = 'apiserver_request_duration_seconds';

/** A duration in milliseconds. */
export const milliseconds = (value: number): string => `${value >= 10 ? Math.round(value) : value.toFixed(1)} ms`;

interface TableProps {
  readonly title: string;
  readonly hint?: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}

function Table({ title, hint, heads, rows }: TableProps): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}{hint !== undefined && <span class="hint"> {hint}</span>}</h2>
      {rows.length === 0 ? <p class="hint">There are none.</p> : (
        <div class="short" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
          <table class="plain">
            <thead><tr>{heads.map((head) => <th key={head}>{head}</th>)}</tr></thead>
            <tbody>{rows.map((cells, index) => <tr key={index}>{cells.map((cell, at) => <td key={at}>{cell}</td>)}</tr>)}</tbody>
          </table>
        </div>
      )}
    </section>
  );
}

type Pairs = readonly (readonly [string, number])[];
const largest = (counts: ReadonlyMap<string, number>): Pairs => [...counts].filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a).slice(0, MOST);

/** Users as the server counts them, and the flows of flow control. */
function listTalkers(before: Metrics, after: Metrics, seconds: number): ComponentChildren[][] {
  const rate = (name: string, label: string): Pairs => largest(growthBy(before, after, name, label));
  const make = (sort: string) => ([name, count]: readonly [string, number]): ComponentChildren[] => [sort, name, (count / seconds).toFixed(1)];
  return [...rate('authenticated_user_requests', 'username').map(make('user')),
    ...rate('apiserver_flowcontrol_dispatched_requests_total', 'flow_schema').map(make('flow'))];
}

/** The sorts of requests with the longest mean time since the page was opened. */
function listSlowest(first: Metrics, after: Metrics): ComponentChildren[][] {
  const [counts, sums] = ['count', 'sum'].map((part) => growthBy(first, after, `${DURATION}_${part}`, 'verb', 'resource', 'subresource')) as
    [Map<string, number>, Map<string, number>];
  const means = [...counts].filter(([sort, count]) => count > 0 && !lasting.has(sort.split(' ')[0] ?? ''))
    .map(([sort, count]) => ({ sort, count, mean: (sums.get(sort) ?? 0) / count })).sort((a, b) => b.mean - a.mean).slice(0, MOST);
  return means.map(({ sort, count, mean }) => {
    const [verb = '', resource = '', subresource = ''] = sort.split(' ');
    const tail = quantileOf({ before: first, after, name: DURATION, choice: (labels) => labels.get('verb') === verb
      && (labels.get('resource') ?? '') === resource && (labels.get('subresource') ?? '') === subresource }, 0.99);
    const name = subresource === '' ? resource : `${resource}/${subresource}`;
    return [verb, name, formatCount(count), milliseconds(mean * 1000), tail === undefined ? '' : milliseconds(tail * 1000)];
  });
}

const refusedBy = (metrics: Metrics, name: string, label: string, [key, value]: readonly [string, string]): Map<string, number> =>
  sumBy(new Map([[name, (metrics.get(name) ?? []).filter(({ labels }) => labels.get(key) === value)]]), name, label);

/** Webhooks and policies since the server began: their calls, mean time, and refusals. */
function listAdmission(metrics: Metrics): ComponentChildren[][] {
  const sorts = [
    ['webhook', 'apiserver_admission_webhook_admission_duration_seconds', 'name', ['rejected', 'true']],
    ['validating policy', 'apiserver_validating_admission_policy_check_duration_seconds', 'policy', ['enforcement_action', 'deny']],
    ['mutating policy', 'apiserver_mutating_admission_policy_check_duration_seconds', 'policy', ['enforcement_action', 'deny']],
  ] as const;
  return sorts.flatMap(([sort, name, label, refusal]) => {
    const sums = sumBy(metrics, `${name}_sum`, label);
    const refused = refusedBy(metrics, `${name}_count`, label, refusal);
    return largest(sumBy(metrics, `${name}_count`, label)).map(([one, count]) =>
      [sort, one, formatCount(count), milliseconds(((sums.get(one) ?? 0) / count) * 1000), formatCount(refused.get(one) ?? 0)]);
  });
}

/** All of them. */
export function Tables({ state: { traffic, first, before, seconds }, latest }: { readonly state: ServerState; readonly latest: Metrics }): JSX.Element {
  const [begun, last] = [first ?? latest, before ?? latest];
  return (
    <>
      <Table title="Busiest requests" heads={['Verb', 'Resource', 'A second', 'Mean time']}
        rows={traffic.map(({ verb, resource, perSecond, meanMs }) => [verb, resource, perSecond.toFixed(1), milliseconds(meanMs)])} />
      <Table title="Slowest requests" hint="since this page was opened" heads={['Verb', 'Resource', 'Requests', 'Mean time', 'p99']}
        rows={listSlowest(begun, latest)} />
      <Table title="Top talkers" hint="users that the server counts by name, and flows" heads={['Sort', 'Name', 'A second']}
        rows={listTalkers(last, latest, Math.max(seconds, 0.001))} />
      <Table title="Webhooks and policies" hint="since the server began" heads={['Sort', 'Name', 'Calls', 'Mean time', 'Refused']}
        rows={listAdmission(latest)} />
      <Table title="Most objects" heads={['Resource', 'Objects']}
        rows={largest(sumBy(latest, 'apiserver_resource_objects', 'resource')).map(([resource, count]) => [resource, formatCount(count)])} />
    </>
  );
}
