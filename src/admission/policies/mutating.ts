// MutatingAdmissionPolicy: policies by name, their bindings by name, a parameter at a time; each sees what those before it have made of the object.
// When a mutation has run, plugins run a second pass, in which policies with reinvocationPolicy IfNeeded run again if the object has changed since
// they did. What fails is collected: the first failure is what the client is answered. Mirrors upstream's mutating dispatcher.
import { type KubeObject, type SchemaSet, equalJson, failure } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import type { AdmissionPlugin, MutatingPass } from '../chain.ts';
import { joinErrors } from '../match/conditions.ts';
import { refuse } from '../refusal.ts';
import { Reinvocation } from '../reinvocation.ts';
import { type Mutation, MutationError, type MutatingProgram, type MutatingSpec, mutateObject } from './mutations.ts';
import type { Hook, Policies } from './policies.ts';
import type { PolicyExpressions } from './policy.ts';
import { type Invocation, type InvocationListener, type Misconfiguration, type PolicyDependencies, PolicyRequest } from './policy-request.ts';

/** All MutatingAdmissionPolicies. */
export type MutatingPolicies = Policies<MutatingSpec, MutatingProgram>;

type Program = MutatingProgram & PolicyExpressions;

const PLUGIN = 'MutatingAdmissionPolicy';
const FORBIDDEN = 403;

const keyOf = ({ policy, binding, param }: Invocation<Program>): string => JSON.stringify([policy.name, binding.name, param.key]);

interface MutatingDependencies extends PolicyDependencies {
  readonly schemas: SchemaSet;
}

/** The policies of one pass over one request. */
class MutatingRun implements InvocationListener<MutatingProgram> {
  /** What matches the object as it was before the first of them ran. */
  readonly #invocations: Invocation<Program>[] = [];
  readonly #request: PolicyRequest;
  readonly #schemas: SchemaSet;
  readonly #reinvocation: Reinvocation;
  readonly #failures: { readonly message: string; readonly reason: string }[] = [];
  #isDirty = false;

  constructor(request: PolicyRequest, pass: MutatingPass, schemas: SchemaSet) {
    this.#request = request;
    this.#schemas = schemas;
    this.#reinvocation = new Reinvocation(PLUGIN, pass, request.attributes.object);
  }

  /** Runs the policies; the object is in the attributes then. Throws the refusal that failures come to. */
  async run(hooks: readonly Hook<MutatingProgram>[]): Promise<void> {
    await this.#request.visit(hooks, this);
    for (const invocation of this.#invocations) {
      await this.#request.pause();
      await this.#invoke(invocation);
    }
    await this.#finish();
    this.#throwFailures();
  }

  onInvocation(invocation: Invocation<Program>): void {
    this.#invocations.push(invocation);
  }

  onMisconfiguration({ policy, binding, message }: Misconfiguration<MutatingProgram>): void {
    if (policy.ignoresFailures) return;
    const where = binding === undefined ? `policy ${JSON.stringify(policy.name)}` : `policy '${policy.name}' with binding '${binding.name}'`;
    this.#failures.push({ message: `${where} denied request: ${message}`, reason: 'Forbidden' });
  }

  async #invoke(invocation: Invocation<Program>): Promise<void> {
    const { policy } = invocation;
    const outcome = await this.#request.evaluator.evaluateConditions(policy, await this.#request.input(invocation));
    if (outcome.type === 'mismatch' || (outcome.type === 'failed' && policy.ignoresFailures)) return;
    if (outcome.type === 'failed') return this.#fail(invocation, joinErrors(outcome.errors));
    const key = keyOf(invocation);
    if (!this.#reinvocation.runs(key)) return;
    const before = this.#request.forms.selected.object;
    for (const index of policy.program.mutations.keys()) await this.#mutate(index, invocation);
    if (!equalJson(before, this.#request.forms.selected.object)) this.#reinvocation.noteChange();
    if (policy.program.isReinvocable) this.#reinvocation.noteCall(key);
  }

  async #mutate(index: number, invocation: Invocation<Program>): Promise<void> {
    const { form, policy } = invocation;
    const { evaluator, forms } = this.#request;
    if (forms.selected.object === undefined) return;
    try {
      const { object } = await forms.convert(form);
      const made = await evaluator.makeJson(policy, index, await this.#request.input(invocation));
      if ('problem' in made) throw new MutationError(made.problem);
      const mutation = policy.program.mutations[index] as Mutation;
      forms.replace(mutateObject(mutation, object as KubeObject, { made: made.json, form, schemas: this.#schemas }), form);
      this.#isDirty = true;
      this.#report(invocation, '');
    } catch (error) {
      if (!(error instanceof MutationError)) throw error;
      this.#report(invocation, error.message);
      this.#fail(invocation, error.message);
    }
  }

  #report({ policy, binding }: Invocation<Program>, failure: string): void {
    this.#request.evaluator.report(policy, { binding: binding.name, failure, action: undefined });
  }

  #fail({ policy, binding }: Invocation<Program>, message: string): void {
    if (policy.ignoresFailures) return;
    this.#failures.push({ message: `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`, reason: 'Invalid' });
  }

  /** Hands the object back in the form of the request. */
  async #finish(): Promise<void> {
    const { attributes, forms } = this.#request;
    if (this.#isDirty) {
      this.#reinvocation.noteChange();
      attributes.object = await forms.takeRequested();
    }
    this.#reinvocation.finish(attributes.object);
  }

  #throwFailures(): void {
    const [first] = this.#failures;
    if (first === undefined) return;
    const { details } = refuse(this.#request.attributes, '').status;
    throw failure(FORBIDDEN, first.reason, first.message, { ...details, causes: this.#failures.map(({ message }) => ({ message })) });
  }
}

/** The plugin; removals have no object to change. */
export function createMutatingPolicies(policies: MutatingPolicies, dependencies: MutatingDependencies): AdmissionPlugin {
  return {
    name: PLUGIN,
    handles: (attributes: AdmissionAttributes) => attributes.operation !== 'DELETE' && policies.findHooks(attributes).length > 0,
    mutate: (attributes, pass) =>
      new MutatingRun(new PolicyRequest(attributes, dependencies), pass, dependencies.schemas).run(policies.findHooks(attributes)),
  };
}
