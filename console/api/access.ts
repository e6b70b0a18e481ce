// The objects that RBAC decides by, and the decision of the server itself.
import type { Action, Caller, Policy } from '../model/index.ts';
import { call } from './request.ts';

const ROOT = '/apis/rbac.authorization.k8s.io/v1';

/** All roles and bindings. Throws ApiError where the user may not list them. */
export async function fetchPolicy(signal: AbortSignal): Promise<Policy> {
  const [roles, clusterRoles, bindings, clusterBindings] = await Promise.all(
    ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map(async (plural) => (await call(`${ROOT}/${plural}`, { signal })).body.items ?? []),
  );
  return { roles, clusterRoles, bindings, clusterBindings };
}

/** What the server says about an action of a caller: all its authorizers, not RBAC alone. Throws ApiError. */
export async function askServer({ user, groups }: Caller, { verb, group, resource, namespace, name }: Action): Promise<{ allowed: boolean; reason: string }> {
  const [plural = '', subresource = ''] = resource.split('/');
  const body = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview',
    spec: { user, groups, resourceAttributes: { verb, group, resource: plural, subresource, namespace, name } },
  });
  const answer = await call('/apis/authorization.k8s.io/v1/subjectaccessreviews', { method: 'POST', type: 'application/json', body });
  return { allowed: answer.body.status?.allowed === true, reason: answer.body.status?.reason ?? '' };
}
