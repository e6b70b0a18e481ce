// Policies and bindings as they are stored, compiled: criteria at once, expressions in turns when a request first needs them. Objects come from the store
// defaulted and validated; an expression that does not compile all the same keeps the reason, and fails when it is evaluated.
import {
  type CompiledExpression, type KubeObject, type MetaLabelSelector, type PolicyVariable, compilePolicyExpression, policyEnvironment, typeOfVariable,
} from '../../apimachinery/index.ts';
import { type Steps, finishSteps, resumableSteps, runStepsInSlices } from '../../base/index.ts';
import { type CompiledConditions, type MatchCondition, compileConditions } from '../match/conditions.ts';
import { type Criteria, type MatchResources, compileCriteria } from './criteria.ts';

/** The kind of the objects that parametrise a policy. */
export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Which of them a binding takes. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: MetaLabelSelector | null;
  readonly parameterNotFoundAction?: string;
}

/** What specs of both kinds of policies have. */
export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | null;
  readonly matchConditions?: readonly MatchCondition[] | null;
  readonly failurePolicy?: string;
}

/** The expressions that both kinds of policies have. */
export interface PolicyExpressions {
  readonly conditions: CompiledConditions;
  readonly variables: readonly PolicyVariable[];
  /** Some expression reads the authorizer. */
  readonly asksAuthorizer: boolean;
}

/** Compiles an expression of a policy, a long one in several steps; `noAuthorizer` for message expressions. */
export type CompileExpression = (text: string, kind: Parameters<typeof compilePolicyExpression>[2],
  options?: { readonly noAuthorizer?: boolean; readonly hasPatches?: boolean }) => Steps<CompiledExpression | string>;

/** Compiles what a kind of policies has beside the common expressions, an expression at a time. */
export type CompileSpec<Spec, Program> = (spec: Spec, compile: CompileExpression) => Steps<Program>;

/** A policy. */
export interface Policy<Program> {
  readonly name: string;
  /** Changes with the spec. */
  readonly identity: string;
  readonly paramKind: ParamKind | undefined;
  readonly ignoresFailures: boolean;
  readonly spec: PolicySpec;
  readonly criteria: Criteria;
  /** Compiled at once where `prepare` has not done it. */
  readonly program: Program & PolicyExpressions;
  /** Compiles the program, once for all requests that wait for it, with a pause between expressions wherever `pause` returns one. */
  prepare(pause: () => Promise<void> | undefined): Promise<void> | undefined;
}

/** A binding. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  readonly criteria: Criteria;
  /** Of bindings of validating policies. */
  readonly validationActions: readonly string[];
}

function* compileExpressions<Spec extends PolicySpec, Program>(spec: Spec, compileSpec: CompileSpec<Spec, Program>): Steps<Program & PolicyExpressions> {
  const hasParams = spec.paramKind !== undefined;
  const types = new Map<string, ReturnType<typeof typeOfVariable>>();
  const environmentOf = (hasAuthorizer: boolean, hasPatches: boolean) => policyEnvironment({ hasParams, hasAuthorizer, hasPatches, variables: types });
  const full = environmentOf(true, false);
  let asksAuthorizer = false;
  const note = (compiled: CompiledExpression | string): CompiledExpression | string => {
    asksAuthorizer ||= typeof compiled !== 'string' && (compiled.uses('authorizer') || compiled.uses('authorizer.requestResource'));
    return compiled;
  };
  const variables: PolicyVariable[] = [];
  for (const { name, expression } of spec.variables ?? []) {
    const compiled = note(yield* resumableSteps(() => compilePolicyExpression(expression, full, 'variable')));
    types.set(name, typeOfVariable(compiled));
    variables.push({ name, expression: compiled });
    yield;
  }
  const compile: CompileExpression = function* (text, kind, { noAuthorizer = false, hasPatches = false } = {}) {
    const environment = noAuthorizer || hasPatches ? environmentOf(!noAuthorizer, hasPatches) : full;
    return note(yield* resumableSteps(() => compilePolicyExpression(text, environment, kind)));
  };
  const conditions = yield* resumableSteps(() => compileConditions(spec.matchConditions ?? [], { hasParams }));
  conditions.forEach(note);
  return { ...yield* compileSpec(spec, compile), conditions, variables, asksAuthorizer };
}

/** Identifies a spec of a policy: writes of its status keep it. */
export const identifyPolicy = ({ metadata: { uid = '', generation = 0 } }: KubeObject): string => `${uid}/${generation}`;

/** Compiles a policy. */
export function createPolicy<Spec extends PolicySpec, Program>(object: KubeObject, compileSpec: CompileSpec<Spec, Program>): Policy<Program> {
  const spec = (object['spec'] ?? {}) as Spec;
  let program: (Program & PolicyExpressions) | undefined;
  let preparing: Promise<void> | undefined;
  return {
    name: object.metadata.name ?? '', identity: identifyPolicy(object), paramKind: spec.paramKind, ignoresFailures: spec.failurePolicy === 'Ignore',
    spec, criteria: compileCriteria(spec.matchConstraints),
    get program() {
      return (program ??= finishSteps(compileExpressions(spec, compileSpec)));
    },
    prepare(pause) {
      if (program !== undefined) return undefined;
      return (preparing ??= runStepsInSlices(compileExpressions(spec, compileSpec), pause).then((compiled) => {
        program = compiled;
      }));
    },
  };
}

/** Reads a binding. */
export function createBinding(object: KubeObject): Binding {
  const { policyName = '', paramRef, matchResources, validationActions } = (object['spec'] ?? {}) as {
    readonly policyName?: string; readonly paramRef?: ParamRef | null; readonly matchResources?: MatchResources | null;
    readonly validationActions?: readonly string[] | null;
  };
  return {
    name: object.metadata.name ?? '', policyName, paramRef: paramRef ?? undefined, criteria: compileCriteria(matchResources),
    validationActions: validationActions ?? [],
  };
}
