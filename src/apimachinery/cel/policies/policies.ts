// What expressions of admission may name: the match conditions of webhooks, and all that policies are written in. Objects and parameters have no
// types that are known; the request and the namespace have. Mutations build objects of any fields, and JSON patches.
import { type CompiledExpression, compileExpression } from '../compile.ts';
import { type Environment, type StructProvider, extendEnvironment } from '../check/environment.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { authorizerType, resourceCheckType } from '../library/authorizer.ts';
import { CelSyntaxError } from '../parse/source.ts';
import { jsonPatchType, objectType, patchFunctions, patchStructs } from './objects.ts';
import {
  type CelType, boolType, describeType, dynType, intType, listOf, mapOf, nullType, sameType, stringType, structType, timestampType,
} from '../values/types.ts';

type Fields = Readonly<Record<string, CelType>>;

/** Which expressions: the fields of `variables`, when policies are composed of them, and what else depends on the place. */
export interface PolicyScope {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether the authorizer knows the resource of the request; where there is one it does, but for the type checking of the reference. */
  readonly hasRequestResource?: boolean;
  /** Objects and patches can be built. */
  readonly hasPatches?: boolean;
  /** Read when an expression is compiled: it grows as variables are. */
  readonly variables?: ReadonlyMap<string, CelType>;
}

/** What the results of expressions may be; undefined is anything. */
const resultTypes = {
  condition: [boolType],
  message: [stringType],
  annotation: [stringType, nullType],
  variable: undefined,
  configuration: [objectType],
  patch: [listOf(jsonPatchType)],
} as const;

const kubernetes = (name: string): CelType => structType(`kubernetes.${name}`);
const ofType = (type: CelType, ...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, type]));
const texts = (...names: string[]): Fields => ofType(stringType, ...names);

const known: Readonly<Record<string, Fields>> = {
  'kubernetes.GroupVersionKind': texts('group', 'version', 'kind'),
  'kubernetes.GroupVersionResource': texts('group', 'version', 'resource'),
  'kubernetes.UserInfo': { ...texts('username', 'uid'), groups: listOf(stringType), extra: mapOf(stringType, listOf(stringType)) },
  'kubernetes.AdmissionRequest': {
    ...ofType(kubernetes('GroupVersionKind'), 'kind', 'requestKind'), ...ofType(kubernetes('GroupVersionResource'), 'resource', 'requestResource'),
    ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'), userInfo: kubernetes('UserInfo'), dryRun: boolType, options: dynType,
  },
  'kubernetes.Namespace': { metadata: kubernetes('NamespaceMetadata'), spec: kubernetes('NamespaceSpec'), status: kubernetes('NamespaceStatus') },
  'kubernetes.NamespaceMetadata': {
    ...texts('name', 'generateName', 'namespace', 'UID', 'resourceVersion'), ...ofType(mapOf(stringType, stringType), 'labels', 'annotations'),
    ...ofType(timestampType, 'creationTimestamp', 'deletionTimestamp'), ...ofType(intType, 'deletionGracePeriodSeconds', 'generation'),
    finalizers: listOf(stringType),
  },
  'kubernetes.NamespaceSpec': { finalizers: listOf(stringType) },
  'kubernetes.NamespaceStatus': { conditions: listOf(kubernetes('NamespaceCondition')), phase: stringType },
  'kubernetes.NamespaceCondition': { ...texts('status', 'type', 'message', 'reason'), lastTransitionTime: timestampType },
};

const own = (fields: Fields | undefined, name: string): CelType | undefined =>
  (fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined);
const requestStructs: StructProvider = {
  has: (type) => Object.hasOwn(known, type),
  fieldType: (type, field) => own(Object.hasOwn(known, type) ? known[type] : undefined, field),
};

/** The type of `variables`. */
export const variablesType = kubernetes('variables');
const variableStructs = (variables: ReadonlyMap<string, CelType>): StructProvider => ({
  has: (type) => type === variablesType.name,
  fieldType: (_, field) => variables.get(field),
});

/** The environment of expressions of admission. */
export function policyEnvironment({ hasParams, hasAuthorizer, hasRequestResource = hasAuthorizer, hasPatches = false, variables }: PolicyScope): Environment {
  return extendEnvironment(kubernetesEnvironment, {
    variables: new Map([
      ['object', dynType], ['oldObject', dynType], ['namespaceObject', kubernetes('Namespace')], ['request', kubernetes('AdmissionRequest')],
      ...(hasParams ? [['params', dynType] as const] : []),
      ...(hasAuthorizer ? [['authorizer', authorizerType] as const] : []),
      ...(hasRequestResource ? [['authorizer.requestResource', resourceCheckType] as const] : []),
      ...(variables === undefined ? [] : [['variables', variablesType] as const]),
    ]),
    structs: [requestStructs, ...(hasPatches ? [patchStructs] : []), ...(variables === undefined ? [] : [variableStructs(variables)])],
    ...(hasPatches && { functions: patchFunctions }),
  });
}

/** An expression of a policy, or what the reference refuses it with. */
export function compilePolicyExpression(text: string, env: Environment, kind: keyof typeof resultTypes): CompiledExpression | string {
  const wanted = resultTypes[kind];
  let compiled: CompiledExpression;
  try {
    compiled = compileExpression(text, env);
  } catch (error) {
    if (error instanceof CelSyntaxError) return `compilation failed: ${error.message}`;
    throw error;
  }
  if (wanted === undefined || wanted.some((type) => sameType(type, compiled.resultType))) {
    const { problem } = compiled.program;
    return problem === undefined ? compiled : `program instantiation failed: ${problem}`;
  }
  const names = wanted.map(describeType);
  return `must evaluate to ${names.length === 1 ? names[0] : `one of [${names.join(' ')}]`} but got ${describeType(compiled.resultType)}`;
}

const plainKinds: ReadonlySet<string> = new Set([
  'any', 'bool', 'bytes', 'double', 'duration', 'int', 'null', 'string', 'timestamp', 'uint',
]);

/** The type of a variable as other expressions see it: what is neither plain nor a list or map of such can be anything. */
export function typeOfVariable(compiled: CompiledExpression | string): CelType {
  return typeof compiled === 'string' ? dynType : simplify(compiled.resultType);
}

function simplify(type: CelType): CelType {
  if (plainKinds.has(type.kind) && !type.nullable) return type;
  const [first, second] = type.params;
  if (type.kind === 'list' && first !== undefined) return listOf(simplify(first));
  return type.kind === 'map' && first !== undefined && second !== undefined ? mapOf(simplify(first), simplify(second)) : dynType;
}
