// Type checking of validating policies: their expressions are compiled once more for each kind that their rules name, with the types of its fields.
// A field or type that does not fit is a warning in the status; the policy works as before. Mirrors upstream's validating.TypeChecker.
import {
  CelSyntaxError, type DeclaredType, type Environment, type KubeObject, compileExpression, declareKind, declaredStructs, extendEnvironment, parseGroupVersion,
  policyEnvironment, typeOfVariable,
} from '../../apimachinery/index.ts';
import { compareKeys } from '../../base/index.ts';
import type { Catalog, GroupVersionKind } from '../../registry/index.ts';

/** A warning about one expression. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

interface PolicySpec {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
  readonly matchConstraints?: { readonly resourceRules?: readonly Rule[] | null };
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | null;
  readonly validations?: readonly { readonly expression: string; readonly messageExpression?: string }[] | null;
}

interface Rule {
  readonly apiGroups?: readonly string[] | null;
  readonly apiVersions?: readonly string[] | null;
  readonly resources?: readonly string[] | null;
}

type Rows = Pick<Catalog, 'find' | 'findKind'>;

/** Kinds that are looked at for one policy. */
const MAX_KINDS = 10;

const sorted = (list: readonly string[] | null | undefined): readonly string[] => [...list ?? []].sort(compareKeys);

/** What a rule names: nothing where it names a group or version with a wildcard; resources with wildcards and subresources are left out. */
function* listPlaces({ apiGroups, apiVersions, resources }: Rule): Generator<readonly [group: string, version: string, plural: string]> {
  const [groups, versions] = [sorted(apiGroups), sorted(apiVersions)];
  if ([...groups, ...versions].some((name) => name.includes('*'))) return;
  const plurals = sorted(resources).filter((name) => !/[*/]/.test(name));
  for (const group of groups) for (const version of versions) for (const plural of plurals) yield [group, version, plural];
}

function findKinds(spec: PolicySpec, catalog: Rows): readonly GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>();
  for (const rule of spec.matchConstraints?.resourceRules ?? []) {
    for (const [group, version, plural] of listPlaces(rule)) {
      const kind = catalog.find(group, version, plural)?.kind;
      if (kind !== undefined) found.set(describeKind({ group, version, kind }), { group, version, kind });
      if (found.size === MAX_KINDS) break;
    }
  }
  return [...found.values()].sort((a, b) => compareKeys(a.group, b.group) || compareKeys(a.version, b.version) || compareKeys(a.kind, b.kind));
}

const describeKind = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;

function declare({ group, version, kind }: GroupVersionKind, catalog: Rows): DeclaredType | undefined {
  const schema = catalog.findKind(group, kind)?.versions.find(({ name, served }) => served && name === version)?.schema;
  return schema && declareKind(schema, kind);
}

function declareParams({ paramKind }: PolicySpec, catalog: Rows): DeclaredType | undefined {
  const parsed = paramKind && parseGroupVersion(paramKind.apiVersion);
  return parsed && declare({ ...parsed, kind: paramKind.kind }, catalog);
}

interface TypedKind {
  readonly name: string;
  readonly environment: Environment;
}

/** The environment of expressions about one kind, after the variables. */
function declareEnvironment(object: DeclaredType, params: DeclaredType | undefined, { variables }: PolicySpec): Environment {
  const types = new Map<string, ReturnType<typeof typeOfVariable>>();
  const plain = policyEnvironment({ hasParams: params !== undefined, hasAuthorizer: true, variables: types });
  const environment = extendEnvironment(plain, {
    structs: [object, ...(params === undefined ? [] : [params])].map(declaredStructs),
    variables: new Map([['object', object.type], ['oldObject', object.type], ...(params === undefined ? [] : [['params', params.type] as const])]),
  });
  for (const { name, expression } of variables ?? []) {
    const compiled = compile(expression, environment);
    types.set(name, typeof compiled === 'string' ? typeOfVariable(compiled) : compiled.resultType);
  }
  return environment;
}

function compile(text: string, environment: Environment): ReturnType<typeof compileExpression> | string {
  try {
    return compileExpression(text, environment);
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

/** The problems of an expression, kind by kind; '' when there are none. */
function checkExpression(text: string, kinds: readonly TypedKind[]): string {
  return kinds.flatMap(({ name, environment }) => {
    const compiled = compile(text, environment);
    return typeof compiled === 'string' ? [`${name}: ${compiled}\n`] : [];
  }).join('\n');
}

/** The warnings that the status of a policy is to have; `pause` lets others have their turn. */
export async function checkPolicyTypes(policy: KubeObject, catalog: Rows, pause: () => Promise<void> | undefined): Promise<readonly ExpressionWarning[]> {
  const spec = (policy['spec'] ?? {}) as PolicySpec;
  const params = declareParams(spec, catalog);
  const kinds = findKinds(spec, catalog).flatMap((kind): TypedKind[] => {
    const object = declare(kind, catalog);
    return object === undefined ? [] : [{ name: describeKind(kind), environment: declareEnvironment(object, params, spec) }];
  });
  const warnings: ExpressionWarning[] = [];
  for (const [index, { expression, messageExpression = '' }] of (spec.validations ?? []).entries()) {
    for (const [field, text] of [['expression', expression], ['messageExpression', messageExpression]] as const) {
      await pause();
      const warning = text === '' ? '' : checkExpression(text, kinds);
      if (warning !== '') warnings.push({ fieldRef: `spec.validations[${index}].${field}`, warning });
    }
  }
  return warnings;
}
