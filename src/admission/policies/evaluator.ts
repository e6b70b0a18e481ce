// Groups of expressions of a policy (its conditions, its validations, its annotations, one mutation), each evaluated in the turn of the request while
// that is short. A group that takes longer is given up and evaluated in a worker, with what it reads as data. What an expression asks the authorizer
// is decided here: the group is evaluated again with each decision that comes later, or that a worker does not have.
import {
  type AccessAttributes, type AccessDecision, type KubeObject, PolicyEvaluation, type PolicyInput, jsonOfResult, loadPatternEngine, patchOfResult,
} from '../../apimachinery/index.ts';
import { type Clock, type Steps, limitTime, tooLong } from '../../base/index.ts';
import type { AdmissionMetrics, PolicyCheck } from '../metrics.ts';
import type { AdmissionAttributes, RequestSignal, User } from '../../registry/index.ts';
import { type ConditionOutcome, evaluateConditions } from '../match/conditions.ts';
import { type AskAccess, DecisionWanted, Decisions, createAsk } from '../match/decisions.ts';
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

/** Evaluates a group in a worker; answers what `evaluateTask` answers there. */
export type EvaluateElsewhere = (task: EvaluationTask, owner: { readonly user: User; readonly signal: RequestSignal | undefined }) => Promise<unknown>;

/** Longest that a group may take in the turn of the request. */
const TURN_MS = 15;

/** What a mutation makes. */
function makeJson({ type, expression }: Mutation, input: PolicyInput): MadeJson {
  const result = new PolicyEvaluation(input).evaluate(expression);
  if (result.type !== 'value') return { problem: result.message };
  return type === 'JSONPatch' ? patchOfResult(result.value) : jsonOfResult(result.value);
}

function* compileNothing(): Steps<object> {
  return {};
}

/** Evaluates a group, in a worker. */
export async function evaluateTask(task: EvaluationTask): Promise<Outcome | Question> {
  await loadPatternEngine();
  const { decisions, input } = task;
  const authorize = decisions && new Decisions(undefined, decisions).decide;
  try {
    return evaluateGroup({ ...task, input: { ...input, ...(authorize !== undefined && { authorize }) } });
  } catch (error) {
    if (error instanceof DecisionWanted) return { asks: error.asks };
    throw error;
  }
}

function evaluateGroup({ spec, group, input: { variables: _variables, ...input } }: EvaluationTask): Outcome {
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
  readonly askAccess: AskAccess;
  readonly evaluateElsewhere?: EvaluateElsewhere | undefined;
}

/** What a policy decided, of which the evaluator knows how long it took. */
export type Decided = Omit<PolicyCheck, 'policy' | 'durationMs'>;

type Task = Omit<EvaluationTask, 'spec'>;
/** The part of a request that evaluations concern. */
type Evaluated = Pick<AdmissionAttributes, 'operation' | 'context'>;

/** Evaluates the groups of one request. */
export class Evaluator {
  readonly #clock: Clock;
  readonly #elsewhere: EvaluateElsewhere | undefined;
  readonly #attributes: Evaluated;
  readonly #ask: ReturnType<typeof createAsk>;
  readonly #metrics: EvaluatorDependencies['metrics'];
  /** When the group that was evaluated last began. */
  #startedMs = 0;

  constructor({ clock, metrics, askAccess, evaluateElsewhere }: EvaluatorDependencies, attributes: Evaluated) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#elsewhere = evaluateElsewhere;
    this.#attributes = attributes;
    this.#ask = createAsk(attributes, askAccess);
  }

  async evaluateConditions(policy: Policy<unknown>, input: PolicyInput): Promise<ConditionOutcome> {
    const { conditions } = policy.program as PolicyExpressions;
    if (conditions.length === 0) return { type: 'match' };
    const plain = { ...input, namespaceObject: null };
    const outcome = await this.#evaluate(policy, (known) => evaluateConditions(conditions, known), { sort: 'validating', group: 'conditions', input: plain });
    if (outcome.type === 'match') return outcome;
    const errors = outcome.type === 'failed' ? outcome.errors.length : 0;
    this.#metrics.recordConditions({
      kind: 'policy', name: policy.name, type: 'validate', operation: this.#attributes.operation, durationMs: this.#elapsedMs(), errors, isExcluded: true });
    return outcome;
  }

  /** Counts what the expressions that were evaluated last came to. */
  report({ name }: Policy<unknown>, decided: Decided): void {
    this.#metrics.recordPolicyCheck({ policy: name, ...decided, durationMs: this.#elapsedMs() });
  }

  #elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  evaluateValidations(policy: Policy<ValidatingProgram>, input: PolicyInput): Promise<readonly Denial[]> {
    const { program, ignoresFailures } = policy;
    return this.#evaluate(policy, (known) => evaluateValidations(program, known, ignoresFailures), { sort: 'validating', group: 'validations', input });
  }

  evaluateAnnotations(policy: Policy<ValidatingProgram>, input: PolicyInput): Promise<AnnotationOutcome> {
    const { program, ignoresFailures } = policy;
    return this.#evaluate(policy, (known) => evaluateAnnotations(program, known, ignoresFailures), { sort: 'validating', group: 'annotations', input });
  }

  /** What a mutation makes, by its index. */
  makeJson(policy: Policy<MutatingProgram>, index: number, input: PolicyInput): Promise<MadeJson> {
    return this.#evaluate(policy, (known) => makeJson(policy.program.mutations[index] as Mutation, known), { sort: 'mutating', group: index, input });
  }

  async #evaluate<T extends Outcome>(policy: Policy<unknown>, work: (input: PolicyInput) => T, task: Task): Promise<T> {
    const startedMs = this.#clock.monotonicMs();
    this.#startedMs = startedMs;
    const { input } = task;
    const { asksAuthorizer } = policy.program as PolicyExpressions;
    const decisions = asksAuthorizer ? new Decisions(this.#ask) : undefined;
    const evaluate = (known: PolicyInput): T | Promise<T> => {
      if (this.#elsewhere === undefined) return work(known);
      const outcome = limitTime(this.#clock, TURN_MS, () => work(known));
      return outcome === tooLong ? this.#evaluateElsewhere(this.#elsewhere, { ...task, spec: policy.spec }, decisions) as Promise<T> : outcome;
    };
    const outcome = await (decisions === undefined ? evaluate(input) : decisions.run((authorize) => evaluate({ ...input, authorize })));
    this.#metrics.recordExpressions?.('evaluation', this.#clock.monotonicMs() - startedMs);
    return outcome;
  }

  async #evaluateElsewhere(elsewhere: EvaluateElsewhere, task: EvaluationTask, decisions: Decisions | undefined): Promise<unknown> {
    const { variables: _variables, shared: _shared, ...input } = task.input;
    const { user, signal } = this.#attributes.context;
    for (;;) {
      const outcome = await elsewhere({ ...task, input, ...(decisions !== undefined && { decisions: decisions.known }) }, { user, signal });
      const { asks } = outcome as Partial<Question>;
      if (asks === undefined || decisions === undefined) return outcome;
      await decisions.learn(asks);
    }
  }
}
