// Authorization checks: authorizer.group('apps').resource('deployments').check('create').allowed(). Declared as upstream declares them, so that
// what does not fit is refused in its words; nothing here has an authorizer as its variable, so none of them is ever called.
import { type FunctionDeclaration, type Library, declare, method } from '../check/environment.ts';
import { type CelType, boolType, stringType, structType } from '../values/types.ts';
import { noSuchOverload } from '../values/values.ts';

const prefix = 'kubernetes.authorization';
/** The type of `authorizer`. */
export const authorizerType = structType(`${prefix}.Authorizer`);
/** The type of `authorizer.requestResource`. */
export const resourceCheckType = structType(`${prefix}.ResourceCheck`);
const pathCheckType = structType(`${prefix}.PathCheck`);
const groupCheckType = structType(`${prefix}.GroupCheck`);
const decisionType = structType(`${prefix}.Decision`);

const asks = (id: string, target: CelType, texts: number, result: CelType): ReturnType<typeof method> =>
  method(id, [target, ...Array.from({ length: texts }, () => stringType)], [result, () => noSuchOverload]);
const refinement = (name: string, id: string): FunctionDeclaration => declare(name, asks(id, resourceCheckType, 1, resourceCheckType));

/** Kubernetes' authorization functions. */
export const authorizerLibrary: Library = {
  types: new Map([authorizerType, resourceCheckType, pathCheckType, groupCheckType, decisionType].map((type) => [type.name, type])),
  functions: [
    declare('path', asks('authorizer_path', authorizerType, 1, pathCheckType)),
    declare('group', asks('authorizer_group', authorizerType, 1, groupCheckType)),
    declare('serviceAccount', asks('authorizer_serviceaccount', authorizerType, 2, authorizerType)),
    declare('resource', asks('groupcheck_resource', groupCheckType, 1, resourceCheckType)),
    refinement('subresource', 'resourcecheck_subresource'), refinement('namespace', 'resourcecheck_namespace'), refinement('name', 'resourcecheck_name'),
    refinement('fieldSelector', 'authorizer_fieldselector'), refinement('labelSelector', 'authorizer_labelselector'),
    declare('check', asks('pathcheck_check', pathCheckType, 1, decisionType), asks('resourcecheck_check', resourceCheckType, 1, decisionType)),
    declare('errored', asks('decision_errored', decisionType, 0, boolType)), declare('error', asks('decision_error', decisionType, 0, stringType)),
    declare('allowed', asks('decision_allowed', decisionType, 0, boolType)), declare('reason', asks('decision_reason', decisionType, 0, stringType)),
  ],
};
