// The groups of expressions of a policy: its conditions, its validations, its annotations, one mutation.
import {
  type KubeObject, PolicyEvaluation, type PolicyInput, jsonOfResult, loadPatternEngine, patchOfResult,
} from '../../apimachinery/index.ts';
import type { Clock, Steps } from '../../base/index.ts';
import type { AdmissionMetrics, PolicyCheck } from '../metrics.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { type ConditionOutcome, evaluateConditions } from '../match/conditions.ts';
import { DecisionWanted, Decisions } from '../match/decisions.ts';
import { type EvaluationDependencies, type EvaluationTask, type Question, RequestEvaluation } from '../match/evaluation.ts';
import { type Mutation, type MutatingProgram, compileMutations } from './mutations.ts';
import { type Policy, type PolicyExpressions, createPolicy } from './policy.ts';
import {
  type AnnotationOutcome, type Denial, type ValidatingProgram, compileValidations, evaluateAnnotations, evaluateValidations,
} from './validations.ts';

/** What a mutation made: JSON, or the reason why there is none. */
export type MadeJson = { readonly json: unknown } | { readonly problem: string };

type Outcome = ConditionOutcome | readonly Denial[] | AnnotationOutcome | MadeJson;

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

interface EvaluatorDependencies extends EvaluationDependencies {
  readonly metrics: Pick<AdmissionMetrics, 'recordConditions' | 'recordPolicyCheck' | 'recordExpressions'>;
}

/** What a policy decided, of which the evaluator knows how long it took. */
export type Decided = Omit<PolicyCheck, 'policy' | 'durationMs'>;

type Task = Omit<EvaluationTask, 'spec'>;
/** The part of a request that evaluations concern. */
type Evaluated = Pick<AdmissionAttributes, 'operation' | 'context'>;

/** Evaluates the groups of one request. */
export class Evaluator {
  readonly #clock: Clock;
  readonly #operation: AdmissionAttributes['operation'];
  readonly #evaluation: RequestEvaluation;
  readonly #metrics: EvaluatorDependencies['metrics'];
  /** When the group that was evaluated last began. */
  #startedMs = 0;

  constructor(dependencies: EvaluatorDependencies, attributes: Evaluated) {
    this.#clock = dependencies.clock;
    this.#metrics = dependencies.metrics;
    this.#operation = attributes.operation;
    this.#evaluation = new RequestEvaluation(dependencies, attributes);
  }

  async evaluateConditions(policy: Policy<unknown>, input: PolicyInput): Promise<ConditionOutcome> {
    const { conditions } = policy.program as PolicyExpressions;
    if (conditions.length === 0) return { type: 'match' };
    const plain = { ...input, namespaceObject: null };
    const outcome = await this.#evaluate(policy, (known) => evaluateConditions(conditions, known), { sort: 'validating', group: 'conditions', input: plain });
    if (outcome.type === 'match') return outcome;
    const errors = outcome.type === 'failed' ? outcome.errors.length : 0;
    this.#metrics.recordConditions({
      kind: 'policy', name: policy.name, type: 'validate', operation: this.#operation, durationMs: this.#elapsedMs(), errors, isExcluded: true });
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
    const outcome = await this.#evaluation.evaluate(work, { ...task, spec: policy.spec }, policy.program as PolicyExpressions);
    this.#metrics.recordExpressions?.('evaluation', this.#clock.monotonicMs() - startedMs);
    return outcome;
  }
}
