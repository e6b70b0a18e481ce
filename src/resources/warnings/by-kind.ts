// Which warnings a kind has, by group and kind. Templates are looked at when the object is made and when its generation moves; status paths are silent
// but for addresses.
import { type KubeObject, checkDnsLabel } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { readPath, toNumber } from '../columns/common.ts';
import { type Field, at, each } from '../validation/check.ts';
import { warnOfAddress, warnOfRange } from './addresses.ts';
import * as others from './others.ts';
import { warnOfClaimSpec, warnOfPod } from './pods.ts';

type Warn = (root: Field, old?: KubeObject) => readonly string[];

const rootOf = (object: KubeObject): Field => ({ path: '', value: object });

function warnOfName({ metadata }: KubeObject, use: string): readonly string[] {
  const problems = checkDnsLabel(metadata.name ?? '');
  if (problems.length === 0) return [];
  return [`metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`];
}

interface Template {
  readonly path: readonly string[];
  /** Pods are called after the object. */
  readonly names?: true;
  /** Besides the template, whenever something is written. */
  readonly always?: Warn;
  /** Besides the template, when it is looked at. */
  readonly also?: Warn;
}

function warnOfTemplate({ path, names, always = () => [], also = () => [] }: Template): Pick<Strategy, 'warnings'> {
  return {
    warnings(object, old, { subresource }) {
      // A write of the scale is one of the whole object.
      if (subresource !== '' && subresource !== 'scale') return [];
      const root = rootOf(object);
      const isLooked = old === undefined || object.metadata.generation !== old.metadata.generation;
      const name = names && old === undefined ? warnOfName(object, 'Pod names and hostnames') : [];
      return [...name, ...(isLooked ? [...also(root), ...warnOfPod(at(root, ...path))] : []), ...always(root, old)];
    },
  };
}

const warnWith = (warn: Warn, onStatus: Warn = () => []): Pick<Strategy, 'warnings'> => ({
  warnings: (object, old, { subresource }) => (subresource === '' ? warn(rootOf(object), old) : subresource === 'status' ? onStatus(rootOf(object), old) : []),
});

const onCreate = (warn: Warn): Pick<Strategy, 'warnings'> => warnWith((root, old) => (old === undefined ? warn(root) : []));

function warnOfStatefulSet(root: Field, old?: KubeObject): readonly string[] {
  const claims = each(at(root, 'spec', 'volumeClaimTemplates'));
  const history = at(root, 'spec', 'revisionHistoryLimit');
  return [
    ...claims.flatMap(({ path, value }) => warnOfClaimSpec({ path: old === undefined ? path : `${path}.Spec`, value: readPath(value, 'spec') })),
    ...(toNumber(history.value) < 0 ? [`${history.path}: a negative value retains all historical revisions; a value >= 0 is recommended`] : []),
  ];
}

const ingressAddresses: Warn = (root) => each(at(root, 'status', 'loadBalancer', 'ingress'))
  .flatMap(({ path, value }) => warnOfAddress({ path, value: readPath(value, 'ip') }));

const podAddresses: Warn = (root) => [['podIPs', 'ip'], ['hostIPs', 'ip']].flatMap(([list, member]) => {
  return each(at(root, 'status', list as string)).flatMap((entry) => warnOfAddress(at(entry, member as string)));
});

/** Warnings by `group/Kind`. */
export const warningsByKind: Readonly<Record<string, Pick<Strategy, 'warnings'>>> = {
  '/Node': warnWith((root) => [...others.warnOfNode(root), ...each(at(root, 'spec', 'podCIDRs')).flatMap(warnOfRange)]),
  '/PersistentVolume': warnWith(others.warnOfVolume),
  '/PersistentVolumeClaim': warnWith((root) => [...others.warnOfClaimClass(root), ...warnOfClaimSpec(at(root, 'spec'))]),
  '/Pod': warnWith(
    (root, old) => (old === undefined ? [...warnOfName(root.value as KubeObject, "the Pod's hostname"), ...warnOfPod(root)] : []), podAddresses,
  ),
  '/PodTemplate': warnOfTemplate({ path: ['template'] }),
  '/ReplicationController': warnOfTemplate({ path: ['spec', 'template'], names: true }),
  '/ResourceQuota': onCreate(others.warnOfQuota),
  '/Secret': warnWith(others.warnOfTlsSecret),
  '/Service': warnWith(others.warnOfService, ingressAddresses),
  '/ServiceAccount': warnWith(others.warnOfAccount),
  'apps/DaemonSet': warnOfTemplate({ path: ['spec', 'template'] }),
  'apps/Deployment': warnOfTemplate({ path: ['spec', 'template'], names: true }),
  'apps/ReplicaSet': warnOfTemplate({ path: ['spec', 'template'], names: true }),
  'apps/StatefulSet': warnOfTemplate({ path: ['spec', 'template'], always: warnOfStatefulSet }),
  'batch/CronJob': warnOfTemplate({
    path: ['spec', 'jobTemplate', 'spec', 'template'], names: true, also: (root) => others.warnOfJob(at(root, 'spec', 'jobTemplate', 'spec')),
    always: (root, old) => (old === undefined ? [] : others.warnOfSchedule(root)),
  }),
  'batch/Job': warnOfTemplate({ path: ['spec', 'template'], names: true, also: (root) => others.warnOfJob(at(root, 'spec')) }),
  'discovery.k8s.io/EndpointSlice': warnWith(others.warnOfSlice),
  'networking.k8s.io/Ingress': { warnings: (object, old, context) => [
    ...(old === undefined ? others.warnOfIngressClass(rootOf(object)) : []), ...(context.subresource === 'status' ? ingressAddresses(rootOf(object)) : []),
  ] },
  'networking.k8s.io/NetworkPolicy': warnWith(others.warnOfPolicy),
  'node.k8s.io/RuntimeClass': warnWith(others.warnOfRuntimeClass),
  'resource.k8s.io/ResourceSlice': warnWith(others.warnOfDriver),
  'storage.k8s.io/CSIDriver': warnWith(others.warnOfTokens),
  'storage.k8s.io/CSIStorageCapacity': warnWith(others.warnOfTopology),
  'storage.k8s.io/StorageClass': warnWith(others.warnOfTopologies),
};
