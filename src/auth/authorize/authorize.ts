// Authorization: system:masters first, then the modes in their order; the first that allows or denies decides.
import { mastersGroup } from '../user.ts';
import type { Authorize, Decision } from './attributes.ts';
import { authorizeBasics } from './basics.ts';

/** Names of the modes that exist, as `--authorization-mode` spells them. */
export const authorizationModes = ['RBAC', 'Node', 'AlwaysAllow', 'AlwaysDeny'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

const byMode: Readonly<Record<AuthorizationMode, Authorize>> = {
  RBAC: authorizeBasics,
  // Kubelets have no special rights here; the name is accepted because `Node,RBAC` is what most manifests say.
  Node: () => ({ type: 'none', reason: '' }),
  AlwaysAllow: () => ({ type: 'allow', reason: '' }),
  AlwaysDeny: () => ({ type: 'none', reason: 'Everything is forbidden.' }),
};

/** Makes the authorizer of a server. */
export function createAuthorizer(modes: readonly AuthorizationMode[]): Authorize {
  const authorizers = modes.map((mode) => byMode[mode]);
  return async (attributes) => {
    if (attributes.user.groups.includes(mastersGroup)) return { type: 'allow', reason: '' };
    const reasons: string[] = [];
    for (const authorize of authorizers) {
      const decision: Decision = await authorize(attributes);
      if (decision.type !== 'none') return decision;
      if (decision.reason !== '') reasons.push(decision.reason);
    }
    return { type: 'none', reason: reasons.join('\n') };
  };
}
