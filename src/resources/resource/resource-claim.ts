// resource.k8s.io ResourceClaim: a status update removes the device statuses of devices that are no longer allocated.
import { type JsonObject, type KubeObject, equalJson, invalidValue } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { ensureStruct, readPointer } from '../common/defaults.ts';
import { allUserMetadata, prepareWithStatus, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import type { Errors } from '../common/validation/check.ts';
import { readPath, toList, toObjects } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { LISTS_GATE, applyDeviceDefaults, checkClaimSpec, gateClaimSpec } from './claim-spec.ts';
import { validateResourceClaimStatus } from './claim-status.ts';
import { convertClaim } from './convert.ts';
import { showDevicePart } from './structs.ts';

function formatClaimState(object: KubeObject): string {
  const states = object.metadata?.deletionTimestamp === undefined ? [] : ['deleted'];
  if (readPath(object, 'status', 'allocation') === undefined) return states[0] ?? 'pending';
  states.push('allocated');
  if (toList(readPath(object, 'status', 'reservedFor')).length > 0) states.push('reserved');
  return states.join(',');
}

/** Columns of resourceclaims. */
const resourceClaimColumns: readonly Column[] = withNameAndAge(column('State', formatClaimState));

/** Defaults of resourceclaims. */
function applyResourceClaimDefaults(claim: KubeObject): void {
  applyDeviceDefaults(readPointer(claim, 'spec'));
}

const identifyDevice = (device: JsonObject): string => JSON.stringify(['driver', 'pool', 'device', 'shareID'].map((name) => device[name] ?? ''));

/** Removes the statuses of devices that are no longer allocated. */
function forgetReturnedDevices(claim: KubeObject, old: KubeObject): void {
  const status = ensureStruct(claim, 'status');
  if (!Array.isArray(status['devices'])) return;
  const allocated = (one: KubeObject): readonly string[] => toObjects(readPath(one, 'status', 'allocation', 'devices', 'results')).map(identifyDevice);
  const kept = new Set(allocated(claim));
  const returned = new Set(allocated(old).filter((id) => !kept.has(id)));
  const devices = toObjects(status['devices']).filter((device) => !returned.has(identifyDevice(device)));
  if (devices.length > 0) status['devices'] = devices;
  else delete status['devices'];
}

/** Validates resourceclaims. */
function validateResourceClaim(claim: KubeObject): Errors {
  return checkClaimSpec({ path: 'spec', value: claim['spec'] });
}

/** Validates updates of resourceclaims: the spec never changes. */
function validateResourceClaimUpdate(claim: KubeObject, old: KubeObject): Errors {
  const [after, before] = [claim, old].map((one) => showDevicePart('ResourceClaimSpec', one['spec']));
  return equalJson(after, before) ? [] : [invalidValue('spec', after, 'field is immutable')];
}

const inResults = (name: string): string => `status.allocation.devices.results[].${name}`;

/** The spec of ResourceClaim. */
export const resourceClaimKind: KindSpec = {
  kind: 'ResourceClaim', plural: 'resourceclaims', returnsDeleted: true,
  versions: ['v1', 'v1beta2', 'v1beta1'], convert: convertClaim, actsAsStored: true,
  subresources: [status],
  resetFields: statusOnlyResets,
  columns: resourceClaimColumns,
  applyDefaults: applyResourceClaimDefaults,
  strategy: prepareWithStatus({ keeps: allUserMetadata, prepareForStatus: forgetReturnedDevices }),
  gatedFields: [
    ...gateClaimSpec('spec', 'status.devices[].shareID', ...['shareID', 'consumedCapacity'].map(inResults)),
    ['DRAResourceClaimDeviceStatus', 'status.devices'],
    ['DRADeviceBindingConditions', ...['bindingConditions', 'bindingFailureConditions'].map(inResults)],
  ],
  ruleGates: [LISTS_GATE],
  validation: { object: validateResourceClaim, update: validateResourceClaimUpdate, status: validateResourceClaimStatus, usesExpressions: true },
};
