// Columns of the core kinds that are not workloads: nodes, namespaces, events, configuration, quotas, component statuses.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import {
  type Cell, ageColumn, column, nameColumn, readPath, textColumn, textOr, toNumber, toObject, toObjects, toText, wideColumn, withNameAndAge,
} from './common.ts';
import { formatAge } from './duration.ts';

const rolePrefix = 'node-role.kubernetes.io/';

function formatNodeStatus(object: KubeObject): string {
  const ready = toObjects(readPath(object, 'status', 'conditions')).findLast((condition) => condition['type'] === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return readPath(object, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function formatNodeRoles(object: KubeObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(object.metadata?.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key !== rolePrefix) roles.add(key.slice(rolePrefix.length));
    else if (key === 'kubernetes.io/role' && value !== '') roles.add(value);
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',');
}

function nodeAddressColumn(name: string, type: string): Column {
  return wideColumn(name, (object) => {
    const address = toObjects(readPath(object, 'status', 'addresses')).find((entry) => entry['type'] === type);
    return textOr(address?.['address'], '<none>');
  });
}

function nodeInfoColumn(name: string, field: string): Column {
  return wideColumn(name, (object) => textOr(readPath(object, 'status', 'nodeInfo', field), '<unknown>'));
}

function formatKernel(object: KubeObject): string {
  const info = toObject(readPath(object, 'status', 'nodeInfo'));
  const architecture = toText(info['architecture']);
  return `${textOr(info['kernelVersion'], '<unknown>')}${architecture === '' ? '' : ` (${architecture})`}`;
}

/** Columns of nodes. */
export const nodeColumns: readonly Column[] = [
  nameColumn,
  column('Status', formatNodeStatus),
  column('Roles', formatNodeRoles),
  ageColumn,
  textColumn('Version', 'status', 'nodeInfo', 'kubeletVersion'),
  nodeAddressColumn('Internal-IP', 'InternalIP'),
  nodeAddressColumn('External-IP', 'ExternalIP'),
  nodeInfoColumn('OS-Image', 'osImage'),
  wideColumn('Kernel-Version', formatKernel),
  nodeInfoColumn('Container-Runtime', 'containerRuntimeVersion'),
];

/** Columns of namespaces. */
export const namespaceColumns: readonly Column[] = withNameAndAge(textColumn('Status', 'status', 'phase'));

/** How many entries some maps of the object have; declared as text by the reference. */
function countEntries(...fields: readonly string[]): (object: KubeObject) => Cell {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(toObject(object[field])).length, 0);
}

/** Columns of configmaps. */
export const configMapColumns: readonly Column[] = withNameAndAge(column('Data', countEntries('data', 'binaryData')));

/** Columns of secrets. */
export const secretColumns: readonly Column[] = withNameAndAge(textColumn('Type', 'type'), column('Data', countEntries('data')));

/** Columns of kinds of which only name and age are printed. */
export const nameAndAgeColumns: readonly Column[] = withNameAndAge();

/** First of two times of an event: seconds in the old field, microseconds in the new one. */
function formatFirstSeen(object: KubeObject, nowMs: number): string {
  return formatAge(toText(object['firstTimestamp']) || toText(object['eventTime']), nowMs);
}

function formatLastSeen(object: KubeObject, nowMs: number): string {
  const series = object['series'];
  if (series !== undefined && series !== null) return formatAge(readPath(series, 'lastObservedTime'), nowMs);
  const last = toText(object['lastTimestamp']);
  return last === '' ? formatFirstSeen(object, nowMs) : formatAge(last, nowMs);
}

function countEvents(object: KubeObject): number {
  const series = object['series'];
  if (series !== undefined && series !== null) return toNumber(readPath(series, 'count'));
  return toNumber(object['count']) || 1;
}

function formatEventObject(object: KubeObject): string {
  const kind = toText(readPath(object, 'involvedObject', 'kind')).toLowerCase();
  const name = toText(readPath(object, 'involvedObject', 'name'));
  return name === '' ? kind : `${kind}/${name}`;
}

function formatEventSource(object: KubeObject): string {
  const component = toText(readPath(object, 'source', 'component')) || toText(object['reportingComponent']);
  const instance = toText(readPath(object, 'source', 'host')) || toText(object['reportingInstance']);
  return instance === '' ? component : `${component}, ${instance}`;
}

/** Columns of core events. */
export const eventColumns: readonly Column[] = [
  column('Last Seen', formatLastSeen),
  textColumn('Type', 'type'),
  textColumn('Reason', 'reason'),
  column('Object', formatEventObject),
  wideColumn('Subobject', (object) => toText(readPath(object, 'involvedObject', 'fieldPath'))),
  wideColumn('Source', formatEventSource),
  column('Message', (object) => toText(object['message']).trim()),
  wideColumn('First Seen', formatFirstSeen),
  wideColumn('Count', countEvents),
  { ...nameColumn, priority: 1 },
];

/** `name: used/hard` of the resources that are limits, or of the others, by name. */
function formatQuota(object: KubeObject, limits: boolean): string {
  const hard = toObject(readPath(object, 'status', 'hard'));
  const used = toObject(readPath(object, 'status', 'used'));
  const names = Object.keys(hard).filter((name) => name.startsWith('limits.') === limits).sort();
  return names.map((name) => `${name}: ${textOr(used[name], '0')}/${toText(hard[name])}`).join(', ');
}

/** Columns of resourcequotas. */
export const resourceQuotaColumns: readonly Column[] = withNameAndAge(
  column('Request', (object) => formatQuota(object, false)),
  column('Limit', (object) => formatQuota(object, true)),
);

function readHealth(object: KubeObject, field: string): string {
  return toText(toObjects(object['conditions']).find((condition) => condition['type'] === 'Healthy')?.[field]);
}

/** Columns of componentstatuses. */
export const componentStatusColumns: readonly Column[] = [
  nameColumn,
  column('Status', (object) => {
    const status = readHealth(object, 'status');
    return status === '' ? 'Unknown' : status === 'True' ? 'Healthy' : 'Unhealthy';
  }),
  column('Message', (object) => readHealth(object, 'message')),
  column('Error', (object) => readHealth(object, 'error')),
];
