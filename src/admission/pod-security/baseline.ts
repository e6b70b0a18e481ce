// The checks of the level `baseline`: known ways from a pod to its node. Names, versions and texts are upstream's.
import {
  type Check, type Container, type Finding, type Handler, type Pod, badValues, containersOf, nameSetters, nameThings, pluralize, quote, sortTexts,
} from './pod.ts';

const capabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT',
]);
const selinuxTypes: readonly string[] = ['', 'container_t', 'container_init_t', 'container_kvm_t'];
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const SECCOMP_POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER_ANNOTATION = 'container.seccomp.security.alpha.kubernetes.io/';
const sysctls: readonly string[] = [
  'kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'];
const sysctls27 = [...sysctls, 'net.ipv4.ip_local_reserved_ports'];
const sysctls29 = [
  ...sysctls27, 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes'];
const sysctls32 = [...sysctls29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

/** The containers for which `isBad` holds, as one finding. */
function checkContainers(pod: Pod, isBad: (container: Container) => boolean, describe: (bad: readonly string[]) => Finding): Finding | undefined {
  const bad = containersOf(pod.spec).filter(isBad).map(({ name }) => name);
  return bad.length === 0 ? undefined : describe(bad);
}

/** Pods must not share the network, the processes or the IPC of their node. */
export const checkHostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  return shared.length === 0 ? undefined : { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

/** Volumes must not be paths of the node. */
export const checkHostPathVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => volume['hostPath'] !== undefined).map(({ name }) => name);
  return bad.length === 0 ? undefined : { reason: 'hostPath volumes', detail: nameThings('volume', bad) };
};

const hostPortsOf = ({ ports }: Container): string[] => (ports ?? []).filter(({ hostPort }) => (hostPort ?? 0) !== 0).map(({ hostPort }) => String(hostPort));

/** Containers must not take ports of the node. */
export const checkHostPorts: Check = (pod) => checkContainers(pod, (container) => hostPortsOf(container).length > 0, (bad) => {
  const ports = sortTexts(containersOf(pod.spec).flatMap(hostPortsOf));
  return { reason: 'hostPort', detail: `${nameThings('container', bad)} ${bad.length === 1 ? 'uses' : 'use'} ${pluralize('hostPort', ports)} ${ports.join(', ')}` };
});

/** Containers must not be privileged. */
export const checkPrivileged: Check = (pod) => checkContainers(pod, ({ securityContext }) => securityContext?.privileged === true,
  (bad) => ({ reason: 'privileged', detail: `${nameThings('container', bad)} must not set securityContext.privileged=true` }));

/** Containers may add only the capabilities that runtimes give by default. */
export const checkCapabilities: Check = (pod) => {
  const foreign = ({ securityContext }: Container): string[] => (securityContext?.capabilities?.add ?? []).filter((name) => !capabilities.has(name));
  return checkContainers(pod, (container) => foreign(container).length > 0, (bad) => ({
    reason: 'non-default capabilities',
    detail: `${nameThings('container', bad)} must not include ${quote(sortTexts(containersOf(pod.spec).flatMap(foreign)))} in securityContext.capabilities.add`,
  }));
};

/** Containers keep the masks of /proc. */
export const checkProcMount: Check = (pod) => {
  const isBad = ({ securityContext }: Container): boolean => (securityContext?.procMount ?? 'Default') !== 'Default';
  return checkContainers(pod, isBad, (bad) => {
    const types = sortTexts(containersOf(pod.spec).filter(isBad).map(({ securityContext }) => securityContext?.procMount ?? ''));
    return { reason: 'procMount', detail: `${nameThings('container', bad)} must not set securityContext.procMount to ${quote(types)}` };
  });
};

/** The same check for pods that share the users of their node; pods with users of their own pass. */
export const unlessOwnUsers = (check: Check): Check => (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));

