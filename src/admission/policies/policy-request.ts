// One request as policies see it: which policies and bindings match, in which form, with which parameters, and what expressions are evaluated on.
// Reads of the namespace, conversions and descriptions of the request are made once for all policies. Mirrors upstream's policy dispatchers.
import { type PolicyInput, loadPatternEngine, notFound } from '../../apimachinery/index.ts';
import { type Clock, createTimeSlice } from '../../base/index.ts';
import type { AdmissionAttributes, StoredObject } from '../../registry/index.ts';
import { describeInput } from '../match/conditions.ts';
import type { AskAccess } from '../match/decisions.ts';
import { RequestForms } from '../match/request-forms.ts';
import type { ResourceForm } from '../match/resource-forms.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import { isNamespaces, namespaceOf } from '../match/rules.ts';
import { type ReadNamespace, rememberNamespace } from '../match/selectors.ts';
import { type PlacedCriteria, matchCriteria } from './criteria.ts';
import type { EvaluateElsewhere } from '../match/evaluation.ts';
import { Evaluator } from './evaluator.ts';
import { describeNamespace } from './namespace-object.ts';
import { ConfigurationError, type Param, type ParamReads, findParamKind, readParams } from './params.ts';
import type { Hook } from './policies.ts';
import type { Binding, Policy, PolicyExpressions } from './policy.ts';

/** What policies need. */
export interface PolicyDependencies extends ParamReads {
  readonly clock: Clock;
  readonly readNamespace: ReadNamespace;
  readonly askAccess: AskAccess;
  readonly metrics: Pick<AdmissionMetrics, 'recordConditions' | 'recordPolicyCheck' | 'recordExpressions'>;
  /** Absent in a worker, which evaluates everything itself. */
  readonly evaluateElsewhere?: EvaluateElsewhere | undefined;
}

/** A policy with one of its bindings and one parameter, for a request that both match. */
export interface Invocation<Program> {
  readonly policy: Policy<Program>;
  readonly binding: Binding;
  readonly param: Param;
  readonly form: ResourceForm;
}

/** A policy, or its binding, that cannot be used for the request. */
export interface Misconfiguration<Program> {
  readonly policy: Policy<Program>;
  readonly binding: Binding | undefined;
  readonly message: string;
}

/** Receives what matches, in order. */
export interface InvocationListener<Program> {
  onInvocation(invocation: Invocation<Program>): Promise<void> | void;
  onMisconfiguration(problem: Misconfiguration<Program>): void;
  /** All bindings of a policy that matches were visited. */
  onPolicyEnd?(policy: Policy<Program>): void;
}

/** A binding of a policy, in the form in which the policy matches. */
interface BoundPolicy<Program> extends Pick<Invocation<Program>, 'policy' | 'binding' | 'form'> {
  readonly placed: PlacedCriteria;
}

/** Longest that policies run before others have their turn. */
const SLICE_MS = 10;
const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** One request. */
export class PolicyRequest {
  readonly attributes: AdmissionAttributes;
  readonly forms: RequestForms;
  readonly evaluator: Evaluator;
  readonly #dependencies: PolicyDependencies;
  readonly #pause: () => Promise<void> | undefined;
  readonly #inputs = new Map<ResourceForm, { readonly object: unknown; readonly input: PolicyInput }>();
  readonly #readNamespace: ReadNamespace;

  constructor(attributes: AdmissionAttributes, dependencies: PolicyDependencies) {
    this.attributes = attributes;
    this.forms = new RequestForms(attributes);
    this.evaluator = new Evaluator(dependencies, attributes);
    this.#dependencies = dependencies;
    this.#pause = createTimeSlice(dependencies.clock, SLICE_MS);
    this.#readNamespace = rememberNamespace(dependencies.readNamespace);
  }

  /** Lets others have their turn when policies have taken theirs. */
  pause(): Promise<void> | undefined {
    return this.#pause();
  }

