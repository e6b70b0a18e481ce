// The user of a request, as authentication finds it and authorization decides by it.
import type { User } from '../registry/index.ts';

export type { User };

/** The name of callers without credentials. */
export const anonymousName = 'system:anonymous';
/** Every caller with credentials is in this group. */
export const authenticatedGroup = 'system:authenticated';
/** Callers without credentials are in this group. */
export const unauthenticatedGroup = 'system:unauthenticated';
/** Members may do everything, whatever the authorization mode says. */
export const mastersGroup = 'system:masters';

/** The caller without credentials. */
export const anonymous: User = { name: anonymousName, groups: [unauthenticatedGroup] };

/** The same user in the group of all authenticated ones, which comes last as in the reference. */
export function markAuthenticated(user: User): User {
  const outside = user.name === anonymousName || user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup);
  return outside ? user : { ...user, groups: [...user.groups, authenticatedGroup] };
}

const NODE_PREFIX = 'system:node:';

/** The node that a user is: a kubelet's name in the group of nodes; undefined for all others. */
export function findNodeName({ name, groups }: Pick<User, 'name' | 'groups'>): string | undefined {
  return name.startsWith(NODE_PREFIX) && name.length > NODE_PREFIX.length && groups.includes('system:nodes') ? name.slice(NODE_PREFIX.length) : undefined;
}
