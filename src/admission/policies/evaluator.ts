// Groups of expressions of a policy (its conditions, its validations, its annotations, one mutation), each evaluated in the turn of the request while
// that is short. A group that takes longer is given up and evaluated in a worker, with what it reads as data. What an expression asks the authorizer
// is decided here: the group is evaluated again with each decision that comes later, or that a worker does not have.
import {
  type AccessAttributes, type AccessDecision, type KubeObject, PolicyEvaluation, type PolicyInput, jsonOfResult, loadPatternEngine, patchOfResult,
} from '../../apimachinery/index.ts';
import { type Clock, type MaybePromise, type Steps, limitTime, mapMaybe, tooLong } from '../../base/index.ts';
import type { AdmissionMetrics, PolicyCheck } from '../metrics.ts';
import type { RequestSignal, User } from '../../registry/index.ts';
import { type ConditionOutcome, evaluateConditions } from '../match/conditions.ts';
import { type Mutation, type MutatingProgram, compileMutations } from './mutations.ts';
import { type Policy, type PolicyExpressions, createPolicy } from './policy.ts';
import {
  type AnnotationOutcome, type Denial, type ValidatingProgram, compileValidations, evaluateAnnotations, evaluateValidations,
} from './validations.ts';

/** What a mutation made: JSON, or the reason why there is none. */
export type MadeJson = { readonly json: unknown } | { readonly problem: string };

/** A group of expressions, as a worker gets it. */
export interface EvaluationTask {
  readonly sort: 'validating' | 'mutating';
  /** The spec of the policy. */
  readonly spec: unknown;
  /** A number: that mutation. */
  readonly group: 'conditions' | 'validations' | 'annotations' | number;
  /** Without functions. */
  readonly input: PolicyInput;
  /** What the authorizer has decided so far, by question; absent where no expression asks. */
  readonly decisions?: ReadonlyMap<string, AccessDecision>;
}

type Outcome = ConditionOutcome | readonly Denial[] | AnnotationOutcome | MadeJson;

/** A worker needs a decision. */
interface Question {
  readonly asks: AccessAttributes;
}

/** Ends an evaluation that needs a decision. */
class DecisionWanted extends Error {
  readonly asks: AccessAttributes;
  readonly decided: MaybePromise<AccessDecision> | undefined;

  constructor(asks: AccessAttributes, decided?: MaybePromise<AccessDecision>) {
    super('an authorizer has to decide first');
    this.asks = asks;
    this.decided = decided;
  }
}

type Ask = NonNullable<PolicyInput['authorize']>;

const questionOf = (asks: AccessAttributes): string => JSON.stringify(asks);

/** Answers from decisions; one that is missing ends the evaluation, unless `ask` decides at once. */
function recall(decisions: Map<string, AccessDecision>, ask?: Ask): Ask {
  return (asks) => {
    const known = decisions.get(questionOf(asks));
    if (known !== undefined) return known;
    const decided = ask?.(asks);
    if (decided === undefined || decided instanceof Promise) throw new DecisionWanted(asks, decided);
    decisions.set(questionOf(asks), decided);
    return decided;
  };
}

/** The decision; an authorizer that fails decides no. */
async function settle(decided: MaybePromise<AccessDecision>): Promise<AccessDecision> {
  try {
    return await decided;
  } catch (error) {
    return { allowed: false, error: (error as Error).message };
  }
}

/** Evaluates a group in a worker; answers what `evaluateTask` answers there. */
export type EvaluateElsewhere = (task: EvaluationTask, owner: { readonly user: User; readonly signal: RequestSignal | undefined }) => Promise<unknown>;

/** Longest that a group may take in the turn of the request. */
const TURN_MS = 15;

/** What a mutation makes. */
function makeJson({ type, expression }: Mutation, input: PolicyInput): MaybePromise<MadeJson> {
  return mapMaybe(new PolicyEvaluation(input).evaluate(expression), (result) => {
    if (result.type !== 'value') return { problem: result.message };
    return type === 'JSONPatch' ? patchOfResult(result.value) : jsonOfResult(result.value);
  });
}

function* compileNothing(): Steps<object> {
  return {};
}

/** Evaluates a group, in a worker. */
export async function evaluateTask(task: EvaluationTask): Promise<Outcome | Question> {
  await loadPatternEngine();
  const { decisions, input } = task;
  const authorize = decisions && recall(new Map(decisions));
  try {
    return await evaluateGroup({ ...task, input: { ...input, ...(authorize !== undefined && { authorize }) } });
  } catch (error) {
    if (error instanceof DecisionWanted) return { asks: error.asks };
    throw error;
  }
}

function evaluateGroup({ spec, group, input: { variables: _variables, ...input } }: EvaluationTask): MaybePromise<Outcome> {
  const object = { metadata: {}, spec } as unknown as KubeObject;
  if (typeof group === 'number') {
    const { mutations, variables } = createPolicy(object, compileMutations).program;
    return makeJson(mutations[group] as Mutation, { ...input, variables });
  }
  if (group === 'conditions') {
    const { conditions, variables } = createPolicy(object, compileNothing).program;
    return evaluateConditions(conditions, { ...input, variables });
  }
  const { ignoresFailures, program } = createPolicy(object, compileValidations);
  const evaluate = group === 'validations' ? evaluateValidations : evaluateAnnotations;
  return evaluate(program, { ...input, variables: program.variables }, ignoresFailures);
}

interface EvaluatorDependencies {
  readonly clock: Clock;
  readonly metrics: Pick<AdmissionMetrics, 'recordConditions' | 'recordPolicyCheck' | 'recordExpressions'>;
  readonly evaluateElsewhere?: EvaluateElsewhere | undefined;
}

