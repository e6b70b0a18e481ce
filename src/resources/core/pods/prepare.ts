// What the server decides about a pod at creation, and which part of a pod each of its paths may write.
import type { JsonObject, KubeObject } from '../../../apimachinery/index.ts';
import { formatTime } from '../../../registry/index.ts';
import { readStructs, setZero } from '../../common/defaults.ts';
import { copyMember, keepAllButStatus, keepMetadata } from '../../common/status.ts';
import { readPath, toObject, toObjects, toText } from '../../common/values.ts';
import { computeQosClass } from './qos.ts';

const gatedCondition = {
  type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message: 'Scheduling is blocked due to non-empty scheduling gates',
};

/** The status of a new pod. */
export function makeStatus(spec: JsonObject, stated: unknown, nowMs: number): JsonObject {
  const status: JsonObject = { phase: 'Pending' };
  if (toObjects(spec['schedulingGates']).length > 0) status['conditions'] = [{ ...gatedCondition, lastProbeTime: null, lastTransitionTime: formatTime(nowMs) }];
  status['qosClass'] = toText(readPath(stated, 'qosClass')) || computeQosClass(spec);
  return status;
}

/** The stored containers with the resources and resize policies of the new ones; the new ones as they are where their names or order differ. */
function takeResources(wanted: unknown, old: unknown): unknown {
  const [changes, stored] = [toObjects(wanted), toObjects(old)];
  if (changes.some((change, index) => change['name'] !== stored[index]?.['name'])) return wanted;
  return stored.map((container, index) => {
    const { resources: _resources, resizePolicy: _policy, ...kept } = container;
    const { resources, resizePolicy } = changes[index] as JsonObject;
    return { ...kept, ...(resources !== undefined && { resources }), ...(resizePolicy !== undefined && { resizePolicy }) };
  });
}

/** Metadata that the paths of a pod's parts do not write. */
const keptMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'selfLink'] as const;

/** Replaces everything but the identity of a pod by what is stored. */
function keepAll(pod: KubeObject, old: KubeObject): void {
  keepAllButStatus(pod, old);
  copyMember(pod, old, 'status');
  keepMetadata(pod, old, keptMetadata);
}

/** Replaces all but the resources of the pod and its containers by what is stored; containers that were added or removed are left to validation. */
export function takeResize(object: KubeObject, old: KubeObject): void {
  const [wanted, stored] = [toObject(object['spec']), toObject(old['spec'])];
  const lists = ['containers', 'initContainers'];
  if (lists.some((list) => toObjects(wanted[list]).length !== toObjects(stored[list]).length)) return;
  const { resources: _, ...spec } = structuredClone(stored);
  keepAll(object, old);
  for (const list of lists) if (spec[list] !== undefined) spec[list] = takeResources(wanted[list], spec[list]) as JsonObject[];
  object['spec'] = wanted['resources'] === undefined ? spec : { ...spec, resources: wanted['resources'] };
}

/** Replaces the spec by the stored one with the ephemeral containers of the new one. */
export function takeEphemeralContainers(object: KubeObject, old: KubeObject): void {
  const containers = readPath(object['spec'], 'ephemeralContainers');
  keepAll(object, old);
  const { ephemeralContainers: _, ...spec } = toObject(old['spec']);
  object['spec'] = containers === undefined ? spec : { ...spec, ephemeralContainers: containers };
}

/** Seconds of grace for a delete; pods that are not scheduled or have finished are removed at once. */
export function readGrace(pod: KubeObject, requested: number | undefined): number {
  const phase = readPath(pod, 'status', 'phase');
  if (toText(readPath(pod, 'spec', 'nodeName')) === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  const own = readPath(pod, 'spec', 'terminationGracePeriodSeconds');
  const seconds = requested ?? (typeof own === 'number' ? own : 0);
  return seconds < 0 ? 1 : seconds;
}

/** Keeps members of a status that an older kubelet leaves out. */
export function keepFromStatus(status: JsonObject, old: JsonObject): void {
  if (old['qosClass'] !== undefined) setZero(status, { qosClass: old['qosClass'] });
  if (old['observedGeneration'] !== undefined) setZero(status, { observedGeneration: old['observedGeneration'] });
  // Types may repeat: the first of a type corresponds to the first stored one, and so on.
  const before = new Map<unknown, JsonObject[]>();
  for (const condition of readStructs(old, 'conditions')) {
    const same = before.get(condition['type']);
    if (same === undefined) before.set(condition['type'], [condition]);
    else same.push(condition);
  }
  const seen = new Map<unknown, number>();
  for (const condition of readStructs(status, 'conditions')) {
    const rank = seen.get(condition['type']) ?? 0;
    seen.set(condition['type'], rank + 1);
    const generation = before.get(condition['type'])?.[rank]?.['observedGeneration'];
    if (generation !== undefined) setZero(condition, { observedGeneration: generation });
  }
}

/** Keeps podIP and the first of podIPs equal; where they differ, podIP has precedence. */
export function mirrorAddresses(status: JsonObject | undefined): void {
  if (status === undefined) return;
  const ip = toText(status['podIP']);
  const [first] = toObjects(status['podIPs']).map((entry) => toText(entry['ip']));
  if (ip === '') {
    if (first !== undefined && first !== '') status['podIP'] = first;
  } else if (first !== ip) status['podIPs'] = [{ ip }];
}
