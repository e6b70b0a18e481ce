// Validation of ResourceSlices: the devices of a pool, their attributes and capacity, and the nodes that reach them.
import {
  type FieldError, type KubeObject, byteLength, checkDnsSubdomain, checkLabelValue, checkQualifiedName, equalJson, invalidValue, notFoundValue, required,
  tooLong, tooMany,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkImmutable, checkText, each, isEmptyText, isGiven, isWrong } from '../common/validation/check.ts';
import { checkDriverName } from '../common/validation/driver-names.ts';
import { checkNativeName, compareAt, entriesOf, showQuantity } from '../common/validation/quantities.ts';
import { readPath, toInteger, toList, toObject, toObjects, toText } from '../common/values.ts';
import { checkNodeSelector } from '../core/pods/validation/scheduling.ts';
import { checkCapacity } from './capacity.ts';
import {
  MAX_DRIVER_BYTES, MAX_IDENTIFIER_BYTES, byName, checkAttributeName, checkBinding, checkEffect, checkItems, checkLabel, checkPool, checkSet,
} from './parts.ts';
import { showDevicePart } from './structs.ts';

const MAX_DEVICES = 128;

/** The limit of slices whose devices have taints, shared counters or lists of attributes. */
const MAX_RICH_DEVICES = 64;

const MAX_COUNTER_SETS = 8;
const MAX_COUNTERS = 32;
const MAX_CONSUMED = 2;
const MAX_ATTRIBUTES = 32;
const MAX_ATTRIBUTE_VALUES = 48;
const MAX_VALUE_BYTES = 64;
const MAX_TAINTS = 16;
const attributeLists = ['bools', 'ints', 'strings', 'versions'];
const MAX_KEY_BYTES = MAX_DRIVER_BYTES + 1 + MAX_IDENTIFIER_BYTES;

/** A key in a path: long keys are shortened to both ends. */
function shortenKey(key: string, maxBytes: number): string {
  if (key.length <= maxBytes) return key;
  const remaining = maxBytes - 3;
  return `${key.slice(0, (remaining + 1) >> 1)}...${key.slice(key.length - (remaining >> 1))}`;
}

/** The rules of the entries of a map. */
interface MapRules {
  readonly key: (place: Field) => Errors;
  readonly value: (place: Field) => Errors;
  readonly maxKeyBytes: number;
}

function checkEntries(map: Field, { key, value, maxKeyBytes: max }: MapRules): Errors {
  return Object.entries(toObject(map.value)).sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, inner]) => [
    ...key({ path: map.path, value: name }), ...value({ path: `${map.path}[${shortenKey(name, max)}]`, value: inner }),
  ]);
}

const NUMBER = '(?:0|[1-9]\\d*)';
const BEFORE = `(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const BUILD = '[0-9a-zA-Z-]+';
const semver = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${BEFORE}(?:\\.${BEFORE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`);
const checkValueLength = ({ path, value }: Field): FieldError[] => (byteLength(toText(value)) > MAX_VALUE_BYTES ? [tooLong(path, MAX_VALUE_BYTES)] : []);

function checkVersion(version: Field): Errors {
  const isVersion = semver.test(toText(version.value));
  return [...(isVersion ? [] : [isWrong(version, 'must be a string compatible with semver.org spec 2.0.0')]), ...checkValueLength(version)];
}

function checkAttribute(attribute: Field): Errors {
  const [string, version] = [at(attribute, 'string'), at(attribute, 'version')];
  const errors: FieldError[] = [...(isGiven(string) ? checkValueLength(string) : []), ...(isGiven(version) ? checkVersion(version) : [])];
  for (const name of attributeLists) {
    const list = at(attribute, name);
    if (!isGiven(list)) continue;
    if (toList(list.value).length === 0) errors.push(isWrong(list, 'must not be empty if specified'));
    if (name === 'strings') errors.push(...each(list).flatMap(checkValueLength));
    if (name === 'versions') errors.push(...each(list).flatMap(checkVersion));
  }
  const count = ['int', 'bool', 'string', 'version', ...attributeLists].filter((name) => isGiven(at(attribute, name))).length;
  if (count === 1) return errors;
  const shown = count === 0 ? '' : showDevicePart('DeviceAttribute', attribute.value);
  return [...errors, invalidValue(attribute.path, shown, 'exactly one value must be specified')];
}

