// SelfSubjectRulesReview: everything that a caller may do in a namespace, as far as the modes can list it.
import { type KubeObject, badRequest } from '../../apimachinery/index.ts';
import type { User } from '../user.ts';
import type { AuthorizationMode } from './authorize.ts';
import { type ResolveRules, type ResolvedRules, joinErrors } from './rbac.ts';

const everything: ResolvedRules = { rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }], errors: [] };
/** Modes that decide but cannot list. */
const silent: Readonly<Partial<Record<AuthorizationMode, string>>> = {
  Node: 'node authorizer does not support user rule resolution',
  Webhook: 'webhook authorizer does not support user rule resolution',
};

interface RulesReview {
  readonly object: KubeObject;
  readonly user: User;
}

/** Answers a review; throws 400 when it names no namespace. */
export function reviewRules({ object, user }: RulesReview, modes: readonly AuthorizationMode[], resolve: ResolveRules): KubeObject {
  const { namespace = '' } = (object['spec'] ?? {}) as { namespace?: string };
  if (namespace === '') throw badRequest('no namespace on request');
  const resourceRules: unknown[] = [];
  const nonResourceRules: unknown[] = [];
  const errors: string[] = [];
  for (const mode of modes) {
    const found = mode === 'RBAC' ? resolve(user, namespace) : mode === 'AlwaysAllow' ? everything : undefined;
    const why = silent[mode];
    if (why !== undefined) errors.push(why);
    errors.push(...(found?.errors ?? []));
    for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } of found?.rules ?? []) {
      if (resources !== undefined && resources.length > 0) resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames && { resourceNames }) });
      if (nonResourceURLs !== undefined && nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
    }
  }
  const incomplete = errors.length > 0;
  const status = { resourceRules, nonResourceRules, incomplete, ...(incomplete && { evaluationError: joinErrors(errors) }) };
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: {}, spec: {}, status };
}
