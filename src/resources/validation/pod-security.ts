// Validation of security contexts, of pods and of their containers.
import { type FieldError, duplicate, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toText } from '../columns/common.ts';
import { type Errors, type Place, at, each } from './check.ts';
import { shapeValue } from './struct-diff.ts';

const maxId = 2 ** 31 - 1;
const isGiven = ({ value }: Place): boolean => value !== undefined && value !== null;

function checkIds(...places: readonly Place[]): Errors {
  return places.filter((place) => isGiven(place) && !(toNumber(place.value) >= 0 && toNumber(place.value) <= maxId))
    .map(({ path, value }) => invalidValue(path, value, `must be between 0 and ${maxId}, inclusive`));
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkProfile(profile: Place, what: string): Errors {
  if (!isGiven(profile)) return [];
  const type = at(profile, 'type');
  const local = at(profile, 'localhostProfile');
  if (toText(type.value) === '') return [required(type.path, `type is required when ${what}Profile is set`)];
  if (!profileTypes.includes(toText(type.value))) return [notSupported(type.path, type.value, profileTypes)];
  if (type.value === 'Localhost') return toText(local.value) === '' ? [required(local.path, `must be set when ${what} type is Localhost`)] : [];
  return isGiven(local) ? [invalidValue(local.path, local.value, `can only be set when ${what} type is Localhost`)] : [];
}

const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlProblem = 'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

function checkSysctls(list: Place): Errors {
  const names = new Set<string>();
  return each(list).flatMap((sysctl): Errors => {
    const name = at(sysctl, 'name');
    const text = toText(name.value);
    if (text === '') return [required(name.path)];
    // The length first: the expression is not asked about texts of any length.
    if (text.length > 253 || !sysctlName.test(text)) return [invalidValue(name.path, text, sysctlProblem)];
    const errors: FieldError[] = names.has(text) ? [duplicate(name.path, text)] : [];
    names.add(text);
    return errors;
  });
}

/** Validates the security context of a pod; `spec` is that of the pod. */
export function checkPodSecurity(spec: Place): Errors {
  const context = at(spec, 'securityContext');
  const shares = readPath(spec.value, 'shareProcessNamespace') === true && readPath(spec.value, 'hostPID') === true;
  const policy = at(context, 'fsGroupChangePolicy');
  const policies = ['Always', 'OnRootMismatch'];
  return [
    ...checkIds(at(context, 'fsGroup'), at(context, 'runAsUser'), at(context, 'runAsGroup'), ...each(at(context, 'supplementalGroups'))),
    ...(shares ? [invalidValue(`${context.path}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')] : []),
    ...checkSysctls(at(context, 'sysctls')),
    ...(isGiven(policy) && !policies.includes(toText(policy.value)) ? [notSupported(policy.path, policy.value, policies)] : []),
    ...checkProfile(at(context, 'seccompProfile'), 'seccomp'),
  ];
}

const contextShape = {
  Capabilities: ['capabilities', { Add: 'add', Drop: 'drop' }], Privileged: 'privileged', SELinuxOptions: 'seLinuxOptions', WindowsOptions: 'windowsOptions',
  RunAsUser: 'runAsUser', RunAsGroup: 'runAsGroup', RunAsNonRoot: 'runAsNonRoot', ReadOnlyRootFilesystem: 'readOnlyRootFilesystem',
  AllowPrivilegeEscalation: 'allowPrivilegeEscalation', ProcMount: 'procMount', SeccompProfile: 'seccompProfile', AppArmorProfile: 'appArmorProfile',
} as const;

/** Validates the security context of a container. */
export function checkContainerSecurity(context: Place): Errors {
  if (!isGiven(context)) return [];
  const errors: FieldError[] = [...checkIds(at(context, 'runAsUser'), at(context, 'runAsGroup')), ...checkProfile(at(context, 'seccompProfile'), 'seccomp')];
  if (readPath(context.value, 'allowPrivilegeEscalation') !== false) return errors;
  const shown = shapeValue(context.value, contextShape);
  if (readPath(context.value, 'privileged') === true) {
    errors.push(invalidValue(context.path, shown, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
  }
  if (toList(readPath(context.value, 'capabilities', 'add')).includes('CAP_SYS_ADMIN')) {
    errors.push(invalidValue(context.path, shown, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'));
  }
  return errors;
}