/** Windows containers must not run as processes of the node. */
export const checkHostProcess: Check = (pod) => {
  const setters = nameSetters(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true);
  return setters === undefined ? undefined : { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
};

/** SELinux options: types of containers only, neither user nor role. */
export const checkSelinux = (...moreTypes: readonly string[]): Check => (pod) => {
  const isBadType = (type: string): boolean => !selinuxTypes.includes(type) && !moreTypes.includes(type);
  const setters = nameSetters(pod, ({ seLinuxOptions: options }) =>
    options !== undefined && (isBadType(options.type ?? '') || Boolean(options.user) || Boolean(options.role)));
  if (setters === undefined) return undefined;
  const types = badValues(pod, ({ seLinuxOptions }) => seLinuxOptions?.type, isBadType);
  const isSet = (field: 'user' | 'role'): boolean => badValues(pod, ({ seLinuxOptions }) => seLinuxOptions?.[field], (text) => text !== '').length > 0;
  const bad = [
    ...(types.length > 0 ? [nameThings('type', types)] : []),
    ...(isSet('user') ? ['user may not be set'] : []), ...(isSet('role') ? ['role may not be set'] : []),
  ];
  return { reason: 'seLinuxOptions', detail: `${setters} set forbidden securityContext.seLinuxOptions: ${bad.join('; ')}` };
};

const isBadProfile = (type: string): boolean => type !== 'RuntimeDefault' && type !== 'Localhost';

/** AppArmor: the default profile or one of the node. */
export const checkAppArmor: Check = (pod) => {
  const isAllowedValue = (value: string): boolean => value === '' || value === 'runtime/default' || value.startsWith('localhost/');
  const annotations = Object.entries(pod.metadata?.annotations ?? {}).filter(([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !isAllowedValue(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`).sort();
  const setters = nameSetters(pod, ({ appArmorProfile }) => appArmorProfile !== undefined && isBadProfile(appArmorProfile.type ?? ''));
  const values = [...badValues(pod, ({ appArmorProfile }) => appArmorProfile && (appArmorProfile.type ?? ''), isBadProfile), ...annotations];
  if (values.length === 0) return undefined;
  const all = [...(setters === undefined ? [] : [setters]), ...(annotations.length > 0 ? [pluralize('annotation', annotations)] : [])].join(' and ');
  return { reason: pluralize('forbidden AppArmor profile', values), detail: `${all} must not set AppArmor profile type to ${quote(values)}` };
};

/** Seccomp by annotations, as before 1.19. */
/** Seccomp: the default profile or one of the node, where one is set. */
export const checkSeccompAnnotations: Check = ({ metadata, spec }) => {
  const annotations = metadata?.annotations ?? {};
  const isAllowed = (value: string): boolean => value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
  const keys = [SECCOMP_POD_ANNOTATION, ...containersOf(spec).map(({ name }) => `${SECCOMP_CONTAINER_ANNOTATION}${name}`)];
  const bad = sortTexts(keys.filter((key) => Object.hasOwn(annotations, key) && !isAllowed(annotations[key] as string))
    .map((key) => `${key}=${JSON.stringify(annotations[key])}`));
  return bad.length === 0 ? undefined : { reason: 'seccompProfile', detail: `forbidden ${pluralize('annotation', bad)} ${bad.join(', ')}` };
};

export const checkSeccomp: Check = (pod) => {
  const setters = nameSetters(pod, ({ seccompProfile }) => seccompProfile !== undefined && isBadProfile(seccompProfile.type ?? ''));
  if (setters === undefined) return undefined;
  const values = badValues(pod, ({ seccompProfile }) => seccompProfile && (seccompProfile.type ?? ''), isBadProfile);
  return { reason: 'seccompProfile', detail: `${setters} must not set securityContext.seccompProfile.type to ${quote(values)}` };
};

const checkSysctls = (allowed: readonly string[]): Check => ({ spec }) => {
  const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.includes(name));
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
};

/** Which sysctls a pod may set, by the minor version from which on they are allowed. */
export const sysctlChecks: readonly (readonly [sinceMinor: number, check: Check])[] =
  [[0, checkSysctls(sysctls)], [27, checkSysctls(sysctls27)], [29, checkSysctls(sysctls29)], [32, checkSysctls(sysctls32)]];

const hostsOf = (handler: Handler | undefined): string[] =>
  [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host) => host !== undefined && host !== '') as string[];

/** Probes and lifecycle handlers must not name a host. */
export const checkHandlerHosts: Check = ({ spec }) => {
  const hosts = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): string[] =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(hostsOf);
  const bad = sortTexts(containersOf(spec).filter((container) => hosts(container).length > 0).map(({ name }) => name));
  if (bad.length === 0) return undefined;
  const named = sortTexts(containersOf(spec).flatMap(hosts));
  const noun = pluralize('probe or lifecycle host', named);
  return { reason: 'probe or lifecycle host', detail: `${nameThings('container', bad)} ${bad.length === 1 ? 'uses' : 'use'} ${noun} ${quote(named)}` };
};
