// The short notation of the bootstrap data.

/** [groups, resources, verbs, resource names], or paths; lists are separated by blanks, `core` is the group without a name. */
export type RuleData = readonly [groups: string, resources: string, verbs: string, names?: string] | { readonly urls: string; readonly verbs: string };

/** A rule that a role has where a feature gate is on. */
export interface GatedRuleData {
  readonly gate: string;
  readonly rule: RuleData;
}

/** A ClusterRole. */
export interface RoleData {
  readonly name: string;
  readonly rules: readonly (RuleData | GatedRuleData)[];
  /** Collects the rules of roles that are `partOf` it. */
  readonly aggregates?: string;
  readonly partOf?: string;
  /** The feature gate without which there is no such role. */
  readonly gate?: string;
}

/** A Role and its binding, which has the same name unless `binding` is set. Subjects: `user X`, `group X` or `namespace/serviceaccount`. */
export interface NamespacedRoleData extends RoleData {
  readonly namespace: string;
  readonly binding?: string;
  readonly subjects: readonly string[];
}
