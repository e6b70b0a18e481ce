// Fields that the reference knows and does not keep, because what they are for is switched off by default: they are dropped when an object is
// written, unless what is stored uses them already.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { toObject } from '../columns/common.ts';
import { readStructs } from '../defaults/set.ts';

type Struct = Record<string, unknown>;

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'];
/** In the spec of a pod; `[]` stands behind the name of a list, `{}` behind that of a map. */
const podFields = [
  ...containerLists.map((list) => `${list}[].lifecycle.stopSignal`), 'schedulingGroup', 'volumes[].projected.sources[].clusterTrustBundle',
  'volumes[].projected.sources[].podCertificate',
];
const below = (path: string): readonly string[] => podFields.map((field) => `${path}.${field}`);

/** Fields by `group/Kind`. */
const gatedFields: Readonly<Record<string, readonly string[]>> = {
  '/Node': ['spec.configSource', 'status.config'],
  '/Pod': below('spec'), '/PodTemplate': below('template.spec'), '/ReplicationController': below('spec.template.spec'),
  'apps/DaemonSet': below('spec.template.spec'), 'apps/Deployment': below('spec.template.spec'), 'apps/ReplicaSet': below('spec.template.spec'),
  'apps/StatefulSet': [...below('spec.template.spec'), 'spec.updateStrategy.rollingUpdate.maxUnavailable'],
  'batch/CronJob': below('spec.jobTemplate.spec.template.spec'), 'batch/Job': below('spec.template.spec'),
  'coordination.k8s.io/Lease': ['spec.strategy', 'spec.preferredHolder'], 'discovery.k8s.io/EndpointSlice': ['endpoints[].deprecatedTopology'],
  'resource.k8s.io/ResourceSlice': [
    ...['ints', 'bools', 'strings', 'versions'].map((list) => `spec.devices[].attributes{}.${list}`), 'spec.devices[].nodeAllocatableResourceMappings',
  ],
};

/** The structs that hold the last name of a path, as far as they are there, each behind those around it. */
function findHolders(root: unknown, path: readonly string[]): readonly (readonly Struct[])[] {
  let holders: readonly (readonly Struct[])[] = [[root as Struct]];
  for (const name of path) {
    const [, key = '', holds] = /^(.*?)(\[\]|\{\})?$/.exec(name) ?? [];
    holders = holders.flatMap((chain) => {
      const parent = chain[0]!;
      const inner = holds === '[]' ? readStructs(parent, key) : holds === '{}' ? Object.values(toObject(parent[key])) : [parent[key]];
      return inner.filter((value) => typeof value === 'object' && value !== null).map((value) => [value as Struct, ...chain]);
    });
  }
  return holders;
}

function usesField(object: KubeObject, holders: readonly string[], name: string): boolean {
  return findHolders(object, holders).some(([holder]) => holder![name] !== undefined);
}

function dropFields(object: KubeObject, old: KubeObject | undefined, paths: readonly string[]): void {
  for (const path of paths) {
    const parts = path.split('.');
    const [holders, name] = [parts.slice(0, -1), parts.at(-1)!];
    if (old !== undefined && usesField(old, holders, name)) continue;
    for (const [holder, around] of findHolders(object, holders)) {
      if (holder![name] === undefined) continue;
      delete holder![name];
      // The reference leaves no empty hooks behind.
      if (holders.at(-1) === 'lifecycle' && Object.keys(holder!).length === 0) delete around!['lifecycle'];
    }
  }
}

/** A strategy that forgets what the reference does not keep of a kind. */
export function withoutGatedFields(key: string, strategy: Strategy): Strategy {
  const paths = gatedFields[key];
  if (paths === undefined) return strategy;
  return {
    ...strategy,
    prepareForCreate(object, context) {
      dropFields(object, undefined, paths);
      strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      strategy.prepareForUpdate?.(object, old, context);
      dropFields(object, old, paths);
    },
  };
}
