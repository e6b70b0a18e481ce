// What the reference's bootstrap roles give to everybody: health and version to all, discovery and reviews of oneself to the authenticated.
// Mirrors system:public-info-viewer, system:discovery, system:basic-user and system:monitoring; stands in the place of RBAC.
import { authenticatedGroup, unauthenticatedGroup } from '../user.ts';
import type { Attributes, Decision } from './attributes.ts';

const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discoveryPaths = ['/api', '/apis', '/openapi'];
const monitoringPaths = ['/metrics', '/metrics/slis', '/healthz', '/livez', '/readyz'];
const ownReviews: readonly (readonly [group: string, resource: string])[] = [
  ['authorization.k8s.io', 'selfsubjectaccessreviews'],
  ['authorization.k8s.io', 'selfsubjectrulesreviews'],
  ['authentication.k8s.io', 'selfsubjectreviews'],
];

/** Allows what the bootstrap roles of ordinary callers allow; no opinion on the rest. */
export function authorizeBasics(attributes: Attributes): Decision {
  const role = findRole(attributes);
  if (role === undefined) return { type: 'none', reason: '' };
  const [name, group] = role;
  return { type: 'allow', reason: `RBAC: allowed by ClusterRoleBinding "${name}" of ClusterRole "${name}" to Group "${group}"` };
}

function findRole(attributes: Attributes): readonly [role: string, group: string] | undefined {
  const { user, isResource, verb } = attributes;
  const authenticated = user.groups.includes(authenticatedGroup);
  if (isResource) return authenticated && verb === 'create' && isOwnReview(attributes) ? ['system:basic-user', authenticatedGroup] : undefined;
  if (verb !== 'get') return undefined;
  if (authenticated && isUnder(discoveryPaths, attributes.path)) return ['system:discovery', authenticatedGroup];
  if (user.groups.includes('system:monitoring') && isUnder(monitoringPaths, attributes.path)) return ['system:monitoring', 'system:monitoring'];
  if (!publicPaths.includes(attributes.path)) return undefined;
  if (authenticated) return ['system:public-info-viewer', authenticatedGroup];
  return user.groups.includes(unauthenticatedGroup) ? ['system:public-info-viewer', unauthenticatedGroup] : undefined;
}

const isOwnReview = ({ group, resource, subresource }: Attributes): boolean =>
  subresource === '' && ownReviews.some(([reviewGroup, review]) => reviewGroup === group && review === resource);

const isUnder = (prefixes: readonly string[], path: string): boolean =>
  prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
