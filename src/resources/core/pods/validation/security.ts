// Validation of the security contexts of pods and of their containers.
import {
  type FieldError, byteLength, checkDnsSubdomain, duplicate, forbiddenField, invalidValue, required, tooLong,
} from '../../../../apimachinery/index.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkOneOf, checkTypedText, each, isEmptyText, isGiven, isWrong,
} from '../../../common/validation/check.ts';
import { readPath, toList, toNumber, toText } from '../../../common/values.ts';
import { SELINUX_GATE } from '../gated-fields.ts';
import { showPodPart } from './parts.ts';
import { checkDescendingPath } from './references.ts';

const MAX_ID = 2 ** 31 - 1;

function checkIds(...places: readonly Field[]): Errors {
  return places.filter((place) => isGiven(place) && !(toNumber(place.value) >= 0 && toNumber(place.value) <= MAX_ID))
    .map(({ path, value }) => invalidValue(path, value, `must be between 0 and ${MAX_ID}, inclusive`));
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkSeccomp(profile: Field): Errors {
  if (!isGiven(profile)) return [];
  const [type, local] = [at(profile, 'type'), at(profile, 'localhostProfile')];
  const errors = isEmptyText(type) ? [required(type.path, 'type is required when seccompProfile is set')] : checkOneOf(type, profileTypes);
  if (type.value !== 'Localhost') {
    if (!isGiven(local)) return errors;
    return [...errors, invalidValue(local.path, showPodPart('SeccompProfile', profile.value), 'can only be set when seccomp type is Localhost')];
  }
  return isGiven(local) ? checkDescendingPath(local) : [required(local.path, 'must be set when seccomp type is Localhost')];
}

const MAX_PROFILE_LENGTH = 4095;

/** Validates an AppArmor profile. */
export function checkAppArmor(profile: Field): Errors {
  if (!isGiven(profile)) return [];
  const [type, local] = [at(profile, 'type'), at(profile, 'localhostProfile')];
  const missing = required(local.path, 'must be set when AppArmor type is Localhost');
  if (isEmptyText(type)) return [required(type.path, 'type is required when appArmorProfile is set')];
  if (!profileTypes.includes(toText(type.value))) return checkOneOf(type, profileTypes);
  if (type.value !== 'Localhost') return isGiven(local) ? [isWrong(local, 'can only be set when AppArmor type is Localhost')] : [];
  if (!isGiven(local)) return [missing];
  const text = toText(local.value);
  return [
    ...(text !== text.trim() ? [isWrong(local, 'must not be padded with whitespace')] : text === '' ? [missing] : []),
    ...(text.length > MAX_PROFILE_LENGTH ? [tooLong(local.path, MAX_PROFILE_LENGTH)] : []),
  ];
}

const MAX_SPEC_BYTES = 64 * 1024;
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const domainName = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?)*$/;

