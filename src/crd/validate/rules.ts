// x-kubernetes-validations of custom resources, for the two seams that ask for them: definitions when they are written, objects when they are.
// The rules of a schema are compiled once, when they are first needed.
import { type FieldError, type OpenAPIV3Schema, type SchemaRules, checkRules, compileRules } from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import type { CheckRules } from '../strategy.ts';

/** Validates the expressions of the rules that a schema declares, in steps, but for nodes with flaws of their own. */
export type ValidateRules = (schema: OpenAPIV3Schema, at: string, isFlawed: (node: OpenAPIV3Schema) => boolean) => Steps<readonly FieldError[]>;

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
export const validateSchemaRules: ValidateRules = (schema, at, isFlawed) => checkRules(schema, { path: at, isFlawed });

/** Runs the rules of a schema on an object that is otherwise valid. */
export const checkSchemaRules: CheckRules = ({ schema, object, old }) =>
  rulesOf(schema).validate({ value: object, ...(old === undefined ? {} : { oldValue: old }) });
