// SelfSubjectRulesReview: everything that a caller may do in a namespace, as far as the modes can list it.
import { type KubeObject, badRequest } from '../../apimachinery/index.ts';
import { type User, findNodeName } from '../user.ts';
import type { AuthorizationMode } from './authorize.ts';
import { type ResolveRules, type ResolvedRules, joinErrors } from './rbac.ts';

const everything: ResolvedRules = { rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, { verbs: ['*'], nonResourceURLs: ['*'] }], errors: [] };
/** Why a mode cannot list what a user may do; undefined when it can. */
function explainSilence(mode: AuthorizationMode, user: User): string | undefined {
  if (mode === 'Node' && findNodeName(user) !== undefined) return 'node authorizer does not support user rule resolution';
  return mode === 'Webhook' ? 'webhook authorizer does not support user rule resolution' : undefined;
}

/** The modes that can list rules by what they know of them. */
export type RulesByMode = Readonly<Partial<Record<AuthorizationMode, ResolveRules>>>;

interface RulesReview {
  readonly object: KubeObject;
  readonly user: User;
}

/** Answers a review; throws 400 when it names no namespace. */
export function reviewRules({ object, user }: RulesReview, modes: readonly AuthorizationMode[], resolvers: RulesByMode): KubeObject {
  const { namespace = '' } = (object['spec'] ?? {}) as { namespace?: string };
  if (namespace === '') throw badRequest('no namespace on request');
  const resourceRules: unknown[] = [];
  const nonResourceRules: unknown[] = [];
  const errors: string[] = [];
  let incomplete = false;
  for (const mode of modes) {
    const found = mode === 'AlwaysAllow' ? everything : resolvers[mode]?.(user, namespace);
    const why = explainSilence(mode, user);
    incomplete ||= why !== undefined;
    if (why !== undefined) errors.push(why);
    errors.push(...(found?.errors ?? []));
    for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } of found?.rules ?? []) {
      if (resources !== undefined && resources.length > 0) resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames && { resourceNames }) });
      if (nonResourceURLs !== undefined && nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
    }
  }
  // A role that is missing is an error that hides nothing: the list is complete without it.
  const status = { resourceRules, nonResourceRules, incomplete, ...(errors.length > 0 && { evaluationError: joinErrors(errors) }) };
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: {}, spec: {}, status };
}
