// Which checks make up a level at a Kubernetes version. A check has a form for each version that changed it; a check of `restricted` may stand in
// for one of `baseline`. Findings come in the order of the names of the checks, those of `baseline` first.
import {
  checkAppArmor, checkCapabilities, checkHandlerHosts, checkHostNamespaces, checkHostPathVolumes, checkHostPorts, checkHostProcess, checkPrivileged,
  checkProcMount, checkSeccomp, checkSeccompAnnotations, checkSelinux, sysctlChecks, unlessOwnUsers,
} from './baseline.ts';
import type { Check, Finding, Pod } from './pod.ts';
import type { LevelVersion } from './policy.ts';
import {
  checkDroppedCapabilities, checkNonRoot, checkPrivilegeEscalation, checkSetSeccomp, checkUser, checkVolumeTypes, unlessWindows,
} from './restricted.ts';

interface VersionedCheck {
  readonly name: string;
  readonly level: 'baseline' | 'restricted';
  /** The forms of the check, each from a minor version on. */
  readonly forms: readonly (readonly [sinceMinor: number, check: Check])[];
  /** The check of `baseline` that it stands in for. */
  readonly replaces?: string;
}

const baseline = (name: string, ...forms: VersionedCheck['forms']): VersionedCheck => ({ name, level: 'baseline', forms });
const restricted = (name: string, replaces: string | undefined, ...forms: VersionedCheck['forms']): VersionedCheck =>
  ({ name, level: 'restricted', forms, ...(replaces !== undefined && { replaces }) });

const checks: readonly VersionedCheck[] = [
  baseline('appArmorProfile', [0, checkAppArmor]),
  baseline('capabilities_baseline', [0, checkCapabilities]),
  baseline('hostNamespaces', [0, checkHostNamespaces]),
  baseline('hostPathVolumes', [0, checkHostPathVolumes]),
  baseline('hostPorts', [0, checkHostPorts]),
  baseline('hostProbesAndHostLifecycle', [34, checkHandlerHosts]),
  baseline('privileged', [0, checkPrivileged]),
  baseline('procMount', [0, checkProcMount], [35, unlessOwnUsers(checkProcMount)]),
  baseline('seLinuxOptions', [0, checkSelinux()], [31, checkSelinux('container_engine_t')]),
  baseline('seccompProfile_baseline', [0, checkSeccompAnnotations], [19, checkSeccomp]),
  baseline('sysctls', ...sysctlChecks),
  baseline('windowsHostProcess', [0, checkHostProcess]),
  restricted('allowPrivilegeEscalation', undefined, [8, checkPrivilegeEscalation], [25, unlessWindows(checkPrivilegeEscalation)]),
  restricted('capabilities_restricted', 'capabilities_baseline', [22, checkDroppedCapabilities], [25, unlessWindows(checkDroppedCapabilities)]),
  restricted('procMount_restricted', 'procMount', [35, checkProcMount]),
  restricted('restrictedVolumes', 'hostPathVolumes', [0, checkVolumeTypes]),
  restricted('runAsNonRoot', undefined, [0, checkNonRoot], [35, unlessOwnUsers(checkNonRoot)]),
  restricted('runAsUser', undefined, [23, checkUser], [35, unlessOwnUsers(checkUser)]),
  restricted('seccompProfile_restricted', 'seccompProfile_baseline', [19, checkSetSeccomp], [25, unlessWindows(checkSetSeccomp)]),
];

function selectChecks({ level, minor }: LevelVersion): readonly Check[] {
  if (level === 'privileged') return [];
  const formOf = ({ forms }: VersionedCheck): Check | undefined => forms.findLast(([sinceMinor]) => minor === 'latest' || sinceMinor <= minor)?.[1];
  const known = checks.filter((check) => (level === 'restricted' || check.level === 'baseline') && formOf(check) !== undefined);
  const replaced = new Set(known.map(({ replaces }) => replaces));
  return known.filter(({ name }) => !replaced.has(name)).map((check) => formOf(check) as Check);
}

/** What a level at a version finds in a pod; none where the pod passes. */
export const evaluatePod = (levelVersion: LevelVersion, pod: Pod): readonly Finding[] =>
  selectChecks(levelVersion).map((check) => check(pod)).filter((finding) => finding !== undefined);

/** Findings with their details, as a refusal shows them. */
export const formatDetails = (findings: readonly Finding[]): string =>
  findings.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** The reasons alone, as warnings about existing pods show them. */
export const formatReasons = (findings: readonly Finding[]): string => findings.map(({ reason }) => reason).join(', ');
