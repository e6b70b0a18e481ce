// Which group, and which version of a group, comes first in discovery: kubectl takes the first match of a short name or kind.
// The numbers are those of the APIService objects that the reference makes for its own groups.

/** A served version and its place in its group; higher comes first. */
interface VersionPriority {
  readonly name: string;
  readonly priority: number;
}

/** A built-in group and its place among all groups; higher comes first, equal ones by name. */
interface GroupPriority {
  readonly group: string;
  readonly priority: number;
  readonly versions: readonly VersionPriority[];
}

function place(group: string, priority: number, versions: Readonly<Record<string, number>> = { v1: 15 }): GroupPriority {
  return { group, priority, versions: Object.entries(versions).map(([name, versionPriority]) => ({ name, priority: versionPriority })) };
}

/** The built-in groups in the order of discovery. apiregistration.k8s.io has no APIService of its own and is always first of /apis. */
export const groupPriorities: readonly GroupPriority[] = [
  place('apiregistration.k8s.io', 20_000),
  place('', 18_000, { v1: 1 }),
  place('apps', 17_800),
  place('events.k8s.io', 17_750),
  place('authentication.k8s.io', 17_700),
  place('authorization.k8s.io', 17_600),
  place('autoscaling', 17_500, { v2: 30, v1: 15 }),
  place('batch', 17_400),
  place('certificates.k8s.io', 17_300),
  place('networking.k8s.io', 17_200),
  place('policy', 17_100),
  place('rbac.authorization.k8s.io', 17_000),
  place('storage.k8s.io', 16_800),
  place('admissionregistration.k8s.io', 16_700),
  place('apiextensions.k8s.io', 16_700),
  place('scheduling.k8s.io', 16_600),
  place('coordination.k8s.io', 16_500),
  place('node.k8s.io', 16_300),
  place('discovery.k8s.io', 16_200),
  place('resource.k8s.io', 16_200, { v1: 21 }),
  place('flowcontrol.apiserver.k8s.io', 16_100, { v1: 21 }),
];
