// Strategies of kinds that steer the server: certificates, flow control, extensions and the like.
import { type JsonObject, type KubeObject, equalDeep } from '../../apimachinery/index.ts';
import { type Strategy, type StrategyContext, formatTime } from '../../registry/index.ts';
import { readPath, toList, toObjects, toText } from '../columns/common.ts';
import { ensureStruct, readStructs, setAbsent } from '../defaults/set.ts';
import * as defaults from '../defaults/policies.ts';
import { allUserMetadata, copyMember, prepareWithStatus } from './status.ts';

const separated = prepareWithStatus({ keeps: allUserMetadata });

/** What makes flowschemas special. */
export const flowSchemaStrategy: Strategy = { applyDefaults: defaults.applyFlowSchemaDefaults, ...separated };
/** What makes prioritylevelconfigurations special. */
export const priorityLevelStrategy: Strategy = { applyDefaults: defaults.applyPriorityLevelDefaults, ...separated };
/** What makes apiservices special: those that this server answers itself are available from the first. */
export const apiServiceStrategy: Strategy = {
  applyDefaults: defaults.applyApiServiceDefaults,
  ...prepareWithStatus({
    keeps: allUserMetadata,
    prepareForCreate(apiService, { nowMs }) {
      if (readPath(apiService, 'spec', 'service') !== undefined) return;
      const condition = {
        type: 'Available', status: 'True', lastTransitionTime: formatTime(nowMs), reason: 'Local', message: 'Local APIServices are always available',
      };
      apiService['status'] = { conditions: [condition] };
    },
  }),
};
/** What makes priorityclasses special: their generation begins and stays. */
export const priorityClassStrategy: Strategy = {
  applyDefaults: defaults.applyPriorityClassDefaults,
  prepareForCreate(priorityClass) {
    priorityClass.metadata.generation = 1;
  },
};
/** What makes csidrivers special: they have no generation before they change. */
export const csiDriverStrategy: Strategy = {
  applyDefaults: defaults.applyCsiDriverDefaults,
  prepareForUpdate(driver, old) {
    if (!equalDeep(driver['spec'], old['spec'])) driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
};
/** What makes validatingadmissionpolicies special. */
export const validatingPolicyStrategy: Strategy = { applyDefaults: defaults.applyAdmissionPolicyDefaults, ...separated };
const identifyDevice = (device: JsonObject): string => JSON.stringify(['driver', 'pool', 'device', 'shareID'].map((name) => device[name] ?? ''));

/** What drivers said of devices that are given back is forgotten. */
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

/** What makes resourceclaims special. */
export const resourceClaimStrategy: Strategy = {
  applyDefaults: defaults.applyResourceClaimDefaults,
  ...prepareWithStatus({ keeps: allUserMetadata, prepareForStatus: forgetReturnedDevices }),
};

/** Taints begin when they are first written; who leaves the time out begins anew. */
function stampTaints(slice: KubeObject, nowMs: number): void {
  for (const device of readStructs(readPath(slice, 'spec'), 'devices')) {
    for (const taint of readStructs(device, 'taints')) setAbsent(taint, { timeAdded: formatTime(nowMs) });
  }
}

/** What makes resourceslices special. */
export const resourceSliceStrategy: Strategy = {
  prepareForCreate: (slice, { nowMs }) => stampTaints(slice, nowMs),
  prepareForUpdate: (slice, _, { nowMs }) => stampTaints(slice, nowMs),
};
/** What makes volumeattachments and servicecidrs special. */
export const separatedStrategy: Strategy = separated;

/** The version that stores now belongs to those that were ever stored. */
function addStoredVersion(definition: KubeObject): void {
  const stored = toObjects(readPath(definition, 'spec', 'versions')).find((version) => version['storage'] === true);
  if (stored === undefined) return;
  const status: JsonObject = { ...ensureStruct(definition, 'status') };
  const known = toList(status['storedVersions']);
  const name = toText(stored['name']);
  if (!known.includes(name)) definition['status'] = { ...status, storedVersions: [...known, name] };
}

/** What makes customresourcedefinitions special. */
export const definitionStrategy: Strategy = {
  applyDefaults: defaults.applyDefinitionDefaults,
  ...prepareWithStatus({ keeps: allUserMetadata, prepareForCreate: addStoredVersion, prepareForUpdate: addStoredVersion }),
};

/** The requester is who asked, whatever the body says. */
function stampRequester(request: KubeObject, { user }: StrategyContext): void {
  const { uid: _uid, extra: _extra, ...spec } = ensureStruct(request, 'spec');
  const extra = Object.entries(user.extra ?? {}).map(([key, values]) => [key, [...values]]);
  request['spec'] = {
    ...spec, username: user.name, ...(user.uid && { uid: user.uid }), groups: [...user.groups],
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) as JsonObject }),
  };
}

const decisions = new Set(['Approved', 'Denied']);

/** Times that a client left out: that of the same condition before, or this moment. */
function stampConditions(request: KubeObject, old: KubeObject, nowMs: number): void {
  const before = toObjects(readPath(old, 'status', 'conditions'));
  for (const condition of toObjects(readPath(request, 'status', 'conditions')) as JsonObject[]) {
    if (!condition['lastUpdateTime']) condition['lastUpdateTime'] = formatTime(nowMs);
    if (condition['lastTransitionTime']) continue;
    const same = before.find((other) => other['type'] === condition['type'] && other['status'] === condition['status'] && other['lastTransitionTime']);
    condition['lastTransitionTime'] = same?.['lastTransitionTime'] ?? formatTime(nowMs);
  }
}

/** The status endpoint cannot decide: decisions stay as they were stored. */
function keepDecisions(request: KubeObject, old: KubeObject): void {
  const status = ensureStruct(request, 'status');
  const isDecision = (condition: JsonObject): boolean => decisions.has(toText(condition['type']));
  const kept = toObjects(readPath(old, 'status', 'conditions')).filter(isDecision);
  const others = toObjects(status['conditions']).filter((condition) => !isDecision(condition));
  if (kept.length + others.length > 0) status['conditions'] = [...kept, ...others];
}

const requestStatus = prepareWithStatus({
  prepareForCreate: stampRequester,
  prepareForUpdate: (request, old) => copyMember(request, old, 'spec'),
  prepareForStatus(request, old, { nowMs }) {
    keepDecisions(request, old);
    stampConditions(request, old, nowMs);
  },
});

/** What makes certificatesigningrequests special: who asks is recorded, decisions are made through `approval` only. */
export const signingRequestStrategy: Strategy = {
  ...requestStatus,
  prepareForUpdate(request, old, context) {
    if (context.subresource !== 'approval') {
      requestStatus.prepareForUpdate?.(request, old, context);
      return;
    }
    const conditions = readPath(request, 'status', 'conditions');
    copyMember(request, old, 'spec');
    const { conditions: _before, ...status } = ensureStruct(structuredClone(old), 'status');
    request['status'] = { ...status, ...(conditions !== undefined && conditions !== null && { conditions }) } as JsonObject;
    stampConditions(request, old, context.nowMs);
  },
};