function checkAttributeCounts(device: Field): Errors {
  const attributes = Object.values(toObject(at(device, 'attributes').value));
  const count = attributes.length + Object.keys(toObject(at(device, 'capacity').value)).length;
  const values = attributes.reduce((sum: number, attribute) => {
    const listed = attributeLists.reduce((length, name) => length + toList(readPath(attribute, name)).length, 0);
    return sum + Math.max(listed, 1);
  }, 0);
  const tooManyOf = (what: string, number: number, max: number): Errors =>
    (number > max ? [invalidValue(device.path, number, `the total number of ${what} must not exceed ${max}`)] : []);
  return [...tooManyOf('attributes and capacities', count, MAX_ATTRIBUTES), ...tooManyOf('attribute values', values, MAX_ATTRIBUTE_VALUES)];
}

function checkTaint(taint: Field): Errors {
  const [value, effect] = [at(taint, 'value'), at(taint, 'effect')];
  return [
    ...checkText(at(taint, 'key'), checkQualifiedName), ...checkText(value, checkLabelValue),
    ...(isEmptyText(effect) ? [required(effect.path)] : checkEffect(effect)),
  ];
}

function checkCounters(holder: Field, name: string): Errors {
  const counters = at(holder, 'counters');
  const count = Object.keys(toObject(counters.value)).length;
  const errors: Errors = isEmptyText(at(holder, name)) ? [required(at(holder, name).path)] : checkLabel(at(holder, name));
  if (count === 0) return [...errors, required(counters.path)];
  if (count > MAX_COUNTERS) return [...errors, tooMany(counters.path, count, MAX_COUNTERS)];
  return [...errors, ...checkEntries(counters, { key: checkLabel, value: () => [], maxKeyBytes: MAX_DRIVER_BYTES })];
}

/** A choice of nodes: its members, and the message when none is given. */
interface NodeChoice {
  readonly fields: readonly string[];
  readonly emptyName: string;
  readonly none: string;
  readonly several: string;
  /** A node selector has exactly one term. */
  readonly hasOneTerm?: true;
}

function checkOneTerm(selector: Field): Errors {
  const terms = at(selector, 'nodeSelectorTerms');
  if (toList(terms.value).length === 1) return [];
  const shown = isGiven(terms) ? toList(terms.value).map((term) => showDevicePart('NodeSelectorTerm', term)) : null;
  return [invalidValue(terms.path, shown, 'must have exactly one node selector term')];
}

