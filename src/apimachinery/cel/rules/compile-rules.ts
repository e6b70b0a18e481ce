// The rules of one version of a definition, as the rest of the house uses them.
import type { OpenAPIV3Schema } from '../../schema/structural.ts';
import { buildRuleTree } from './rules.ts';
import { type RuleInput, type RuleOutcome, runRules } from './run-rules.ts';

/** The rules of a schema. */
export interface SchemaRules {
  /** False: the schema has no rules, and validating is free. */
  readonly present: boolean;
  /** Runs the rules; they compile when they are first reached. */
  validate(input: RuleInput): RuleOutcome;
}

/** The rules of `openAPIV3Schema` of a version, or of a node in it (`root` false: it is no resource); nothing is compiled yet. */
export function compileRules(schema: OpenAPIV3Schema, { root = true }: { root?: boolean } = {}): SchemaRules {
  const tree = buildRuleTree(schema, root);
  return {
    present: tree !== undefined,
    validate: (input) => runRules(tree, input),
  };
}
