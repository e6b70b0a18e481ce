// x-kubernetes-validations: the rules of a schema compiled for evaluation. The tree of rules mirrors the schema; only nodes that hold rules,
// or lead to some, are kept. Compilation happens when a node is first reached.
import type { OpenAPIV3Schema } from '../../schema/structural.ts';
import { type CompiledExpression, compileExpression } from '../compile.ts';
import { type DeclaredType, declareType, declaredStructs, sizeHintsOf, withTypeAndMeta } from '../schema/declared.ts';
import { type Environment, extendEnvironment } from '../check/environment.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { MAX_REQUEST_BYTES } from '../limits.ts';
import { resolveFieldPath } from './rule-paths.ts';
import { CelSyntaxError } from '../parse/source.ts';
import { type CelType, optionalOf } from '../values/types.ts';

/** One rule, as a definition writes it. */
export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A rule ready to run, or what is wrong with it. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program?: CompiledExpression;
  readonly error?: string;
  readonly messageProgram?: CompiledExpression;
  readonly messageError?: string;
  readonly usesOldSelf: boolean;
  /** Where errors are reported, relative to the node; undefined for the node itself. */
  readonly path?: string;
  /** What one evaluation may cost at worst. */
  readonly maxCost: number;
  readonly messageMaxCost: number;
  /** How often the node can stand in the largest request. */
  readonly maxCardinality: number;
}

/** The rules of a schema node, in their order. */
export function rulesOf(schema: OpenAPIV3Schema): readonly ValidationRule[] {
  const rules = schema['x-kubernetes-validations'];
  return Array.isArray(rules) ? (rules as ValidationRule[]) : [];
}

const SELF_TYPE_NAME = 'selfType';

/** The type of a node as rules on it see `self`; undefined when expressions cannot see it. */
export function declareSelf(schema: OpenAPIV3Schema, root: boolean): DeclaredType | undefined {
  return declareType(schema, { root, name: SELF_TYPE_NAME });
}

/** Makes a function that compiles rules against the type of `self`. */
export function createRuleCompiler(declared: DeclaredType): (rule: ValidationRule) => CompiledRule {
  const structs = [declaredStructs(declared)];
  const variables = (oldSelf: CelType): ReadonlyMap<string, CelType> => new Map([['self', declared.type], ['oldSelf', oldSelf]]);
  const plain = extendEnvironment(kubernetesEnvironment, { structs, variables: variables(declared.type) });
  const optional = extendEnvironment(kubernetesEnvironment, { structs, variables: variables(optionalOf(declared.type)) });
  return (rule) => compileRule(rule, rule.optionalOldSelf === true ? optional : plain, declared);
}

interface Attempt {
  readonly program?: CompiledExpression;
  readonly error?: string;
  readonly maxCost: number;
}

function compileRule(rule: ValidationRule, env: Environment, declared: DeclaredType): CompiledRule {
  const maxCardinality = Math.floor(MAX_REQUEST_BYTES / (declared.minBytes + 1));
  const none = { rule, usesOldSelf: false, maxCost: 0, messageMaxCost: 0, maxCardinality };
  if ((rule.rule ?? '').trim() === '') return none;
  const compiled = attempt(rule.rule!, env, { declared, kind: 'bool', problem: 'cel expression must evaluate to a bool', name: 'program ' });
  const { program } = compiled;
  if (program === undefined) return { ...none, error: compiled.error! };
  const usesOldSelf = program.uses('oldSelf');
  const path = rule.fieldPath === undefined || rule.fieldPath === '' ? undefined : resolveFieldPath(rule.fieldPath, declared.schema);
  const found: CompiledRule = { ...none, program, usesOldSelf, maxCost: compiled.maxCost, ...(path === undefined ? {} : { path }) };
  if (rule.messageExpression === undefined || rule.messageExpression === '') return found;
  const message = attempt(rule.messageExpression, env, {
    declared, kind: 'string', problem: 'messageExpression must evaluate to a string', name: 'messageExpression ',
  });
  return message.program === undefined ? { ...found, messageError: message.error! } : { ...found, messageProgram: message.program,
    messageMaxCost: message.maxCost };
}

interface Wanted {
  readonly declared: DeclaredType;
  readonly kind: string;
  readonly problem: string;
  /** What messages call the expression. */
  readonly name: 'program ' | 'messageExpression ';
}

