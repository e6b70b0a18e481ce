// ValidatingAdmissionPolicy: policies by name, their bindings by name, a parameter at a time. All are evaluated; the first denial is what the client
// is answered, warnings and audit annotations show the others. Mirrors upstream's validating dispatcher.
import { type StatusError, failure } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { annotate } from '../audit-annotations.ts';
import type { AdmissionPlugin } from '../chain.ts';
import { joinErrors } from '../match/conditions.ts';
import type { PolicyCheck } from '../metrics.ts';
import { refuse } from '../refusal.ts';
import type { Policies } from './policies.ts';
import type { Policy, PolicyExpressions } from './policy.ts';
import { type Invocation, type InvocationListener, type Misconfiguration, type PolicyDependencies, PolicyRequest } from './policy-request.ts';
import type { Denial, ValidatingProgram, ValidatingSpec } from './validations.ts';

/** All ValidatingAdmissionPolicies. */
export type ValidatingPolicies = Policies<ValidatingSpec, ValidatingProgram>;

type Program = ValidatingProgram & PolicyExpressions;

interface RecordedDenial extends Pick<Denial, 'message' | 'reason'> {
  readonly policy: string;
  readonly binding: string | undefined;
}

const MAX_ANNOTATION_BYTES = 10 * 1024;
const FAILURES_KEY = 'validation.policy.admission.k8s.io/validation_failure';
const codes: ReadonlyMap<string, number> = new Map([['Forbidden', 403], ['Unauthorized', 401], ['RequestEntityTooLarge', 413]]);
const UNPROCESSABLE = 422;

/** Go's JSON escapes what HTML would read. */
const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const cutBytes = (text: string): string => (text.length * 3 <= MAX_ANNOTATION_BYTES ? text : Buffer.from(text).subarray(0, MAX_ANNOTATION_BYTES).toString());

/** What one request meets. */
class ValidatingRun implements InvocationListener<ValidatingProgram> {
  readonly #request: PolicyRequest;
  readonly #denials: RecordedDenial[] = [];
  readonly #failures: unknown[] = [];
  /** Values of the annotations of the policy that is being evaluated. */
  #annotations = new Map<string, Set<string>>();

  constructor(request: PolicyRequest) {
    this.#request = request;
  }

  onMisconfiguration({ policy, binding, message }: Misconfiguration<ValidatingProgram>): void {
    if (!policy.ignoresFailures) this.#denials.push({ policy: policy.name, binding: binding?.name, message, reason: '' });
  }

  async onInvocation(invocation: Invocation<Program>): Promise<void> {
    const { policy } = invocation;
    const { ignoresFailures, program } = policy;
    const { evaluator } = this.#request;
    const input = await this.#request.input(invocation);
    const outcome = await evaluator.evaluateConditions(policy, input);
    if (outcome.type === 'mismatch') return;
    if (outcome.type === 'failed') return this.#record(invocation, ignoresFailures ? [] : [{ index: 0, message: joinErrors(outcome.errors), reason: '' }]);
    this.#record(invocation, await evaluator.evaluateValidations(policy, input));
    if (program.annotations.length === 0) return;
    const { values, errors } = await evaluator.evaluateAnnotations(policy, input);
    for (const [key, value] of values) this.#note(key, value);
    for (const message of errors) this.#deny(invocation, { message, reason: '' });
  }

  onPolicyEnd({ name }: Policy<ValidatingProgram>): void {
    if (this.#annotations.size === 0) return;
    const { context } = this.#request.attributes;
    for (const [key, values] of this.#annotations) annotate(context, `${name}/${key}`, { value: [...values].join(', ') });
    this.#annotations = new Map();
  }

  /** The refusal that all of it comes to. */
  finish(): StatusError | undefined {
    const { attributes } = this.#request;
    if (this.#failures.length > 0) annotate(attributes.context, FAILURES_KEY, { value: goJson(this.#failures) });
    const [first] = this.#denials;
    if (first === undefined) return undefined;
    const { policy, binding, reason } = first;
    const message = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? '' : ` with binding '${binding}'`} denied request: ${first.message}`;
    const refusal = refuse(attributes, message);
    return failure(codes.get(reason) ?? UNPROCESSABLE, reason || 'Invalid', refusal.message, { ...refusal.status.details, causes: [{ message }] });
  }

  /** Does what the binding asks for with each denial. */
  #record(invocation: Invocation<ValidatingProgram>, denials: readonly Denial[]): void {
    const { policy, binding } = invocation;
    const { validationActions } = binding;
    for (const { index, message, reason, isIgnored = false } of denials) {
      if (isIgnored) {
        this.#report(invocation, { message, action: 'allow' });
        continue;
      }
      for (const action of validationActions) {
        if (action === 'Deny') this.#deny(invocation, { message, reason });
        else if (action === 'Audit') {
          this.#failures.push({ message, policy: policy.name, binding: binding.name, expressionIndex: index, validationActions });
          this.#report(invocation, { message, action: 'audit' });
        } else if (action === 'Warn') {
          this.#report(invocation, { message, action: 'warn' });
          this.#request.attributes.context.warnings.push(
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`);
        }
      }
    }
  }

  #deny(invocation: Invocation<ValidatingProgram>, denial: Pick<Denial, 'message' | 'reason'>): void {
    const { policy, binding } = invocation;
    this.#denials.push({ policy: policy.name, binding: binding.name, ...denial });
    this.#report(invocation, { message: denial.message, action: 'deny' });
  }

  #report({ policy, binding }: Invocation<ValidatingProgram>, { message, action }: { readonly message: string; readonly action: PolicyCheck['action'] }): void {
    this.#request.evaluator.report(policy, { binding: binding.name, failure: message, action });
  }

  #note(key: string, value: string): void {
    const values = this.#annotations.get(key) ?? new Set();
    this.#annotations.set(key, values.add(cutBytes(value)));
  }
}

/** The plugin. */
export function createValidatingPolicies(policies: ValidatingPolicies, dependencies: PolicyDependencies): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (attributes) => policies.findHooks(attributes).length > 0,
    async validate(attributes: AdmissionAttributes): Promise<void> {
      const request = new PolicyRequest(attributes, dependencies);
      const run = new ValidatingRun(request);
      await request.visit(policies.findHooks(attributes), run);
      const refusal = run.finish();
      if (refusal !== undefined) throw refusal;
    },
  };
}
