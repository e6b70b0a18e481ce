// Conditions under which an authorization webhook is asked: expressions over `request`, the spec of a SubjectAccessReview of version v1.
// As in the reference one that is false wins over others that fail, and absent texts are empty. Relies on the engine of patterns being loaded.
import {
  type CompiledExpression, type DeclaredType, type OpenAPIV3Schema, type Value, compileExpression, declareType, declaredStructs, extendEnvironment,
  fromDeclared, kubernetesEnvironment, RUNTIME_COST_BUDGET,
} from '../../apimachinery/index.ts';
import { invariant } from '../../base/index.ts';
import type { Attributes } from './attributes.ts';
import { describeRequest } from './webhook.ts';

/** Whether all conditions hold; an Error when none is false and one cannot be evaluated. */
export type MatchRequest = (attributes: Attributes) => boolean | Error;

const text: OpenAPIV3Schema = { type: 'string' };
const texts: OpenAPIV3Schema = { type: 'array', items: text };
const object = (properties: Record<string, OpenAPIV3Schema>): OpenAPIV3Schema => ({ type: 'object', properties });
const textFields = (...names: string[]): Record<string, OpenAPIV3Schema> => Object.fromEntries(names.map((name) => [name, text]));
const selector = object({ rawSelector: text, requirements: { type: 'array', items: object({ key: text, operator: text, values: texts }) } });
const resourceTexts = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];
const schema = object({
  resourceAttributes: object({ ...textFields(...resourceTexts), fieldSelector: selector, labelSelector: selector }),
  nonResourceAttributes: object(textFields('path', 'verb')),
  user: text, groups: texts, extra: { type: 'object', additionalProperties: texts }, uid: text,
});

// The type must not be called as the variable: paths of fields would be taken for names of types.
const declared = declareType(schema, { root: false, name: 'kubernetes.SubjectAccessReviewSpec' });
invariant(declared !== undefined, 'the schema of a request declares a type');
const request = useOwnNames(declared);
const environment = extendEnvironment(kubernetesEnvironment, {
  variables: new Map([['request', request.type]]), structs: [declaredStructs(request)],
});

/** Fields by the names that they have: only schemas of users escape reserved words such as `namespace`. */
function useOwnNames(type: DeclaredType): DeclaredType {
  const fields = Array.from(type.fields?.values() ?? [], (field) => [field.name, { ...field, declared: useOwnNames(field.declared) }] as const);
  return { ...type, ...(type.element !== undefined && { element: useOwnNames(type.element) }), ...(type.fields !== undefined && { fields: new Map(fields) }) };
}

/** Compiles conditions. Throws an Error that says what is wrong with one. */
export function compileMatchConditions(expressions: readonly string[]): MatchRequest {
  const programs = expressions.map(compileCondition);
  return (attributes) => {
    const value = fromDeclared(describeFully(attributes), request);
    let failure: Error | undefined;
    for (const { program } of programs) {
      const found = evaluate(program, value);
      if (found === false) return false;
      if (found !== true) failure ??= new Error('a match condition could not be evaluated');
    }
    return failure ?? true;
  };
}

const evaluate = (program: CompiledExpression['program'], value: Value): Value =>
  program.evaluate((name) => (name === 'request' ? value : undefined), RUNTIME_COST_BUDGET).value;

function compileCondition(expression: string): CompiledExpression {
  const compiled = compileExpression(expression, environment);
  if (compiled.resultType.kind !== 'bool') throw new Error('must evaluate to bool');
  return compiled;
}

function describeFully(attributes: Attributes): Record<string, unknown> {
  const spec = describeRequest(attributes);
  const { user: { uid = '', extra = {}, groups }, namespace, verb, group, version, resource, subresource, name, path } = attributes;
  const given = spec['resourceAttributes'] as object | undefined;
  return {
    ...spec, uid, extra, groups,
    ...(given === undefined
      ? { nonResourceAttributes: { path, verb } }
      : { resourceAttributes: { ...given, namespace, verb, group, version, resource, subresource, name } }),
  };
}
