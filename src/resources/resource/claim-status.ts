// Validation of the status of ResourceClaims: consumers, allocated devices, and device statuses of drivers.
import {
  type FieldError, type KubeObject, byteLength, equalJson, forbiddenField, formatIpAddress, invalidValue, parseIpAddress, required, tooLong, tooMany,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkOneOf, checkRequired, isEmptyText, isGiven, sortMembers } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { checkDriverName } from '../common/validation/driver-names.ts';
import { readPath, toList, toObjects, toText } from '../common/values.ts';
import { checkNodeSelector } from '../core/pods/validation/scheduling.ts';
import { type RequestNames, MAX_CONFIGS, checkReferences, checkRequestReference, namesOfRequests } from './claim-spec.ts';
import { checkBinding, checkConfiguration, checkItems, checkLabel, checkPool, checkRawObject, checkSet, itself } from './parts.ts';
import { showDevicePart } from './structs.ts';
import { checkUuid } from './uuid.ts';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONDITIONS = 8;
const MAX_ADDRESSES = 16;
const MAX_INTERFACE_BYTES = 256;
const MAX_HARDWARE_BYTES = 128;

/** The prefix of an IPv4-mapped IPv6 address. */
const MAPPED_PREFIX = 0xffffn;

const identify = (device: unknown): unknown => showDevicePart('SharedDeviceID', device);

function checkConsumer(consumer: Field): Errors {
  return ['resource', 'name', 'uid'].flatMap((name) => checkRequired(at(consumer, name)));
}

function checkShare(holder: Field): Errors {
  const share = at(holder, 'shareID');
  return isGiven(share) ? checkUuid(share) : [];
}

/** The address of an interface with its prefix length, in canonical form. */
function checkInterfaceAddress({ path, value }: Field): Errors {
  const text = toText(value);
  const [, host = '', length = ''] = /^([^/]*)\/([0-9]+)$/.exec(text) ?? [];
  const plain = /^[0-9.]+$/.test(host) ? host.split('.').map((part) => part.replace(/^0+(?=[0-9])/, '')).join('.') : host;
  const address = parseIpAddress(plain);
  const bits = Number(length);
  if (length === '' || address === undefined || bits > (address.family === 'IPv4' ? 32 : 128)) {
    return [invalidValue(path, text, 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)')];
  }
  const isMapped = address.family === 'IPv6' && address.value >> 32n === MAPPED_PREFIX;
  const plainAddress = isMapped ? { family: 'IPv4', value: address.value & 0xffff_ffffn } as const : address;
  const canonical = `${formatIpAddress(plainAddress)}/${isMapped && bits > 32 ? bits - 96 : bits}`;
  return text === canonical ? [] : [invalidValue(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}

function checkNetwork(network: Field): Errors {
  const limits = [['interfaceName', MAX_INTERFACE_BYTES], ['hardwareAddress', MAX_HARDWARE_BYTES]] as const;
  return [
    ...limits.flatMap(([name, max]) => {
      const { path, value } = at(network, name);
      return byteLength(toText(value)) > max ? [tooLong(path, max)] : [];
    }),
    ...checkSet(at(network, 'ips'), MAX_ADDRESSES, { check: checkInterfaceAddress, keyOf: itself }),
  ];
}

function checkDevice(device: Field, allocated: ReadonlySet<string>): Errors {
  const [conditions, data] = [at(device, 'conditions'), at(device, 'data')];
  const count = toList(conditions.value).length;
  const id = identify(device.value);
  return [
    ...checkDriverName(at(device, 'driver')), ...checkPool(at(device, 'pool')), ...checkLabel(at(device, 'device')), ...checkShare(device),
    ...(allocated.has(JSON.stringify(id)) ? [] : [invalidValue(device.path, id, 'must be an allocated device in the claim')]),
    ...(count > MAX_CONDITIONS ? [tooMany(conditions.path, count, MAX_CONDITIONS)] : []), ...checkConditions(conditions),
    ...(isGiven(data) ? checkRawObject(data) : []), ...checkNetwork(at(device, 'networkData')),
  ];
}

function checkResult(result: Field, names: RequestNames): Errors {
  return [
    ...checkRequestReference(at(result, 'request'), names), ...checkDriverName(at(result, 'driver')), ...checkPool(at(result, 'pool')),
    ...checkLabel(at(result, 'device')), ...checkBinding(result), ...checkShare(result),
  ];
}

function checkConfig(config: Field, names: RequestNames): Errors {
  const source = at(config, 'source');
  return [
    ...(isEmptyText(source) ? [required(source.path)] : checkOneOf(source, ['FromClaim', 'FromClass'])), ...checkReferences(config, names),
    ...checkConfiguration(config),
  ];
}

function checkAllocation(allocation: Field, names: RequestNames): Errors {
  const devices = at(allocation, 'devices');
  return [
    ...checkItems(at(devices, 'results'), MAX_RESULTS, (result) => checkResult(result, names)),
    ...checkItems(at(devices, 'config'), 2 * MAX_CONFIGS, (config) => checkConfig(config, names)), ...checkNodeSelector(at(allocation, 'nodeSelector')),
  ];
}

/** An allocation cannot change, only be removed. */
function checkAllocationUpdate(allocation: Field, old: unknown, names: RequestNames): Errors {
  if (!isGiven(allocation)) return [];
  if (old === undefined || old === null) return checkAllocation(allocation, names);
  const [after, before] = [allocation.value, old].map((value) => showDevicePart('AllocationResult', value));
  return equalJson(after, before) ? [] : [invalidValue(allocation.path, after, 'field is immutable')];
}

function checkReservations(status: Field, claim: KubeObject, old: KubeObject): Errors {
  const consumers = at(status, 'reservedFor');
  if (toList(consumers.value).length === 0) return [];
  if (!isGiven(at(status, 'allocation'))) return [forbiddenField(consumers.path, 'may not be specified when `allocated` is not set')];
  if (claim.metadata.deletionTimestamp === undefined) return [];
  const idOf = (consumer: unknown): string => JSON.stringify(sortMembers(consumer));
  const known = new Set(toObjects(readPath(old, 'status', 'reservedFor')).map(idOf));
  const hasNew = toObjects(consumers.value).some((consumer) => !known.has(idOf(consumer)));
  const text = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return hasNew ? [forbiddenField(consumers.path, text)] : [];
}

/** Validates what the status path of resourceclaims writes. */
export function validateResourceClaimStatus(claim: KubeObject, old: KubeObject): Errors {
  const status: Field = { path: 'status', value: claim['status'] };
  const results = toObjects(readPath(status.value, 'allocation', 'devices', 'results'));
  const allocated = new Set(results.map((result) => JSON.stringify(identify(result))));
  const errors: FieldError[] = [
    ...checkSet(at(status, 'reservedFor'), MAX_CONSUMERS, { check: checkConsumer, keyOf: (consumer) => toText(at(consumer, 'uid').value) }),
    ...checkSet(at(status, 'devices'), Infinity, { check: (device) => checkDevice(device, allocated), keyOf: ({ value }) => identify(value) }),
  ];
  return [
    ...errors, ...checkReservations(status, claim, old),
    ...checkAllocationUpdate(at(status, 'allocation'), readPath(old, 'status', 'allocation'), namesOfRequests(claim['spec'])),
  ];
}
