// What expressions about a request ask the authorizer. Evaluations are synchronous, so that their time can be limited: one that needs a decision which
// comes later ends, and is repeated from its beginning when the decision is there.
import type { AccessAttributes, AccessDecision, PolicyInput } from '../../apimachinery/index.ts';
import type { MaybePromise } from '../../base/index.ts';
import type { AdmissionAttributes, User } from '../../registry/index.ts';

/** What an authorizer is asked, as the authorization of requests has it. */
export interface AccessQuestion extends Required<Omit<AccessAttributes, 'serviceAccount' | 'fieldSelector' | 'labelSelector'>>,
  Pick<AccessAttributes, 'fieldSelector' | 'labelSelector'> {
  readonly user: User;
  readonly isResource: boolean;
  readonly version: string;
}

/** Answers whether a user may do something, at once where the authorizer does. */
export type AskAccess = (question: AccessQuestion) => MaybePromise<{ readonly type: 'allow' | 'deny' | 'none'; readonly reason: string }>;

type Decide = NonNullable<PolicyInput['authorize']>;

/** Ends an evaluation that needs a decision. */
export class DecisionWanted extends Error {
  readonly asks: AccessAttributes;
  /** Undefined where nothing is asked. */
  readonly decided: Promise<AccessDecision> | undefined;

  constructor(asks: AccessAttributes, decided: Promise<AccessDecision> | undefined) {
    super('an authorizer has to decide first');
    this.asks = asks;
    this.decided = decided;
  }
}

type Ask = (asks: AccessAttributes) => MaybePromise<AccessDecision>;

const accountUser = ({ namespace, name }: { readonly namespace: string; readonly name: string }): User => ({
  name: `system:serviceaccount:${namespace}:${name}`, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

/** The question of an access that an expression checks, for the user of the request unless it names an account. */
function describeAccess({ serviceAccount, path, ...access }: AccessAttributes, requestUser: User): AccessQuestion {
  const { verb, group = '', resource = '', subresource = '', namespace = '', name = '', fieldSelector, labelSelector } = access;
  return {
    user: serviceAccount === undefined ? requestUser : accountUser(serviceAccount), verb, isResource: path === undefined, path: path ?? '',
    group, version: path === undefined ? '*' : '', resource, subresource, namespace, name,
    ...(fieldSelector !== undefined && { fieldSelector }), ...(labelSelector !== undefined && { labelSelector }),
  };
}

/** Asks the authorizer for the user of a request. */
export const createAsk = ({ context: { user } }: Pick<AdmissionAttributes, 'context'>, askAccess: AskAccess): Ask => (asks) => {
  const allows = ({ type, reason }: Awaited<ReturnType<AskAccess>>): AccessDecision => ({ allowed: type === 'allow', reason });
  const answer = askAccess(describeAccess(asks, user));
  return answer instanceof Promise ? answer.then(allows) : allows(answer);
};

const questionOf = (asks: AccessAttributes): string => JSON.stringify(asks);

/** What an authorizer has decided for one group of expressions: each access is asked for once. */
export class Decisions {
  readonly #ask: Ask | undefined;
  readonly #known: Map<string, AccessDecision>;

  /** Without `ask` the decisions are those that are known. */
  constructor(ask: Ask | undefined, known: ReadonlyMap<string, AccessDecision> = new Map()) {
    this.#ask = ask;
    this.#known = new Map(known);
  }

  /** By question. */
  get known(): ReadonlyMap<string, AccessDecision> {
    return this.#known;
  }

  /** Decides about an access. Throws DecisionWanted where the decision is not there yet. */
  readonly decide: Decide = (asks) => {
    const question = questionOf(asks);
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const decided = this.#ask?.(asks);
    if (decided === undefined || decided instanceof Promise) throw new DecisionWanted(asks, decided);
    this.#known.set(question, decided);
    return decided;
  };

  /** Waits for a decision; an authorizer that fails decides no. */
  async learn(asks: AccessAttributes, decided = this.#ask?.(asks)): Promise<void> {
    const decision = await Promise.resolve(decided).catch((error: unknown) => ({ allowed: false, error: (error as Error).message }));
    if (decision !== undefined) this.#known.set(questionOf(asks), decision);
  }

  /** Does work that asks, again after each decision that it had to wait for. */
  async run<T>(work: (decide: Decide) => T | Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work(this.decide);
      } catch (error) {
        if (!(error instanceof DecisionWanted) || error.decided === undefined) throw error;
        await this.learn(error.asks, error.decided);
      }
    }
  }
}