function attempt(text: string, env: Environment, wanted: Wanted): Attempt {
  try {
    const program = compileExpression(text, env);
    if (program.resultType.kind !== wanted.kind || program.resultType.nullable) return { error: wanted.problem, maxCost: 0 };
    if (program.program.problem !== undefined) return { error: `${wanted.name}instantiation failed: ${program.program.problem}`, maxCost: 0 };
    return { program, maxCost: program.estimateCost(sizeHintsOf(wanted.declared)).max };
  } catch (error) {
    if (error instanceof CelSyntaxError) return { error: `${wanted.name === 'program ' ? '' : wanted.name}compilation failed: ${error.message}`, maxCost: 0 };
    throw error;
  }
}

/** A node of the tree of rules. */
export interface RuleNode {
  readonly schema: OpenAPIV3Schema;
  readonly declared: DeclaredType | undefined;
  /** Why the node's own rules cannot be compiled. */
  readonly problem?: string;
  /** The node's own rules, compiled on first use. */
  readonly rules: readonly CompiledRule[];
  readonly items?: RuleNode;
  readonly values?: RuleNode;
  readonly properties?: ReadonlyMap<string, RuleNode>;
  readonly allOf: readonly RuleNode[];
}

/** The tree of rules of a schema; undefined when it has none. */
export function buildRuleTree(schema: OpenAPIV3Schema, root: boolean): RuleNode | undefined {
  return hasRules(schema) ? buildNode({ rules: schema, node: schema, root, isTyped: true }) : undefined;
}

function hasRules(schema: OpenAPIV3Schema): boolean {
  if (rulesOf(schema).length > 0) return true;
  const { items, additionalProperties, properties } = schema;
  const allOf = Array.isArray(schema['allOf']) ? (schema['allOf'] as OpenAPIV3Schema[]) : [];
  return (items !== undefined && hasRules(items)) || (typeof additionalProperties === 'object' && hasRules(additionalProperties))
    || Object.values(properties ?? {}).some(hasRules) || allOf.some(hasRules);
}

interface NodeInput {
  /** Where rules are read: the node's schema, or a branch of its allOf. */
  readonly rules: OpenAPIV3Schema;
  readonly node: OpenAPIV3Schema;
  readonly root: boolean;
  /** False for elements of what is no list or map, though the schema has a schema for them: they have no type. */
  readonly isTyped: boolean;
}

const UNTYPED = 'rule compiler initialization error: failed to convert to declType for CEL validation rules';

const isEmbedded = (schema: OpenAPIV3Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

function buildNode(input: NodeInput): RuleNode | undefined {
  const { rules, node, root, isTyped } = input;
  if (!hasRules(rules)) return undefined;
  let declared: DeclaredType | undefined;
  const declare = (): DeclaredType | undefined => (isTyped ? declared ??= declareSelf(node, root) : undefined);
  const child = (of: OpenAPIV3Schema | undefined, at: OpenAPIV3Schema | undefined, isTypedChild: boolean): RuleNode | undefined =>
    (of === undefined || at === undefined ? undefined : buildNode({ rules: of, node: at, root: isEmbedded(at), isTyped: isTypedChild }));
  const items = child(rules.items, node.items, isTyped && node.type === 'array');
  const values = child(schemaOrNone(rules.additionalProperties), schemaOrNone(node.additionalProperties), isTyped && node.type === 'object');
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of isTyped ? Object.entries(rules.properties ?? {}) : []) {
    const found = child(property, Object.hasOwn(node.properties ?? {}, name) ? node.properties![name] : undefined, true);
    if (found !== undefined) properties.set(name, found);
  }
  const branches = Array.isArray(rules['allOf']) ? (rules['allOf'] as OpenAPIV3Schema[]) : [];
  const allOf = branches.flatMap((branch) => buildNode({ rules: branch, node, root, isTyped }) ?? []);
  let compiled: readonly CompiledRule[] | undefined;
  return {
    schema: root ? withTypeAndMeta(node) : node,
    get declared() { return declare(); },
    ...(!isTyped && rulesOf(rules).length > 0 && { problem: UNTYPED }),
    get rules() { return (compiled ??= compileOwn(rulesOf(rules), declare())); },
    ...(items === undefined ? {} : { items }), ...(values === undefined ? {} : { values }), ...(properties.size === 0 ? {} : { properties }),
    allOf,
  };
}

const schemaOrNone = (schema: OpenAPIV3Schema | boolean | undefined): OpenAPIV3Schema | undefined => (typeof schema === 'object' ? schema : undefined);

function compileOwn(rules: readonly ValidationRule[], declared: DeclaredType | undefined): readonly CompiledRule[] {
  return rules.length === 0 || declared === undefined ? [] : rules.map(createRuleCompiler(declared));
}
