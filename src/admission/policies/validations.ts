// The expressions of a validating policy, evaluated for one request, binding and parameter: a decision per validation, and the values of the audit
// annotations. Validations and their messages share one budget, annotations have another. Mirrors upstream's validator.
import { type CompiledExpression, PolicyEvaluation, type PolicyInput, type PolicyResult, byteLength } from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import type { CompileExpression, PolicySpec } from './policy.ts';

/** The spec of a ValidatingAdmissionPolicy. */
export interface ValidatingSpec extends PolicySpec {
  readonly validations?: readonly {
    readonly expression: string; readonly message?: string; readonly messageExpression?: string; readonly reason?: string;
  }[] | null;
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[] | null;
}

interface Validation {
  readonly text: string;
  readonly message: string;
  readonly messageExpression: CompiledExpression | string | undefined;
  readonly reason: string;
}

/** What a validating policy has beside what all policies have. */
export interface ValidatingProgram {
  /** Those of the validations. */
  readonly expressions: readonly (CompiledExpression | string)[];
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly expression: CompiledExpression | string }[];
}

/** A validation that does not hold, or could not be evaluated. */
export interface Denial {
  /** Of the validation in the policy. */
  readonly index: number;
  readonly message: string;
  /** '' where an error denies. */
  readonly reason: string;
  /** The failure policy passes over the error. */
  readonly isIgnored?: boolean;
}

/** What became of the annotations: values to publish by key, and errors that deny under failurePolicy Fail. */
export interface AnnotationOutcome {
  readonly values: readonly (readonly [key: string, value: string])[];
  readonly errors: readonly string[];
}

const MAX_MESSAGE_BYTES = 5 * 1024;
const DEFAULT_REASON = 'Invalid';

/** Compiles validations and annotations. */
export function* compileValidations(spec: ValidatingSpec, compile: CompileExpression): Steps<ValidatingProgram> {
  const expressions: ValidatingProgram['expressions'][number][] = [];
  const validations: Validation[] = [];
  const annotations: ValidatingProgram['annotations'][number][] = [];
  for (const { expression, message = '', messageExpression, reason = DEFAULT_REASON } of spec.validations ?? []) {
    expressions.push(yield* compile(expression, 'condition'));
    yield;
    const compiled = messageExpression ? yield* compile(messageExpression, 'message', { noAuthorizer: true }) : undefined;
    validations.push({ text: expression, message, reason, messageExpression: compiled });
    yield;
  }
  for (const { key, valueExpression } of spec.auditAnnotations ?? []) {
    annotations.push({ key, expression: yield* compile(valueExpression, 'annotation') });
    yield;
  }
  return { expressions, validations, annotations };
}

const holds = (result: PolicyResult): boolean => result.type === 'value' && result.value === true;

/** Evaluates expressions in order; stops where the budget is spent. */
function evaluateAll(evaluation: PolicyEvaluation, expressions: readonly (CompiledExpression | string)[]): readonly PolicyResult[] {
  const results: PolicyResult[] = [];
  for (const expression of expressions) {
    const result = evaluation.evaluate(expression);
    results.push(result);
    if (result.type === 'out-of-budget') break;
  }
  return results;
}

function describeMessage(made: PolicyResult | undefined, { message, text }: Validation): string {
  const value = made?.type === 'value' && typeof made.value === 'string' ? made.value.trim() : '';
  const isUsable = value !== '' && byteLength(value) <= MAX_MESSAGE_BYTES && !value.includes('\n');
  return (isUsable ? value : message.trim()) || `failed expression: ${text.trim()}`;
}

/** The validations that deny; errors are among them, marked where the failure policy ignores them. */
export function evaluateValidations({ expressions, validations }: ValidatingProgram, input: PolicyInput, ignoresFailures: boolean): readonly Denial[] {
  const evaluation = new PolicyEvaluation(input);
  const fail = (index: number, message: string): readonly Denial[] => [{ index, message, reason: '', ...(ignoresFailures && { isIgnored: true }) }];
  const results = evaluateAll(evaluation, expressions);
  if (results.every(holds)) return [];
  const last = results.at(-1);
  if (last?.type === 'out-of-budget') return fail(0, last.message);
  const failed = results.flatMap((result, index) => (holds(result) ? [] : [{ result, index }]));
  const messages = evaluateMessages(validations, failed, { input, budget: evaluation.remainingBudget });
  return failed.flatMap(({ result, index }) => {
    if (result.type !== 'value') return fail(index, result.message);
    const made = messages.get(index);
    if (made?.type === 'out-of-budget') return fail(index, `failed messageExpression: ${made.message}`);
    const validation = validations[index] as Validation;
    return [{ index, message: describeMessage(made, validation), reason: validation.reason }];
  });
}

/** Messages of validations that do not hold, by index; their expressions have no authorizer, nor have the variables that they read. */
function evaluateMessages(validations: readonly Validation[], failed: readonly { readonly result: PolicyResult; readonly index: number }[],
  { input, budget }: { readonly input: PolicyInput; readonly budget: number }): ReadonlyMap<number, PolicyResult> {
  const { authorize: _authorize, requestResource: _requestResource, ...rest } = input;
  const wanted = failed.flatMap(({ result, index }) => {
    const expression = result.type === 'value' ? validations[index]?.messageExpression : undefined;
    return expression === undefined ? [] : [{ expression, index }];
  });
  const results = evaluateAll(new PolicyEvaluation(rest, budget), wanted.map(({ expression }) => expression));
  const last = results.at(-1);
  return new Map(wanted.flatMap(({ index }, at) => {
    const result = last?.type === 'out-of-budget' ? last : results[at];
    return result === undefined ? [] : [[index, result] as const];
  }));
}

/** The audit annotations of a policy; texts without content and null are left out. */
export function evaluateAnnotations({ annotations }: ValidatingProgram, input: PolicyInput, ignoresFailures: boolean): AnnotationOutcome {
  const results = evaluateAll(new PolicyEvaluation(input), annotations.map(({ expression }) => expression));
  const last = results.at(-1);
  const failures = last?.type === 'out-of-budget' ? [last] : results.filter((result) => result.type === 'error');
  const values = last?.type === 'out-of-budget' ? [] : results.flatMap((result, at) => {
    const value = result.type === 'value' && typeof result.value === 'string' ? result.value.trim() : '';
    return value === '' ? [] : [[annotations[at]?.key as string, value] as const];
  });
  return { values, errors: ignoresFailures ? [] : failures.map(({ message }) => message) };
}
