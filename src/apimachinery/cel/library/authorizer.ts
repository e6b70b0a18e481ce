// Authorization checks: authorizer.group('apps').resource('deployments').check('create').allowed(). The decision comes from a function that
// is handed in; what is asked is collected on the way.
import { type Library, declare, method } from '../environment.ts';
import { type CelType, boolType, stringType, structType } from '../types.ts';
import { CelError, CelOpaque, type Value } from '../values.ts';

const prefix = 'kubernetes.authorization';
/** Type of the variable `authorizer`. */
export const authorizerType = structType(`${prefix}.Authorizer`);
/** Type of the variable `authorizer.requestResource`. */
export const resourceCheckType = structType(`${prefix}.ResourceCheck`);
const pathCheckType = structType(`${prefix}.PathCheck`);
const groupCheckType = structType(`${prefix}.GroupCheck`);
const decisionType = structType(`${prefix}.Decision`);

/** What an expression asks. */
export interface AuthorizationQuestion {
  readonly verb: string;
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Asked for this service account instead of the user. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** Decides a question at once. */
export type Authorize = (question: AuthorizationQuestion) => AuthorizationAnswer;

type Asked = Partial<Omit<AuthorizationQuestion, 'verb'>>;

class CelCheck extends CelOpaque {
  readonly type: CelType;
  readonly authorize: Authorize;
  readonly asked: Asked;

  constructor(type: CelType, authorize: Authorize, asked: Asked) {
    super();
    this.type = type;
    this.authorize = authorize;
    this.asked = asked;
  }

  with(type: CelType, asked: Asked): CelCheck {
    return new CelCheck(type, this.authorize, { ...this.asked, ...asked });
  }

  equals(other: CelOpaque): boolean {
    return other === this;
  }
}

class CelDecision extends CelOpaque {
  readonly type = decisionType;
  readonly answer: AuthorizationAnswer;

  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }

  equals(other: CelOpaque): boolean {
    return other === this;
  }
}

/** The value of the variable `authorizer`. */
export function createAuthorizer(authorize: Authorize): Value {
  return new CelCheck(authorizerType, authorize, {});
}

/** The value of `authorizer.requestResource`: the resource of the request is asked about already. */
export function createResourceCheck(authorize: Authorize, asked: Omit<AuthorizationQuestion, 'verb'>): Value {
  return new CelCheck(resourceCheckType, authorize, asked);
}

const check = (target: CelCheck, verb: string): Value => new CelDecision(target.authorize({ ...target.asked, verb }));
const refine = (key: keyof Asked) => (target: CelCheck, value: string): Value => target.with(resourceCheckType, { [key]: value });

function pathOf(target: CelCheck, path: string): Value {
  return path === '' ? new CelError('path must not be empty') : target.with(pathCheckType, { path });
}

function resourceOf(target: CelCheck, resource: string): Value {
  return resource === '' ? new CelError('resource must not be empty') : target.with(resourceCheckType, { resource });
}

function accountOf(target: CelCheck, namespace: string, name: string): Value {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) return new CelError('Invalid service account name');
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(namespace)) return new CelError('Invalid service account namespace');
  return target.with(authorizerType, { serviceAccount: { namespace, name } });
}

const refinement = (name: string, id: string, key: keyof Asked): ReturnType<typeof declare> =>
  declare(name, method(id, [resourceCheckType, stringType], [resourceCheckType, refine(key)]));

/** Kubernetes' authorization functions. */
export const authorizerLibrary: Library = {
  types: new Map([authorizerType, resourceCheckType, pathCheckType, groupCheckType, decisionType].map((type) => [type.name, type])),
  functions: [
    declare('path', method('authorizer_path', [authorizerType, stringType], [pathCheckType, pathOf])),
    declare('group', method('authorizer_group', [authorizerType, stringType], [groupCheckType, (target: CelCheck,
      group: string) => target.with(groupCheckType, { group })])),
    declare('serviceAccount', method('authorizer_serviceaccount', [authorizerType, stringType, stringType], [authorizerType, accountOf])),
    declare('resource', method('groupcheck_resource', [groupCheckType, stringType], [resourceCheckType, resourceOf])),
    refinement('subresource', 'resourcecheck_subresource', 'subresource'), refinement('namespace', 'resourcecheck_namespace', 'namespace'),
    refinement('name', 'resourcecheck_name', 'name'),
    refinement('fieldSelector', 'authorizer_fieldselector', 'fieldSelector'), refinement('labelSelector', 'authorizer_labelselector', 'labelSelector'),
    declare('check', method('pathcheck_check', [pathCheckType, stringType], [decisionType, check]), method('resourcecheck_check', [resourceCheckType,
      stringType], [decisionType, check])),
    declare('errored', method('decision_errored', [decisionType], [boolType, (decision: CelDecision) => decision.answer.error !== undefined])),
    declare('error', method('decision_error', [decisionType], [stringType, (decision: CelDecision) => decision.answer.error ?? ''])),
    declare('allowed', method('decision_allowed', [decisionType], [boolType, (decision: CelDecision) => decision.answer.allowed])),
    declare('reason', method('decision_reason', [decisionType], [stringType, (decision: CelDecision) => decision.answer.reason ?? ''])),
  ],
};