/** What a policy decided, of which the evaluator knows how long it took. */
export type Decided = Omit<PolicyCheck, 'policy' | 'durationMs'>;

type Task = Omit<EvaluationTask, 'spec'>;

/** An authorizer and what it has decided for one group. */
interface Asked {
  readonly ask: Ask;
  readonly decisions: Map<string, AccessDecision>;
}

interface Owner {
  readonly operation: string;
  readonly context: { readonly user: User; readonly signal?: RequestSignal | undefined };
}

/** Evaluates the groups of one request. */
export class Evaluator {
  readonly #clock: Clock;
  readonly #elsewhere: EvaluateElsewhere | undefined;
  readonly #owner: Owner;
  readonly #metrics: EvaluatorDependencies['metrics'];
  /** When the group that was evaluated last began. */
  #startedMs = 0;

  constructor({ clock, metrics, evaluateElsewhere }: EvaluatorDependencies, owner: Owner) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#elsewhere = evaluateElsewhere;
    this.#owner = owner;
  }

  evaluateConditions(policy: Policy<unknown>, input: PolicyInput): MaybePromise<ConditionOutcome> {
    const { conditions } = policy.program as PolicyExpressions;
    if (conditions.length === 0) return { type: 'match' };
    const plain = { ...input, namespaceObject: null };
    const evaluated = this.#evaluate(policy, (known) => evaluateConditions(conditions, known), { sort: 'validating', group: 'conditions', input: plain });
    return mapMaybe(evaluated, (outcome) => {
      if (outcome.type === 'match') return outcome;
      const errors = outcome.type === 'failed' ? outcome.errors.length : 0;
      this.#metrics.recordConditions({
        kind: 'policy', name: policy.name, type: 'validate', operation: this.#owner.operation, durationMs: this.#elapsedMs(), errors, isExcluded: true });
      return outcome;
    });
  }

  /** Counts what the expressions that were evaluated last came to. */
  report({ name }: Policy<unknown>, decided: Decided): void {
    this.#metrics.recordPolicyCheck({ policy: name, ...decided, durationMs: this.#elapsedMs() });
  }

  #elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  evaluateValidations(policy: Policy<ValidatingProgram>, input: PolicyInput): MaybePromise<readonly Denial[]> {
    const { program, ignoresFailures } = policy;
    return this.#evaluate(policy, (known) => evaluateValidations(program, known, ignoresFailures), { sort: 'validating', group: 'validations', input });
  }

  evaluateAnnotations(policy: Policy<ValidatingProgram>, input: PolicyInput): MaybePromise<AnnotationOutcome> {
    const { program, ignoresFailures } = policy;
    return this.#evaluate(policy, (known) => evaluateAnnotations(program, known, ignoresFailures), { sort: 'validating', group: 'annotations', input });
  }

  /** What a mutation makes, by its index. */
  makeJson(policy: Policy<MutatingProgram>, index: number, input: PolicyInput): MaybePromise<MadeJson> {
    return this.#evaluate(policy, (known) => makeJson(policy.program.mutations[index] as Mutation, known), { sort: 'mutating', group: index, input });
  }

  #evaluate<T extends Outcome>(policy: Policy<unknown>, work: (input: PolicyInput) => MaybePromise<T>, task: Task): MaybePromise<T> {
    const startedMs = this.#clock.monotonicMs();
    this.#startedMs = startedMs;
    return mapMaybe(this.#evaluateUnmeasured(policy, work, task), (outcome) => {
      this.#metrics.recordExpressions?.('evaluation', this.#clock.monotonicMs() - startedMs);
      return outcome;
    });
  }

  #evaluateUnmeasured<T extends Outcome>(policy: Policy<unknown>, work: (input: PolicyInput) => MaybePromise<T>, task: Task): MaybePromise<T> {
    const elsewhere = this.#elsewhere;
    const { input } = task;
    if (elsewhere === undefined) return work(input);
    const { asksAuthorizer } = policy.program as PolicyExpressions;
    const asked = asksAuthorizer && input.authorize !== undefined ? { ask: input.authorize, decisions: new Map<string, AccessDecision>() } : undefined;
    const attempt = (): MaybePromise<T> => {
      try {
        const result = limitTime(this.#clock, TURN_MS, () => work(asked === undefined ? input : { ...input, authorize: recall(asked.decisions, asked.ask) }));
        return result === tooLong ? this.#evaluateElsewhere(elsewhere, { ...task, spec: policy.spec }, asked) as Promise<T> : result;
      } catch (error) {
        if (asked === undefined || !(error instanceof DecisionWanted) || error.decided === undefined) throw error;
        const { asks } = error;
        return settle(error.decided).then((decision) => {
          asked.decisions.set(questionOf(asks), decision);
          return attempt();
        });
      }
    };
    return attempt();
  }

  async #evaluateElsewhere(elsewhere: EvaluateElsewhere, task: EvaluationTask, asked: Asked | undefined): Promise<unknown> {
    const { authorize: _authorize, variables: _variables, shared: _shared, ...input } = task.input;
    const { user, signal } = this.#owner.context;
    for (;;) {
      const outcome = await elsewhere({ ...task, input, ...(asked !== undefined && { decisions: asked.decisions }) }, { user, signal });
      const { asks } = outcome as Partial<Question>;
      if (asks === undefined || asked === undefined) return outcome;
      asked.decisions.set(questionOf(asks), await settle(asked.ask(asks)));
    }
  }
}
