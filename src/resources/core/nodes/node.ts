// core/v1 Node: columns, defaults, and the fields that an update may set once.
import {
  type FieldError, type JsonObject, type KubeObject, byteLength, duplicate, forbiddenField, invalidValue, parseLenientRange,
} from '../../../apimachinery/index.ts';
import type { Column } from '../../../registry/index.ts';
import { ageColumn, column, nameColumn, textColumn, textOr, wideColumn } from '../../common/columns/columns.ts';
import { readPointer, roundResources } from '../../common/defaults.ts';
import { boolAt } from '../../common/selectable-fields.ts';
import { connectSubresource, proxy, status } from '../../common/subresources.ts';
import { checkRange } from '../../common/validation/addresses.ts';
import { type Errors, type Field, at, each, isFilled, statusOf } from '../../common/validation/check.ts';
import { checkNatural, checkWhole, entriesOf } from '../../common/validation/quantities.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../common/values.ts';
import { warnOfRange } from '../../common/warnings/addresses.ts';
import { warnWith } from '../../common/warnings/warnings.ts';
import type { KindSpec } from '../../kind-spec.ts';
import { isExtendedName } from '../pods/validation/resources.ts';
import { checkNodeAnnotations } from './annotations.ts';
import { checkTaints, taintsOf } from './taints.ts';

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function formatNodeStatus(object: KubeObject): string {
  const ready = toObjects(readPath(object, 'status', 'conditions')).findLast((condition) => condition['type'] === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return readPath(object, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

function formatNodeRoles(object: KubeObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(object.metadata?.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key !== ROLE_PREFIX) roles.add(key.slice(ROLE_PREFIX.length));
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
const nodeColumns: readonly Column[] = [
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
const nodeFields = { 'spec.unschedulable': boolAt('spec.unschedulable') };

/** Keeps podCIDR and the first of podCIDRs equal; where they differ, podCIDR has precedence. */
function mirrorRanges(spec: JsonObject | undefined): void {
  if (spec === undefined) return;
  const [first] = toList(spec['podCIDRs']);
  const range = toText(spec['podCIDR']);
  if (range === '') {
    if (toText(first) !== '') spec['podCIDR'] = toText(first);
  } else if (first !== range) spec['podCIDRs'] = [range];
}

/** Defaults of nodes: allocatable is the capacity. */
function applyNodeDefaults(node: KubeObject): void {
  mirrorRanges(readPointer(node, 'spec'));
  const status = readPointer(node, 'status');
  if (status === undefined) return;
  roundResources(status, 'capacity', 'allocatable');
  if (readPointer(status, 'capacity') !== undefined && status['allocatable'] === undefined) status['allocatable'] = { ...toObject(status['capacity']) };
}

const integerResources = ['pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps', 'persistentvolumeclaims'];
const isInteger = (name: string): boolean => integerResources.includes(name) || isExtendedName(name);

/** Validates a resource list of a node; the paths have names as members, as in the reference. */
function checkNodeResources(status: Field): Errors {
  return ['capacity', 'allocatable'].flatMap((list) => entriesOf(at(status, list)).flatMap(({ name, value }) => {
    const place = { path: `status.${list}.${name}`, value };
    return [...checkNatural(place), ...(isInteger(name) ? checkWhole(place) : [])];
  }));
}

const featurePattern = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const MAX_FEATURE_BYTES = 253;

const FEATURE_TEXT = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), "
  + 'and contain only alphanumeric characters and slashes';

function checkFeature({ path, value }: Field): Errors {
  const text = toText(value);
  const refuse = (why: string): Errors => [invalidValue(path, text, `invalid feature name ${JSON.stringify(text)}: ${why}`)];
  if (byteLength(text) > MAX_FEATURE_BYTES) return refuse(`must be no more than ${MAX_FEATURE_BYTES} characters`);
  return featurePattern.test(text) ? [] : refuse(FEATURE_TEXT);
}

/** Validates declaredFeatures: unique and sorted. */
function checkFeatures(list: Field): Errors {
  const features = each(list);
  return features.flatMap((feature, index): Errors => {
    const next = features[index + 1];
    const [text, following] = [toText(feature.value), toText(next?.value)];
    const errors = [...checkFeature(feature)];
    if (next === undefined || text < following) return errors;
    return [...errors, text === following ? duplicate(next.path, following) : invalidValue(next.path, following, 'list must be sorted alphabetically')];
  });
}

/** The swap space of a node, where it is known, is more than none. */
function checkSwap(node: KubeObject): Errors {
  const capacity = readPath(node, 'status', 'nodeInfo', 'swap', 'capacity');
  const isNone = capacity !== undefined && capacity !== null && toNumber(capacity) <= 0;
  return isNone ? [invalidValue('metadata.nodeSwapStatus.capacity', capacity, 'must be greater than zero')] : [];
}

/** Validates the ranges of a node's pods: at most one of each family. */
function checkRanges(node: KubeObject): Errors {
  const ranges = each({ path: 'spec.podCIDRs', value: readPath(node, 'spec', 'podCIDRs') });
  const parsed = ranges.map(({ value }) => parseLenientRange(toText(value)));
  const errors: FieldError[] = ranges.flatMap((place) => checkRange(place));
  const bad = parsed.findIndex((range) => range === undefined);
  if (ranges.length > 1 && bad >= 0) {
    const why = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${toText(ranges[bad]?.value)})`;
    const message = `Internal error: invalid PodCIDRs. failed to check with dual stack with error:${why}`;
    errors.push({ reason: 'InternalError', field: 'spec.podCIDRs', message });
  }
  const isDual = bad < 0 && ranges.length === 2 && parsed[0]?.family !== parsed[1]?.family;
  if (ranges.length > 1 && !isDual) {
    errors.push(invalidValue('spec.podCIDRs', ranges.map(({ value }) => value), 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

/** Validates new nodes. */
function validateNode(node: KubeObject): Errors {
  const status = statusOf(node);
  return [
    ...checkNodeAnnotations(node), ...checkTaints(taintsOf(node)), ...checkNodeResources(status), ...checkSwap(node),
    ...checkFeatures(at(status, 'declaredFeatures')), ...checkRanges(node),
  ];
}

/** An address of a node comes once. */
function checkAddresses(status: Field): Errors {
  const known = new Set<string>();
  return each(at(status, 'addresses')).flatMap(({ path, value }): Errors => {
    const shown = { Type: toText(readPath(value, 'type')), Address: toText(readPath(value, 'address')) };
    const id = JSON.stringify(shown);
    if (known.has(id)) return [duplicate(path, shown)];
    known.add(id);
    return [];
  });
}

/** Ranges of pods, once there are any, stay as they are: one error where their number changes, else one for each that differs. */
function checkSameRanges(node: KubeObject, old: KubeObject): Errors {
  const [now, before] = [toList(readPath(node, 'spec', 'podCIDRs')), toList(readPath(old, 'spec', 'podCIDRs'))];
  if (before.length === 0) return [];
  const differing = now.length === before.length ? now.filter((range, index) => range !== before[index]) : [now];
  return differing.map(() => forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
}

/** Validates what each update of a node keeps to, one of its status as well. */
function validateChange(node: KubeObject, old: KubeObject): Errors {
  const status = statusOf(node);
  const before = (name: string): string => toText(readPath(old, 'spec', name));
  const isChanged = (name: string): boolean => before(name) !== toText(readPath(node, 'spec', name));
  const provider = 'node updates may not change providerID except from "" to valid';
  return [
    ...checkNodeAnnotations(node), ...checkNodeResources(status), ...checkFeatures(at(status, 'declaredFeatures')), ...checkAddresses(status),
    ...checkSameRanges(node, old), ...(before('providerID') !== '' && isChanged('providerID') ? [forbiddenField('spec.providerID', provider)] : []),
    ...checkTaints(taintsOf(node)), ...(isChanged('externalID') ? [forbiddenField('spec.externalID', 'may not be updated')] : []),
  ];
}

/** Validates updates of nodes. Upstream looks at most members twice. */
function validateNodeUpdate(node: KubeObject, old: KubeObject): Errors {
  return [...validateNode(node), ...validateChange(node, old)];
}

/** Warns of deprecated members of nodes. */
function warnOfNode(root: Field): readonly string[] {
  return [
    ...(isFilled(at(root, 'spec', 'configSource')) ? ['spec.configSource: the feature is removed'] : []),
    ...(isFilled(at(root, 'spec', 'externalID')) ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
  ];
}

/** The spec of Node. */
export const nodeKind: KindSpec = {
  kind: 'Node', plural: 'nodes', shortNames: ['no'], cluster: true,
  storagePrefix: 'minions',
  statusOnCreate: true,
  subresources: [connectSubresource('proxy', 'NodeProxyOptions', proxy), status],
  selectableFields: nodeFields,
  columns: nodeColumns,
  gatedFields: ['spec.configSource', 'status.config'],
  applyDefaults: applyNodeDefaults,
  validation: { object: validateNode, update: validateNodeUpdate, status: validateChange },
  warnings: warnWith((root) => [...warnOfNode(root), ...each(at(root, 'spec', 'podCIDRs')).flatMap(warnOfRange)]),
};
