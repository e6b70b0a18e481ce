// resource.k8s.io ResourceSlice: the server sets the time of new taints.
import { type KubeObject, equalJson } from '../../apimachinery/index.ts';
import { type Column, formatTime } from '../../registry/index.ts';
import { textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { ensureStruct, readPointer, readStructs, setAbsent } from '../common/defaults.ts';
import { textFields } from '../common/selectable-fields.ts';
import type { Field } from '../common/validation/check.ts';
import { readPath, toObject, toObjects, toText } from '../common/values.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { convertSlice } from './convert.ts';
import { validateResourceSlice, validateResourceSliceUpdate } from './slice-validation.ts';

/** Columns of resourceslices. */
const resourceSliceColumns: readonly Column[] = withNameAndAge(
  textColumn('Node', 'spec', 'nodeName'),
  textColumn('Driver', 'spec', 'driver'),
  textColumn('Pool', 'spec', 'pool', 'name'),
);
const resourceSliceFields = textFields('spec.nodeName', 'spec.driver');

/** Sets the time of taints that come without one. */
function stampTaints(slice: KubeObject, nowMs: number): void {
  for (const device of readStructs(readPath(slice, 'spec'), 'devices')) {
    for (const taint of readStructs(device, 'taints')) setAbsent(taint, { timeAdded: formatTime(nowMs) });
  }
}

/** The factor of a mapping to a resource of the node is 1 where the mapping states none. */
function applySliceDefaults(slice: KubeObject): void {
  for (const device of readStructs(readPath(slice, 'spec'), 'devices')) {
    // v1beta1 has the parts of a device in a struct of their own.
    for (const holder of [device, readPointer(device, 'basic')]) {
      const mappings = readPointer(holder ?? {}, 'nodeAllocatableResourceMappings') ?? {};
      for (const name of Object.keys(mappings)) setAbsent(ensureStruct(mappings, name), { allocationMultiplier: '1' });
    }
  }
}

/** Warns of driver names with capitals. */
function warnOfDriver(root: Field): readonly string[] {
  const driver = toText(readPath(root.value, 'spec', 'driver'));
  return driver === driver.toLowerCase() ? [] : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
}

const gatedLists = ['ints', 'bools', 'strings', 'versions'];

const partitionFields = ['consumesCounters', 'nodeName', 'nodeSelector', 'allNodes'];
const bindingFields = ['bindingConditions', 'bindingFailureConditions', 'bindsToNode'];

const pickFields = (holder: unknown, names: readonly string[]): unknown[] => names.map((name) => {
  const value = readPath(holder, name) ?? null;
  return Array.isArray(value) && value.length === 0 ? null : value;
});

/** What slices say with features that can be off. Upstream drops it from an update once it has counted that as a change. */
const listGated = (slice: KubeObject): unknown[] => [
  ...pickFields(slice['spec'], ['sharedCounters', 'perDeviceNodeSelection']),
  ...toObjects(readPath(slice, 'spec', 'devices')).map((device) => [
    pickFields(device, ['nodeAllocatableResourceMappings', 'taints', 'allowMultipleAllocations', ...partitionFields, ...bindingFields]),
    Object.entries(toObject(device['capacity'])).map(([name, capacity]) => [name, pickFields(capacity, ['requestPolicy'])]).sort(),
    Object.fromEntries(Object.entries(toObject(device['attributes'])).map(([name, attribute]) => [name, pickFields(attribute, gatedLists)])),
  ]),
];

/** The spec of ResourceSlice. */
export const resourceSliceKind: KindSpec = {
  kind: 'ResourceSlice', plural: 'resourceslices', returnsDeleted: true, cluster: true,
  versions: ['v1', 'v1beta2', 'v1beta1'], convert: convertSlice, actsAsStored: true,
  tracksGeneration: true,
  selectableFields: resourceSliceFields,
  unknownField: (field, version) => `field label not supported for resource.k8s.io/${version}, Kind=ResourceSlice: ${field}`,
  metadataChecks: ['update', 'kind'],
  columns: resourceSliceColumns,
  gatedFields: [
    ['DRAListTypeAttributes', ...gatedLists.map((list) => `spec.devices[].attributes{}.${list}`)],
    ['DRANodeAllocatableResources', 'spec.devices[].nodeAllocatableResourceMappings'],
    ['DRAPartitionableDevices', 'spec.sharedCounters', 'spec.perDeviceNodeSelection', ...partitionFields.map((name) => `spec.devices[].${name}`)],
    ['DRADeviceTaints', 'spec.devices[].taints'],
    ['DRAConsumableCapacity', 'spec.devices[].allowMultipleAllocations', 'spec.devices[].capacity{}.requestPolicy'],
    ['DRADeviceBindingConditions', ...bindingFields.map((name) => `spec.devices[].${name}`)],
  ],
  countsDropped: true,
  applyDefaults: applySliceDefaults,
  strategy: {
    prepareForCreate: (slice, { nowMs }) => stampTaints(slice, nowMs),
    prepareForUpdate(slice, old, { nowMs }) {
      stampTaints(slice, nowMs);
      if (!equalJson(listGated(slice), listGated(old))) slice.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
  },
  validation: { object: validateResourceSlice, update: validateResourceSliceUpdate },
  warnings: warnWith(warnOfDriver),
};
