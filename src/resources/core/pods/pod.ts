// core/v1 Pod: joins columns, preparation, validation and warnings of the files around it.
import type { KubeObject } from '../../../apimachinery/index.ts';
import { ensureStruct, readPointer } from '../../common/defaults.ts';
import { boolAt, readAt, textAt, textFields } from '../../common/selectable-fields.ts';
import { keepMetadata } from '../../common/status.ts';
import { connectSubresource, createOnly, proxy, status, subresource, tunnel } from '../../common/subresources.ts';
import { readPath, toList, toObject, toText } from '../../common/values.ts';
import { warnWith } from '../../common/warnings/warnings.ts';
import type { KindSpec } from '../../kind-spec.ts';
import { applyAppArmorAnnotations } from './app-armor.ts';
import { podColumns, readPodConditions } from './columns.ts';
import { applyPodDefaults } from './defaults/pod.ts';
import { gatePodSpec, imageDigests } from './gated-fields.ts';
import { applyLabelKeys } from './label-keys.ts';
import { keepFromStatus, makeStatus, mirrorAddresses, readGrace, takeEphemeralContainers, takeResize } from './prepare.ts';
import { warnOfName } from './template.ts';
import { validatePod } from './validation/pod.ts';
import { validatePodStatus } from './validation/status.ts';
import { validateEphemeralUpdate, validateResize } from './validation/subresources.ts';
import { validatePodUpdate } from './validation/update.ts';
import { podAddresses, warnOfNewPod } from './warnings/pod.ts';

function readPodIps(object: KubeObject): readonly string[] {
  return toList(readPath(object, 'status', 'podIPs')).map((entry) => toText(toObject(entry)['ip']));
}

/** Field labels of pods, besides name and namespace. */
const podFields = {
  ...textFields('spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'status.phase', 'status.nominatedNodeName'),
  'spec.host': textAt('spec.nodeName'),
  'spec.hostNetwork': boolAt('spec.hostNetwork'),
  'status.podIP': readAt(['status.podIPs', 'status.podIP'], (object) => readPodIps(object)[0] ?? toText(readPath(object, 'status', 'podIP'))),
  'status.podIPs': readAt(['status.podIPs'], (object) => readPodIps(object)[0] ?? ''),
};

/** The spec of Pod. */
export const podKind: KindSpec = {
  kind: 'Pod', plural: 'pods', shortNames: ['po'], categories: ['all'],
  returnsDeleted: true, tracksGeneration: true, statusOnCreate: true,
  subresources: [
    connectSubresource('attach', 'PodAttachOptions', tunnel),
    { name: 'binding', verbs: createOnly, kind: { group: '', version: 'v1', kind: 'Binding' } },
    subresource('ephemeralcontainers'),
    { name: 'eviction', verbs: createOnly, kind: { group: 'policy', version: 'v1', kind: 'Eviction', formerVersions: ['v1beta1'] } },
    connectSubresource('exec', 'PodExecOptions', tunnel),
    { name: 'log', verbs: ['get'] },
    connectSubresource('portforward', 'PodPortForwardOptions', tunnel),
    connectSubresource('proxy', 'PodProxyOptions', proxy),
    subresource('resize'),
    status,
  ],
  selectableFields: podFields,
  metadataChecks: ['update', 'object', 'kind'],
  resetFields: { status: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']], resize: [], ephemeralcontainers: [] },
  columns: podColumns,
  rowConditions: readPodConditions,
  ...gatePodSpec('spec', ['DRANodeAllocatableResources', 'status.nodeAllocatableResourceClaimStatuses'],
    ['DRAExtendedResource', 'status.extendedResourceClaimStatus'], imageDigests),
  applyDefaults(pod, _version, before) {
    applyPodDefaults(pod, before);
    mirrorAddresses(readPointer(pod, 'status'));
  },
  strategy: {
    prepareForCreate(pod, { nowMs, warn = () => undefined }) {
      const spec = ensureStruct(pod, 'spec');
      applyLabelKeys(pod);
      applyAppArmorAnnotations(pod, warn);
      pod['status'] = makeStatus(spec, pod['status'], nowMs);
    },
    gracePeriodSeconds: readGrace,
    prepareForUpdate(pod, old, { subresource }) {
      if (subresource === 'status') {
        keepMetadata(pod, old, ['ownerReferences', 'deletionTimestamp']);
        keepFromStatus(ensureStruct(pod, 'status'), toObject(old['status']));
        return;
      }
      if (subresource === 'resize') takeResize(pod, old);
      else if (subresource === 'ephemeralcontainers') takeEphemeralContainers(pod, old);
    },
  },
  validation: {
    object: validatePod, update: validatePodUpdate, status: validatePodStatus,
    subresources: { resize: validateResize, ephemeralcontainers: validateEphemeralUpdate },
  },
  warnings: warnWith(
    (root, old) => (old === undefined ? [...warnOfName(root.value as KubeObject, "the Pod's hostname"), ...warnOfNewPod(root)] : []), podAddresses,
  ),
};
