// Type checking of validating policies: their expressions are compiled once more for each kind that their rules name, with the types of its fields.
// A field or type that does not fit is a warning in the status; the policy works as before. Mirrors upstream's validating.TypeChecker.
import {
  CelSyntaxError, type DeclaredType, type Environment, type KubeObject, compileExpression, declareKind, declaredStructs, extendEnvironment, parseGroupVersion,
  policyEnvironment, typeOfVariable,
} from '../../apimachinery/index.ts';
import type { MatchRule, ValidatingSpec } from '../../admission/index.ts';
import { compareKeys, resumableSteps, runStepsInSlices } from '../../base/index.ts';
import { type Catalog, type GroupVersionKind, versionIn } from '../../registry/index.ts';

/** A warning about one expression. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

type Rows = Pick<Catalog, 'resources' | 'findKind'>;

/** Lets others have their turn. */
type Pause = () => Promise<void> | undefined;

/** Kinds that are looked at for one policy. */
const MAX_KINDS = 10;

interface NamedKind extends GroupVersionKind {
  readonly plural: string;
}

/** The kinds that a rule names: none where it names a group or version with a wildcard; resources with wildcards and subresources are left out. */
function* listKinds({ apiGroups, apiVersions, resources }: MatchRule, catalog: Rows): Generator<NamedKind> {
  const [groups, versions, plurals] = [new Set(apiGroups), new Set(apiVersions), new Set(resources)];
  if ([...groups, ...versions].some((name) => name.includes('*'))) return;
  for (const { group, kind, plural, versions: rows } of catalog.resources()) {
    if (!groups.has(group) || !plurals.has(plural)) continue;
    for (const { name, served } of rows) if (served && versions.has(name)) yield { group, version: name, kind, plural };
  }
}

const compareBy = (member: 'plural' | 'kind') => (a: NamedKind, b: NamedKind): number =>
  compareKeys(a.group, b.group) || compareKeys(a.version, b.version) || compareKeys(a[member], b[member]);

/** The first kinds that the rules name. A rule takes one walk over the catalog, however many names it lists. */
async function findKinds(spec: ValidatingSpec, catalog: Rows, pause: Pause): Promise<readonly GroupVersionKind[]> {
  const found = new Map<string, NamedKind>();
  for (const rule of spec.matchConstraints?.resourceRules ?? []) {
    await pause();
    for (const kind of [...listKinds(rule, catalog)].sort(compareBy('plural'))) if (found.size < MAX_KINDS) found.set(describeKind(kind), kind);
    if (found.size === MAX_KINDS) break;
  }
  return [...found.values()].sort(compareBy('kind'));
}

const describeKind = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;

function declare({ group, version, kind }: GroupVersionKind, catalog: Rows): DeclaredType | undefined {
  const row = catalog.findKind(group, kind);
  const found = row && versionIn(row, version);
  return found?.served === true && found.schema ? declareKind(found.schema, kind) : undefined;
}

function declareParams({ paramKind }: ValidatingSpec, catalog: Rows): DeclaredType | undefined {
  const parsed = paramKind && parseGroupVersion(paramKind.apiVersion);
  return parsed && declare({ ...parsed, kind: paramKind.kind }, catalog);
}

interface TypedKind {
  readonly name: string;
  readonly environment: Environment;
}

/** The environment of expressions about one kind, after the variables. */
async function declareEnvironment(object: DeclaredType, params: DeclaredType | undefined, { variables }: ValidatingSpec, pause: Pause): Promise<Environment> {
  const types = new Map<string, ReturnType<typeof typeOfVariable>>();
  const plain = policyEnvironment({ hasParams: params !== undefined, hasAuthorizer: true, hasRequestResource: false, variables: types });
  const environment = extendEnvironment(plain, {
    structs: [object, ...(params === undefined ? [] : [params])].map(declaredStructs),
    variables: new Map([['object', object.type], ['oldObject', object.type], ...(params === undefined ? [] : [['params', params.type] as const])]),
  });
  for (const { name, expression } of variables ?? []) {
    await pause();
    const compiled = await compile(expression, environment, pause);
    types.set(name, typeof compiled === 'string' ? typeOfVariable(compiled) : compiled.resultType);
  }
  return environment;
}

async function compile(text: string, environment: Environment, pause: Pause): Promise<ReturnType<typeof compileExpression> | string> {
  try {
    return await runStepsInSlices(resumableSteps(() => compileExpression(text, environment)), pause);
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

/** The problems of an expression, kind by kind; '' when there are none. */
async function checkExpression(text: string, kinds: readonly TypedKind[], pause: Pause): Promise<string> {
  const problems: string[] = [];
  for (const { name, environment } of kinds) {
    await pause();
    const compiled = await compile(text, environment, pause);
    if (typeof compiled === 'string') problems.push(`${name}: ${compiled}\n`);
  }
  return problems.join('\n');
}

/** The warnings that the status of a policy is to have; `pause` lets others have their turn. */
export async function checkPolicyTypes(policy: KubeObject, catalog: Rows, pause: Pause): Promise<readonly ExpressionWarning[]> {
  const spec = (policy['spec'] ?? {}) as ValidatingSpec;
  const params = declareParams(spec, catalog);
  const kinds: TypedKind[] = [];
  for (const kind of await findKinds(spec, catalog, pause)) {
    const object = declare(kind, catalog);
    if (object !== undefined) kinds.push({ name: describeKind(kind), environment: await declareEnvironment(object, params, spec, pause) });
  }
  const warnings: ExpressionWarning[] = [];
  for (const [index, { expression, messageExpression = '' }] of (spec.validations ?? []).entries()) {
    for (const [field, text] of [['expression', expression], ['messageExpression', messageExpression]] as const) {
      const warning = text === '' ? '' : await checkExpression(text, kinds, pause);
      if (warning !== '') warnings.push({ fieldRef: `spec.validations[${index}].${field}`, warning });
    }
  }
  return warnings;
}