/** Problems of a Windows user name, with or without domain. */
function listUserProblems(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [user = '', domain] = parts.reverse();
  return [
    ...((domain ?? '').length >= 256 ? ["runAsUserName's Domain length must be under 256 characters"] : []),
    ...(domain === undefined || netBios.test(domain) || domainName.test(domain)
      ? [] : ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]),
    ...(user === '' ? ["runAsUserName's User cannot be empty"] : user.length > 104
      ? ["runAsUserName's User length must not be longer than 104 characters"] : []),
    ...(/^[. ]+$/.test(user) ? ["runAsUserName's User cannot contain only periods or spaces"] : []),
    ...(/["/\\:;|=,+*?<>@[\]]/.test(user) ? ['runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]'] : []),
  ];
}

function checkWindowsOptions(options: Field): Errors {
  const [name, spec, user] = [at(options, 'gmsaCredentialSpecName'), at(options, 'gmsaCredentialSpec'), at(options, 'runAsUserName')];
  const size = byteLength(toText(spec.value));
  return [
    ...(isGiven(name) ? checkTypedText(name, checkDnsSubdomain) : []),
    ...(isGiven(spec) && size === 0 ? [isWrong(spec, 'gmsaCredentialSpec cannot be an empty string')] : []),
    ...(size > MAX_SPEC_BYTES ? [isWrong(spec, 'gmsaCredentialSpec size must be under 64 KiB')] : []),
    ...(isGiven(user) ? checkTypedText(user, listUserProblems) : []),
  ];
}

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_PROBLEM = 'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

const ofIpc = new Set(['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'].map((name) => `kernel.${name}`));

/** The field of a pod's spec that has the pod share what a sysctl sets with its node; undefined where none has. */
function sharingOf(sysctl: string): 'hostNetwork' | 'hostIPC' | undefined {
  const usesSlashes = /[./]/.exec(sysctl)?.[0] === '/';
  const plain = usesSlashes ? sysctl.replace(/[./]/g, (sign) => (sign === '.' ? '/' : '.')) : sysctl;
  const [name = ''] = plain.split('*');
  if (name.startsWith('net.')) return 'hostNetwork';
  return ofIpc.has(name) || name.startsWith('fs.mqueue.') ? 'hostIPC' : undefined;
}

function checkSysctls(list: Field, spec: unknown): Errors {
  const names = new Set<string>();
  return each(list).flatMap((sysctl): Errors => {
    const name = at(sysctl, 'name');
    const text = toText(name.value);
    const errors: FieldError[] = [];
    if (text === '') errors.push(required(name.path));
    // The length is checked first: the expression runs on short texts only.
    else if (text.length > 253 || !sysctlName.test(text)) errors.push(invalidValue(name.path, text, SYSCTL_PROBLEM));
    else if (names.has(text)) errors.push(duplicate(name.path, text));
    names.add(text);
    const shared = sharingOf(text);
    const isShared = shared !== undefined && readPath(spec, shared) === true;
    return isShared ? [...errors, invalidValue(name.path, text, `may not be specified when '${shared}' is true`)] : errors;
  });
}

/** Validates the security context of a pod; `spec` is that of the pod. */
export function checkPodSecurity(spec: Field): Errors {
  const context = at(spec, 'securityContext');
  const shares = readPath(spec.value, 'shareProcessNamespace') === true && readPath(spec.value, 'hostPID') === true;
  const closed = (name: string, supported: readonly string[]): Errors => checkGivenOneOf(at(context, name), supported);
  return [
    ...checkIds(at(context, 'fsGroup'), at(context, 'runAsUser'), at(context, 'runAsGroup'), ...each(at(context, 'supplementalGroups'))),
    ...(shares ? [invalidValue(`${context.path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')] : []),
    ...checkSysctls(at(context, 'sysctls'), spec.value), ...closed('fsGroupChangePolicy', ['Always', 'OnRootMismatch']),
    ...checkSeccomp(at(context, 'seccompProfile')), ...checkWindowsOptions(at(context, 'windowsOptions')), ...checkAppArmor(at(context, 'appArmorProfile')),
    ...closed('supplementalGroupsPolicy', ['Merge', 'Strict']),
    ...closed('seLinuxChangePolicy', ['Recursive']).map((error) => ({ ...error, when: `!${SELINUX_GATE}` })),
    ...closed('seLinuxChangePolicy', ['MountOption', 'Recursive']).map((error) => ({ ...error, when: SELINUX_GATE })),
  ];
}

function checkProcMount(place: Field, sharesUsers: boolean): Errors {
  if (!isGiven(place)) return [];
  const isShared = sharesUsers && place.value === 'Unmasked';
  return [...checkOneOf(place, ['Default', 'Unmasked']), ...(isShared ? [isWrong(place, '`hostUsers` must be false to use `Unmasked`')] : [])];
}

/** Validates the security context of a container; `sharesUsers`: the pod uses the user namespace of the host. */
export function checkContainerSecurity(context: Field, sharesUsers: boolean): Errors {
  if (!isGiven(context)) return [];
  const errors: FieldError[] = [
    ...checkIds(at(context, 'runAsUser'), at(context, 'runAsGroup')), ...checkProcMount(at(context, 'procMount'), sharesUsers),
    ...checkSeccomp(at(context, 'seccompProfile')),
  ];
  if (readPath(context.value, 'allowPrivilegeEscalation') === false) {
    const isWide = toList(readPath(context.value, 'capabilities', 'add')).includes('CAP_SYS_ADMIN');
    const shown = showPodPart('SecurityContext', context.value);
    const refuse = (other: string): FieldError => invalidValue(context.path, shown, `cannot set \`allowPrivilegeEscalation\` to false and ${other}`);
    if (readPath(context.value, 'privileged') === true) errors.push(refuse('`privileged` to true'));
    if (isWide) errors.push(refuse('`capabilities.Add` CAP_SYS_ADMIN'));
  }
  return [...errors, ...checkWindowsOptions(at(context, 'windowsOptions')), ...checkAppArmor(at(context, 'appArmorProfile'))];
}

const linuxOnly = [
  'securityContext.appArmorProfile', 'securityContext.seLinuxOptions', 'hostUsers', 'hostPID', 'hostIPC', 'securityContext.seccompProfile',
  'securityContext.fsGroup', 'securityContext.fsGroupChangePolicy', 'securityContext.sysctls', 'shareProcessNamespace', 'securityContext.runAsUser',
  'securityContext.runAsGroup', 'securityContext.supplementalGroups', 'securityContext.supplementalGroupsPolicy', 'securityContext.seLinuxChangePolicy',
];

const linuxOnlyInContainers = [
  'appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged', 'allowPrivilegeEscalation', 'procMount',
  'runAsUser', 'runAsGroup',
];
const hostProcessOf = (holder: Field): Field => at(holder, 'securityContext', 'windowsOptions', 'hostProcess');

/** hostProcess: all containers of a pod or none, and only with the network of the host. */
export function checkHostProcesses(spec: Field, containers: readonly Field[]): Errors {
  const common = hostProcessOf(spec);
  const differing = containers.map(hostProcessOf).filter((own) => isGiven(own) && isGiven(common) && own.value !== common.value);
  const count = containers.filter((container) => (hostProcessOf(container).value ?? common.value) === true).length;
  const errors: FieldError[] = differing.map((own) => isWrong(own, `pod hostProcess value must be identical if both are specified, was ${common.value}`));
  if (count === 0) return errors;
  if (count < containers.length) {
    errors.push(invalidValue(spec.path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers'));
  }
  if (readPath(spec.value, 'hostNetwork') === true) return errors;
  return [...errors, invalidValue(`${spec.path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers')];
}

/** Members that are forbidden for the operating system of the pod. */
export function checkSystem(spec: Field, containers: readonly Field[]): Errors {
  const os = at(spec, 'os');
  const name = at(os, 'name');
  const all = (paths: readonly string[], parents: readonly Field[]): readonly Field[] =>
    parents.flatMap((parent) => paths.map((path) => at(parent, ...path.split('.')))).filter(({ value }) => isGiven({ path: '', value }) && value !== false);
  if (!isGiven(os)) return [];
  if (isEmptyText(name)) return [required(name.path)];
  if (name.value === 'linux') {
    return all(['securityContext.windowsOptions'], [spec, ...containers])
      .map(({ path }) => forbiddenField(path, 'windows options cannot be set for a linux pod'));
  }
  if (name.value !== 'windows') return checkOneOf({ path: os.path, value: name.value }, ['linux', 'windows']);
  const contexts = containers.map((container) => at(container, 'securityContext'));
  return [...all(linuxOnly, [spec]), ...all(linuxOnlyInContainers, contexts)].map(({ path }) => forbiddenField(path, 'cannot be set for a windows pod'));
}
