// Groups of expressions about a request, evaluated in its turn while that is short. A group that takes longer is given up and evaluated in a worker, with
// what it reads as data. What an expression asks the authorizer is decided here: the group is evaluated again with each decision that comes later, or
// that a worker does not have.
import type { AccessAttributes, AccessDecision, PolicyInput } from '../../apimachinery/index.ts';
import { type Clock, limitTime, tooLong } from '../../base/index.ts';
import type { AdmissionAttributes, RequestSignal, User } from '../../registry/index.ts';
import { type AskAccess, Decisions, createAsk } from './decisions.ts';

/** A group of expressions, as a worker gets it. */
export interface EvaluationTask {
  readonly sort: 'validating' | 'mutating';
  /** The spec of the policy; the conditions of a webhook stand as in one. */
  readonly spec: unknown;
  /** A number: that mutation. */
  readonly group: 'conditions' | 'validations' | 'annotations' | number;
  /** Without functions. */
  readonly input: PolicyInput;
  /** What the authorizer has decided so far, by question; absent where no expression asks. */
  readonly decisions?: ReadonlyMap<string, AccessDecision>;
}

/** A worker needs a decision. */
export interface Question {
  readonly asks: AccessAttributes;
}

/** Evaluates a group in a worker; answers what `evaluateTask` answers there. */
export type EvaluateElsewhere = (task: EvaluationTask, owner: { readonly user: User; readonly signal: RequestSignal | undefined }) => Promise<unknown>;

/** What evaluations need. */
export interface EvaluationDependencies {
  readonly clock: Clock;
  readonly askAccess: AskAccess;
  readonly evaluateElsewhere?: EvaluateElsewhere | undefined;
}

/** Longest that a group may take in the turn of the request. */
const TURN_MS = 15;

/** The evaluations of one request. */
export class RequestEvaluation {
  readonly #clock: Clock;
  readonly #elsewhere: EvaluateElsewhere | undefined;
  readonly #context: AdmissionAttributes['context'];
  readonly #ask: ReturnType<typeof createAsk>;

  constructor({ clock, askAccess, evaluateElsewhere }: EvaluationDependencies, attributes: Pick<AdmissionAttributes, 'context'>) {
    this.#clock = clock;
    this.#elsewhere = evaluateElsewhere;
    this.#context = attributes.context;
    this.#ask = createAsk(attributes, askAccess);
  }

  /** Evaluates a group: `work` here, or the task in a worker. */
  evaluate<T>(work: (input: PolicyInput) => T, task: EvaluationTask, { asksAuthorizer }: { readonly asksAuthorizer: boolean }): Promise<T> | T {
    const decisions = asksAuthorizer ? new Decisions(this.#ask) : undefined;
    const evaluate = (known: PolicyInput): T | Promise<T> => {
      if (this.#elsewhere === undefined) return work(known);
      const outcome = limitTime(this.#clock, TURN_MS, () => work(known));
      return outcome === tooLong ? this.#evaluateElsewhere(this.#elsewhere, task, decisions) as Promise<T> : outcome;
    };
    return decisions === undefined ? evaluate(task.input) : decisions.run((authorize) => evaluate({ ...task.input, authorize }));
  }

  async #evaluateElsewhere(elsewhere: EvaluateElsewhere, task: EvaluationTask, decisions: Decisions | undefined): Promise<unknown> {
    const { variables: _variables, shared: _shared, ...input } = task.input;
    const { user, signal } = this.#context;
    for (;;) {
      const outcome = await elsewhere({ ...task, input, ...(decisions !== undefined && { decisions: decisions.known }) }, { user, signal });
      const { asks } = outcome as Partial<Question>;
      if (asks === undefined || decisions === undefined) return outcome;
      await decisions.learn(asks);
    }
  }
}