  /** Visits what matches, in order. */
  async visit<Program>(hooks: readonly Hook<Program>[], listener: InvocationListener<Program>): Promise<void> {
    await loadPatternEngine();
    for (const hook of hooks) {
      await this.#pause();
      await this.#visitHook(hook, listener);
    }
  }

  /** What expressions of an invocation are evaluated on; the namespace is absent from match conditions. */
  async input({ policy, param, form }: Invocation<PolicyExpressions>): Promise<PolicyInput> {
    return { ...await this.#baseInput(form), params: param.object ?? null, variables: policy.program.variables };
  }

  async #baseInput(form: ResourceForm): Promise<PolicyInput> {
    const { object } = this.forms.selected;
    const known = this.#inputs.get(form);
    if (known !== undefined && known.object === object) return known.input;
    const objects = await this.forms.convert(form);
    const namespace = await this.#findNamespace();
    const namespaceObject = namespace === undefined ? null : describeNamespace(namespace);
    const input = { ...describeInput(this.attributes, objects), namespaceObject, shared: new Map() };
    this.#inputs.set(form, { object, input });
    return input;
  }

  async #findNamespace(): Promise<StoredObject | undefined> {
    const name = isNamespaces(this.attributes) ? '' : namespaceOf(this.attributes);
    if (name === '') return undefined;
    const found = await this.#readNamespace(name);
    if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, name);
    return found;
  }

  #match(placed: PlacedCriteria): Promise<ResourceForm | undefined> {
    return matchCriteria(placed, this.attributes, this.#readNamespace);
  }

  async #visitHook<Program>({ policy, placed, bindings }: Hook<Program>, listener: InvocationListener<Program>): Promise<void> {
    let form: ResourceForm | undefined;
    try {
      form = await this.#match(placed);
      if (form !== undefined && policy.paramKind !== undefined) findParamKind(policy.paramKind, this.#dependencies.catalog);
    } catch (error) {
      return listener.onMisconfiguration({ policy, binding: undefined, message: `failed to configure policy: ${describeError(error)}` });
    }
    if (form === undefined) return;
    await this.#prepare(policy);
    for (const candidate of bindings) await this.#visitBinding({ policy, form, ...candidate }, listener);
    listener.onPolicyEnd?.(policy);
  }

  #prepare(policy: Pick<Policy<unknown>, 'prepare'>): Promise<void> | undefined {
    const { clock, metrics } = this.#dependencies;
    const startedMs = clock.monotonicMs();
    return policy.prepare(this.#pause)?.then(() => metrics.recordExpressions?.('compilation', clock.monotonicMs() - startedMs));
  }

  async #visitBinding<Program>(bound: BoundPolicy<Program>, listener: InvocationListener<Program>): Promise<void> {
    const { policy, binding, form } = bound;
    for (const param of await this.#findParams(bound, listener)) {
      await this.#pause();
      await listener.onInvocation({ policy, binding, param, form });
    }
  }

  /** The parameters that a binding brings for the request; none where it does not match, or cannot be used. */
  async #findParams<Program>({ policy, binding, placed, form }: BoundPolicy<Program>, listener: InvocationListener<Program>): Promise<readonly Param[]> {
    const question = { paramKind: policy.paramKind, paramRef: binding.paramRef, namespace: namespaceOf(this.attributes) };
    try {
      if (await this.#match(placed) === undefined) return [];
      const params = await readParams(question, this.#dependencies);
      if (params.length > 0) await this.#convert(form);
      return params;
    } catch (error) {
      listener.onMisconfiguration({ policy, binding, message: `failed to configure binding: ${describeError(error)}` });
      return [];
    }
  }

  async #convert(form: ResourceForm): Promise<void> {
    try {
      await this.forms.convert(form);
    } catch (error) {
      throw new ConfigurationError(`failed to convert object version: ${describeError(error)}`);
    }
  }
}
