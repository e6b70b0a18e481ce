// What stands between a right to write roles and every other right: no user grants a right that the user does not hold. The admission plugin asks here.
import type { User } from '../user.ts';
import { describeMissing, findUncovered } from './cover.ts';
import type { PolicyIndex } from './policy-index.ts';
import { resolveRules } from './rbac.ts';
import { type PolicyRule, type RoleRef } from './rule.ts';

/** The questions of the escalation checks. */
export interface EscalationRules {
  /** Resolves when the questions can be asked. */
  readonly ready: Promise<void>;
  /** The reference's refusal when the rules are more than the user holds in the namespace; undefined when they are not. */
  findExcess(user: User, namespace: string, rules: readonly PolicyRule[]): string | undefined;
  /** The rules of the role that a binding in the namespace would grant; undefined when there is no such role. */
  findRole(roleRef: Pick<RoleRef, 'kind' | 'name'>, namespace: string): readonly PolicyRule[] | undefined;
}

/** Answers from the index, which has to be read first. */
export function createEscalationRules(index: PolicyIndex): EscalationRules {
  return {
    ready: index.ready,
    findExcess(user, namespace, rules) {
      const held = resolveRules(index, user, namespace);
      const missing = findUncovered(held.rules, rules);
      if (missing.length === 0) return undefined;
      const groups = user.groups.map((group) => JSON.stringify(group)).join(' ');
      const unresolved = held.errors.length === 0 ? '' : `; resolution errors: [${held.errors.join(' ')}]`;
      return `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${describeMissing(missing)}${unresolved}`;
    },
    findRole(roleRef, namespace) {
      index.catchUp();
      return index.findRole(roleRef, namespace);
    },
  };
}
