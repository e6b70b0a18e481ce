// Authorization: system:masters first, then the modes in their order; the first that allows or denies decides. An answer that is known at
// once stays synchronous.
import { MASTERS_GROUP } from '../user.ts';
import type { Attributes, Authorize, Decision } from './attributes.ts';

/** Names of the modes that exist, as `--authorization-mode` spells them. */
export const authorizationModes = ['RBAC', 'Node', 'ABAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;
/** A value of `--authorization-mode`. */
export type AuthorizationMode = (typeof authorizationModes)[number];

/** The modes that need more than a request to decide. */
type Authorizers = Readonly<Partial<Record<AuthorizationMode, Authorize>>>;

const noOpinion: Decision = { type: 'none', reason: '' };
const allowed: Decision = { type: 'allow', reason: '' };

const fixed: Authorizers = {
  AlwaysAllow: () => allowed,
  AlwaysDeny: () => ({ type: 'none', reason: 'Everything is forbidden.' }),
};

interface ChainOptions {
  /** Each Webhook among the modes takes the next of these. */
  readonly webhooks?: readonly Authorize[];
  /** Hears of each decision of a mode, by its place; to have no opinion is none, and members of system:masters pass before the first mode. */
  readonly onDecided?: (index: number, decision: 'allowed' | 'denied') => void;
}

/** Makes the authorizer of a server. A mode without an authorizer has no opinion. */
export function createAuthorizer(
  modes: readonly AuthorizationMode[], authorizers: Authorizers, { webhooks = [], onDecided = () => {} }: ChainOptions = {},
): Authorize {
  const left = [...webhooks];
  const chain = modes.map((mode) => (mode === 'Webhook' ? left.shift() : undefined) ?? authorizers[mode] ?? fixed[mode] ?? (() => noOpinion));
  return (attributes) => (attributes.user.groups.includes(MASTERS_GROUP) ? allowed
    : askFrom(chain, { attributes, index: 0, reasons: [], errors: [], onDecided }));
}

interface Asking {
  readonly attributes: Attributes;
  readonly index: number;
  readonly reasons: readonly string[];
  readonly errors: readonly string[];
  readonly onDecided: (index: number, decision: 'allowed' | 'denied') => void;
}

function withoutOpinion(reasons: readonly string[], errors: readonly string[]): Decision {
  if (reasons.length === 0 && errors.length === 0) return noOpinion;
  const [error, ...more] = errors;
  return { type: 'none', reason: reasons.join('\n'), ...(error !== undefined && { error: more.length === 0 ? error : `[${errors.join(', ')}]` }) };
}

function askFrom(chain: readonly Authorize[], { attributes, index, reasons, errors, onDecided }: Asking): Promise<Decision> | Decision {
  const authorize = chain[index];
  if (authorize === undefined) return withoutOpinion(reasons, errors);
  const weigh = (decision: Decision): Promise<Decision> | Decision => {
    if (decision.type !== 'none') {
      onDecided(index, decision.type === 'allow' ? 'allowed' : 'denied');
      return decision;
    }
    return askFrom(chain, {
      attributes, index: index + 1, onDecided, reasons: decision.reason === '' ? reasons : [...reasons, decision.reason],
      errors: decision.error === undefined ? errors : [...errors, decision.error],
    });
  };
  const answer = authorize(attributes);
  return answer instanceof Promise ? answer.then(weigh) : weigh(answer);
}
