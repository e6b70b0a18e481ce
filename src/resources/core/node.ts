// core/v1 Node: columns, defaults, and the fields that an update may set once.
import {
  type FieldError, type JsonObject, type KubeObject, byteLength, checkLabelValue, checkQualifiedName, duplicate, equalJson, forbiddenField,
  invalidValue, notSupported, parseLenientRange, quoteValue, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn, textColumn, textOr, wideColumn } from '../common/columns/columns.ts';
import { readPointer, roundResources } from '../common/defaults.ts';
import { boolAt } from '../common/selectable-fields.ts';
import { connectSubresource, proxy, status } from '../common/subresources.ts';
import { checkRange } from '../common/validation/addresses.ts';
import { type Errors, type Field, at, checkText, each, isFilled } from '../common/validation/check.ts';
import { checkNatural, checkWhole, entriesOf } from '../common/validation/quantities.ts';
import { readPath, toList, toObject, toObjects, toText } from '../common/values.ts';
import { warnOfRange } from '../common/warnings/addresses.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { isExtendedName } from './pods/validation/resources.ts';

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

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function checkTaint(taint: Field, known: Set<string>): Errors {
  const value = at(taint, 'value');
  const effect = at(taint, 'effect');
  const key = toText(readPath(taint.value, 'key'));
  const text = toText(effect.value);
  const problems = checkLabelValue(toText(value.value));
  const errors: FieldError[] = [...checkText(at(taint, 'key'), checkQualifiedName)];
  if (problems.length > 0) errors.push(invalidValue(value.path, value.value, problems.join(';')));
  if (text === '') errors.push(required(effect.path));
  else if (!effects.includes(text)) errors.push(notSupported(effect.path, text, effects, true));
  const id = `${text} ${key}`;
  if (known.has(id)) {
    const shown = { Key: key, Value: toText(value.value), Effect: text, TimeAdded: readPath(taint.value, 'timeAdded') ?? null };
    errors.push({
      reason: 'FieldValueDuplicate', field: taint.path, message: `Duplicate value: ${quoteValue(shown)}: taints must be unique by key and effect pair`,
    });
  }
  known.add(id);
  return errors;
}

function checkTaints(node: KubeObject): Errors {
  const known = new Set<string>();
  return each({ path: 'metadata.taints', value: readPath(node, 'spec', 'taints') }).flatMap((taint) => checkTaint(taint, known));
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

/** Validates what the status path of nodes writes. */
function validateNodeStatus(node: KubeObject): Errors {
  const status: Field = { path: 'status', value: node['status'] };
  const known = new Set<string>();
  const repeated = each(at(status, 'addresses')).flatMap(({ path, value }): Errors => {
    const shown = { Type: toText(readPath(value, 'type')), Address: toText(readPath(value, 'address')) };
    const id = JSON.stringify(shown);
    if (known.has(id)) return [duplicate(path, shown)];
    known.add(id);
    return [];
  });
  return [...checkNodeResources(status), ...checkFeatures(at(status, 'declaredFeatures')), ...repeated];
}

/** Validates new nodes. */
function validateNode(node: KubeObject): Errors {
  const ranges = each({ path: 'spec.podCIDRs', value: readPath(node, 'spec', 'podCIDRs') });
  const parsed = ranges.map(({ value }) => parseLenientRange(toText(value)));
  const status: Field = { path: 'status', value: node['status'] };
  const errors: FieldError[] = [...checkTaints(node), ...checkNodeResources(status), ...ranges.flatMap((place) => checkRange(place))];
  errors.push(...checkFeatures(at(status, 'declaredFeatures')));
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

/** Validates updates of nodes. */
function validateNodeUpdate(node: KubeObject, old: KubeObject): Errors {
  const before = toList(readPath(old, 'spec', 'podCIDRs'));
  const provider = toText(readPath(old, 'spec', 'providerID'));
  const errors: FieldError[] = [...validateNode(node)];
  if (before.length > 0 && !equalJson(before, toList(readPath(node, 'spec', 'podCIDRs')))) {
    errors.push(forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (provider !== '' && provider !== toText(readPath(node, 'spec', 'providerID'))) {
    errors.push(forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  // Upstream looks at the taints again.
  errors.push(...checkTaints(node));
  const isRenamed = toText(readPath(old, 'spec', 'externalID')) !== toText(readPath(node, 'spec', 'externalID'));
  return isRenamed ? [...errors, forbiddenField('spec.externalID', 'may not be updated')] : errors;
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
  validation: { object: validateNode, update: validateNodeUpdate, status: validateNodeStatus },
  warnings: warnWith((root) => [...warnOfNode(root), ...each(at(root, 'spec', 'podCIDRs')).flatMap(warnOfRange)]),
};
