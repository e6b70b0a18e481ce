// The user of a request, as authentication finds it and authorization decides by it.
import type { User } from '../registry/index.ts';

export type { User };

/** The name of callers without credentials. */
export const ANONYMOUS_NAME = 'system:anonymous';
/** Every caller with credentials is in this group. */
export const AUTHENTICATED_GROUP = 'system:authenticated';
/** Callers without credentials are in this group. */
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
/** Members may do everything, whatever the authorization mode says. */
export const MASTERS_GROUP = 'system:masters';

/** The caller without credentials. */
export const anonymous: User = { name: ANONYMOUS_NAME, groups: [UNAUTHENTICATED_GROUP] };

/** The same user in the group of all authenticated ones, which comes last as in the reference. */
export function markAuthenticated(user: User): User {
  const outside = user.name === ANONYMOUS_NAME || user.groups.includes(AUTHENTICATED_GROUP) || user.groups.includes(UNAUTHENTICATED_GROUP);
  return outside ? user : { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}

const NODE_PREFIX = 'system:node:';

/** The node that a user is: a kubelet's name in the group of nodes; undefined for all others. */
export function findNodeName({ name, groups }: Pick<User, 'name' | 'groups'>): string | undefined {
  return name.startsWith(NODE_PREFIX) && name.length > NODE_PREFIX.length && groups.includes('system:nodes') ? name.slice(NODE_PREFIX.length) : undefined;
}
