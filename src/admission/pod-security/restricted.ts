// The checks of the level `restricted`: good practice for pods that need nothing special. Names, versions and texts are upstream's.
import { type Check, type Container, containersOf, badValues, nameSetters, nameThings, pluralize, quote, sortTexts } from './pod.ts';

const volumeTypes: readonly string[] = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret'];
const forbiddenVolumeTypes: readonly string[] = [
  'hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd', 'flexVolume', 'cinder', 'cephfs', 'flocker', 'fc',
  'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk', 'photonPersistentDisk', 'portworxVolume', 'scaleIO', 'storageos',
];

/** The same check for pods that are not for Windows. */
export const unlessWindows = (check: Check): Check => (pod) => (pod.spec.os?.name === 'windows' ? undefined : check(pod));

/** Containers must rule out privilege escalation. */
export const checkPrivilegeEscalation: Check = ({ spec }) => {
  const bad = containersOf(spec).filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false).map(({ name }) => name);
  const detail = `${nameThings('container', bad)} must set securityContext.allowPrivilegeEscalation=false`;
  return bad.length === 0 ? undefined : { reason: 'allowPrivilegeEscalation != false', detail };
};

/** Containers must drop all capabilities and may add NET_BIND_SERVICE only. */
export const checkDroppedCapabilities: Check = ({ spec }) => {
  const containers = containersOf(spec);
  const keeping = containers.filter(({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true).map(({ name }) => name);
  const foreign = ({ securityContext }: Container): string[] => (securityContext?.capabilities?.add ?? []).filter((name) => name !== 'NET_BIND_SERVICE');
  const adding = containers.filter((container) => foreign(container).length > 0).map(({ name }) => name);
  const details = [
    ...(keeping.length > 0 ? [`${nameThings('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [`${nameThings('container', adding)} must not include ${quote(sortTexts(containers.flatMap(foreign)))} in securityContext.capabilities.add`] : []),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

/** Volumes must be of types without access to the node or to storage of others. */
export const checkVolumeTypes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !volumeTypes.some((type) => volume[type] !== undefined));
  if (bad.length === 0) return undefined;
  const types = sortTexts(bad.map((volume) => forbiddenVolumeTypes.find((type) => volume[type] !== undefined) ?? 'unknown'));
  const names = bad.map(({ name }) => name);
  const noun = pluralize('restricted volume type', types);
  return { reason: 'restricted volume types', detail: `${nameThings('volume', names)} ${names.length === 1 ? 'uses' : 'use'} ${noun} ${quote(types)}` };
};

/** Containers must run as another user than root. */
export const checkNonRoot: Check = (pod) => {
  const setters = nameSetters(pod, ({ runAsNonRoot }) => runAsNonRoot === false);
  if (setters !== undefined) return { reason: 'runAsNonRoot != true', detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  if (pod.spec.securityContext?.runAsNonRoot === true) return undefined;
  const open = containersOf(pod.spec).filter(({ securityContext }) => securityContext?.runAsNonRoot === undefined).map(({ name }) => name);
  const detail = `pod or ${nameThings('container', open)} must set securityContext.runAsNonRoot=true`;
  return open.length === 0 ? undefined : { reason: 'runAsNonRoot != true', detail };
};

/** No user may be 0. */
export const checkUser: Check = (pod) => {
  const setters = nameSetters(pod, ({ runAsUser }) => runAsUser === 0);
  return setters === undefined ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
};

const isBadProfile = (type: string): boolean => type !== 'RuntimeDefault' && type !== 'Localhost';

/** Seccomp: a profile must be set for each container or for the pod. */
export const checkSetSeccomp: Check = (pod) => {
  const setters = nameSetters(pod, ({ seccompProfile }) => seccompProfile !== undefined && isBadProfile(seccompProfile.type ?? ''));
  if (setters !== undefined) {
    const values = badValues(pod, ({ seccompProfile }) => seccompProfile && (seccompProfile.type ?? ''), isBadProfile);
    return { reason: 'seccompProfile', detail: `${setters} must not set securityContext.seccompProfile.type to ${quote(values)}` };
  }
  if (pod.spec.securityContext?.seccompProfile !== undefined) return undefined;
  const open = containersOf(pod.spec).filter(({ securityContext }) => securityContext?.seccompProfile === undefined).map(({ name }) => name);
  const detail = `pod or ${nameThings('container', open)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return open.length === 0 ? undefined : { reason: 'seccompProfile', detail };
};
