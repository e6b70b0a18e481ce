// Authorization checks: authorizer.group('apps').resource('deployments').check('create').allowed(). The checks collect attributes; the decision
// comes from the function that the caller of the expression brings. Where a decision is not there yet that function throws: its caller waits for
// the decision, and evaluates again.
import { validateName } from '../../names.ts';
import { type FunctionDeclaration, type Implementation, type Library, declare, method } from '../check/environment.ts';
import { type CelType, boolType, stringType, structType } from '../values/types.ts';
import { CelError, CelOpaque, type Value } from '../values/values.ts';

const PREFIX = 'kubernetes.authorization';
/** The type of `authorizer`. */
export const authorizerType = structType(`${PREFIX}.Authorizer`);
/** The type of `authorizer.requestResource`. */
export const resourceCheckType = structType(`${PREFIX}.ResourceCheck`);
const pathCheckType = structType(`${PREFIX}.PathCheck`);
const groupCheckType = structType(`${PREFIX}.GroupCheck`);
const decisionType = structType(`${PREFIX}.Decision`);

/** What an expression asks whether it is allowed: a path, or an access to resources. */
export interface AccessAttributes {
  readonly verb: string;
  /** The service account that is asked for; without one it is the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Selectors as the expression writes them; the authorizer reads them. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** The answer of an authorizer. */
export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason?: string;
  /** What went wrong, if anything did. */
  readonly error?: string;
}

/** Decides about an access; what it throws ends the evaluation. */
export type DecideAccess = (attributes: AccessAttributes) => AccessDecision;

/** A check on its way: what it asks so far. */
class AccessCheck extends CelOpaque {
  readonly type: CelType;
  readonly decide: DecideAccess;
  readonly asked: Omit<AccessAttributes, 'verb'>;

  constructor(type: CelType, decide: DecideAccess, asked: Omit<AccessAttributes, 'verb'>) {
    super();
    this.type = type;
    this.decide = decide;
    this.asked = asked;
  }

  refine(more: Omit<AccessAttributes, 'verb'>, type = this.type): AccessCheck {
    return new AccessCheck(type, this.decide, { ...this.asked, ...more });
  }

  equals(other: CelOpaque): boolean {
    return this === other;
  }
}

class Decision extends CelOpaque {
  readonly type = decisionType;
  readonly found: AccessDecision;

  constructor(found: AccessDecision) {
    super();
    this.found = found;
  }

  equals(other: CelOpaque): boolean {
    return this === other;
  }
}

/** The value of `authorizer`. */
export const createAuthorizer = (decide: DecideAccess): Value => new AccessCheck(authorizerType, decide, {});

/** The value of `authorizer.requestResource`: a check of the resource that a request is about. */
export function createResourceCheck(decide: DecideAccess, resource: Omit<AccessAttributes, 'verb' | 'path' | 'serviceAccount'>): Value {
  return new AccessCheck(resourceCheckType, decide, resource);
}

function serviceAccount(check: AccessCheck, namespace: string, name: string): Value {
  if (validateName('dns-subdomain', name).length > 0) return new CelError('Invalid service account name');
  if (validateName('dns-label', namespace).length > 0) return new CelError('Invalid service account namespace');
  return check.refine({ serviceAccount: { namespace, name } });
}

function path(check: AccessCheck, text: string): Value {
  return text.trim() === '' ? new CelError('path must not be empty') : check.refine({ path: text }, pathCheckType);
}

function resource(check: AccessCheck, text: string): Value {
  return text.trim() === '' ? new CelError('resource must not be empty') : check.refine({ resource: text }, resourceCheckType);
}

const decide = (check: AccessCheck, verb: string): Value => new Decision(check.decide({ ...check.asked, verb }));
const group = (check: AccessCheck, text: string): Value => check.refine({ group: text }, groupCheckType);

const asks = (id: string, target: CelType, returns: readonly [CelType, Implementation]): ReturnType<typeof method> =>
  method(id, [target, stringType], returns);

function refinement(name: string, id: string): FunctionDeclaration {
  return declare(name, asks(id, resourceCheckType, [resourceCheckType, (check: AccessCheck, text: string) => check.refine({ [name]: text })]));
}

const answer = (name: string, type: CelType, read: (found: AccessDecision) => Value): FunctionDeclaration =>
  declare(name, method(`decision_${name}`, [decisionType], [type, (decision: Decision) => read(decision.found)]));

/** Kubernetes' authorization functions. */
export const authorizerLibrary: Library = {
  types: new Map([authorizerType, resourceCheckType, pathCheckType, groupCheckType, decisionType].map((type) => [type.name, type])),
  functions: [
    declare('path', asks('authorizer_path', authorizerType, [pathCheckType, path])),
    declare('group', asks('authorizer_group', authorizerType, [groupCheckType, group])),
    declare('serviceAccount', method('authorizer_serviceaccount', [authorizerType, stringType, stringType], [authorizerType, serviceAccount])),
    declare('resource', asks('groupcheck_resource', groupCheckType, [resourceCheckType, resource])),
    refinement('subresource', 'resourcecheck_subresource'), refinement('namespace', 'resourcecheck_namespace'), refinement('name', 'resourcecheck_name'),
    refinement('fieldSelector', 'authorizer_fieldselector'), refinement('labelSelector', 'authorizer_labelselector'),
    declare('check', asks('pathcheck_check', pathCheckType, [decisionType, decide]), asks('resourcecheck_check', resourceCheckType, [decisionType, decide])),
    answer('errored', boolType, ({ error }) => error !== undefined), answer('error', stringType, ({ error }) => error ?? ''),
    answer('allowed', boolType, ({ allowed }) => allowed), answer('reason', stringType, ({ reason }) => reason ?? ''),
  ],
};