/** Exactly one of the members that select nodes is given. */
function checkNodeChoice(holder: Field, { fields, emptyName, none, several, hasOneTerm }: NodeChoice): Errors {
  const errors: FieldError[] = [];
  const given = fields.filter((name) => {
    const place = at(holder, name);
    if (!isGiven(place)) return false;
    if (name === 'nodeName' && place.value === '') errors.push(isWrong(place, emptyName));
    else if (name === 'nodeName') errors.push(...checkText(place, checkDnsSubdomain));
    else if (name === 'nodeSelector') errors.push(...checkNodeSelector(place), ...(hasOneTerm ? checkOneTerm(place) : []));
    else if (place.value !== true) errors.push(isWrong(place, 'must be either unset or set to true'));
    return name === 'nodeSelector' || (place.value !== '' && place.value !== false);
  });
  if (given.length === 0) return [...errors, required(holder.path, none)];
  return given.length === 1 ? errors : [...errors, invalidValue(holder.path, `{${given.map((name) => `\`${name}\``).join(', ')}}`, several)];
}

const DEVICE_CHOICE = 'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

const deviceNodes: NodeChoice = {
  fields: ['nodeName', 'nodeSelector', 'allNodes'], emptyName: 'must not be empty', none: DEVICE_CHOICE, several: DEVICE_CHOICE,
};

const SLICE_CHOICE = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

const sliceNodes: NodeChoice = {
  fields: ['nodeName', 'nodeSelector', 'allNodes', 'perDeviceNodeSelection'], emptyName: 'must be either unset or set to a non-empty string',
  none: SLICE_CHOICE, hasOneTerm: true, several: `${SLICE_CHOICE}, but multiple fields are set`,
};

function checkDeviceNodes(device: Field, isPerDevice: boolean): Errors {
  if (isPerDevice) return checkNodeChoice(device, deviceNodes);
  const text = '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  return deviceNodes.fields.some((name) => isGiven(at(device, name))) ? [invalidValue(device.path, undefined, text)] : [];
}

/** The parts of a slice that the checks of its devices use. */
interface DeviceContext {
  readonly isPerDevice: boolean;
  /** The stored devices, by name. */
  readonly stored: ReadonlyMap<string, unknown>;
}

function checkDevice(device: Field, { isPerDevice, stored }: DeviceContext): Errors {
  const isShared = at(device, 'allowMultipleAllocations').value === true;
  const [taints, consumed] = [at(device, 'taints'), at(device, 'consumesCounters')];
  const isTainted = !equalJson(taints.value ?? null, readPath(stored.get(byName(device)), 'taints') ?? null);
  const keys = { key: checkAttributeName, maxKeyBytes: MAX_KEY_BYTES };
  return [
    ...checkLabel(at(device, 'name')), ...checkAttributeCounts(device), ...checkEntries(at(device, 'attributes'), { ...keys, value: checkAttribute }),
    ...checkEntries(at(device, 'capacity'), { ...keys, value: (capacity) => checkCapacity(capacity, isShared) }),
    ...(isTainted ? checkItems(taints, MAX_TAINTS, checkTaint) : []),
    ...checkSet(consumed, MAX_CONSUMED, { check: (one) => checkCounters(one, 'counterSet'), keyOf: (one) => toText(at(one, 'counterSet').value) }),
    ...checkDeviceNodes(device, isPerDevice), ...checkBinding(device), ...checkMappings(device),
  ];
}

/** How much of a resource of the node a device takes: a factor, or the name of one of its capacities. */
function checkMapping(mapping: Field, capacities: object): Errors {
  const [factor, capacity] = [at(mapping, 'allocationMultiplier'), at(mapping, 'capacityKey')];
  if (!isGiven(factor) && !isGiven(capacity)) return [invalidValue(mapping.path, '', 'at least one of allocationMultiplier or capacityKey must be set')];
  const errors: FieldError[] = [];
  if (isGiven(factor) && compareAt(factor, { path: '', value: 0 }) <= 0) errors.push(invalidValue(factor.path, showQuantity(factor), 'must be positive'));
  if (!isGiven(capacity)) return errors;
  if (capacity.value === '') errors.push(invalidValue(capacity.path, '', 'capacityKey must not be an empty string'));
  else if (!Object.hasOwn(capacities, toText(capacity.value))) errors.push(notFoundValue(capacity.path, capacity.value));
  return errors;
}

function checkMappings(device: Field): Errors {
  const capacities = toObject(at(device, 'capacity').value);
  return entriesOf(at(device, 'nodeAllocatableResourceMappings')).flatMap((mapping) => [...checkNativeName(mapping), ...checkMapping(mapping, capacities)]);
}

function checkSlicePool(pool: Field): Errors {
  const number = (name: string): number | bigint => toInteger(at(pool, name).value);
  const count = number('resourceSliceCount');
  const generation = number('generation');
  return [
    ...checkPool(at(pool, 'name')), ...(count <= 0 ? [invalidValue(at(pool, 'resourceSliceCount').path, count, 'must be greater than zero')] : []),
    ...(generation < 0 ? [invalidValue(at(pool, 'generation').path, generation, 'must be greater than or equal to zero')] : []),
  ];
}

function isRich(device: unknown): boolean {
  const attributes = Object.values(toObject(readPath(device, 'attributes')));
  const hasLists = attributes.some((attribute) => attributeLists.some((name) => readPath(attribute, name) !== undefined));
  return hasLists || ['taints', 'consumesCounters'].some((name) => toList(readPath(device, name)).length > 0);
}

function checkSlice(slice: KubeObject, old: KubeObject | undefined): Errors {
  const spec: Field = { path: 'spec', value: slice['spec'] };
  const before: Field = { path: 'spec', value: old?.['spec'] };
  const [devices, counters] = [at(spec, 'devices'), at(spec, 'sharedCounters')];
  const sealed = [['pool', 'name'], ['driver'], ['nodeName']];
  const stored = new Map(toObjects(at(before, 'devices').value).map((device) => [toText(device['name']), device as unknown]));
  const context = { isPerDevice: at(spec, 'perDeviceNodeSelection').value === true, stored };
  const max = toObjects(devices.value).some(isRich) ? MAX_RICH_DEVICES : MAX_DEVICES;
  const isBoth = isGiven(counters) && isGiven(devices);
  return [
    ...checkDriverName(at(spec, 'driver')), ...checkSlicePool(at(spec, 'pool')),
    ...(old === undefined ? [] : sealed.flatMap((names) => checkImmutable(at(spec, ...names), at(before, ...names)))),
    ...checkNodeChoice(spec, sliceNodes),
    ...(isBoth ? [invalidValue(spec.path, '', 'only one of `sharedCounters` or `devices` is allowed')] : []),
    ...checkSet(devices, max, { check: (device) => checkDevice(device, context), keyOf: byName }),
    ...checkSet(counters, MAX_COUNTER_SETS, { check: (set) => checkCounters(set, 'name'), keyOf: byName }),
  ];
}

/** Validates resourceslices. */
export const validateResourceSlice = (slice: KubeObject): Errors => checkSlice(slice, undefined);

/** Validates updates of resourceslices: driver, pool and node never change. */
export const validateResourceSliceUpdate = (slice: KubeObject, old: KubeObject): Errors => checkSlice(slice, old);
