// x-kubernetes-validations of custom resources, for the two seams that ask for them: definitions when they are written, objects when they are.
// The rules of a schema are compiled once, when they are first needed.
import { type FieldError, type OpenAPIV3Schema, type SchemaRules, checkRules, compileRules } from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import type { CheckRules } from '../strategy.ts';

/** Validates the rules that a schema declares, in steps. */
export type ValidateRules = (schema: OpenAPIV3Schema, at: string) => Steps<readonly FieldError[]>;

const known = new WeakMap<OpenAPIV3Schema, SchemaRules>();

function rulesOf(schema: OpenAPIV3Schema): SchemaRules {
  let rules = known.get(schema);
  if (rules === undefined) {
    rules = compileRules(schema);
    known.set(schema, rules);
  }
  return rules;
}

/** The problems of a schema's rules: rules that do not compile, or may cost too much. */
export const validateSchemaRules: ValidateRules = function* validateSchemaRules(schema, at): Steps<readonly FieldError[]> {
  const { schemaErrors, expressionErrors } = yield* checkRules(schema, { path: at });
  return [...schemaErrors, ...expressionErrors];
};

/** Runs the rules of a schema on an object that is otherwise valid. */
export const checkSchemaRules: CheckRules = ({ schema, object, old }) =>
  rulesOf(schema).validate({ value: object, ...(old === undefined ? {} : { oldValue: old }) });
