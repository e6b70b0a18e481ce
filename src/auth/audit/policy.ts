// The audit policy: which requests are recorded, how much of them, and at which stages. Mirrors audit.k8s.io/v1: the first rule that matches decides,
// and a request that no rule matches is not recorded.
import type { Attributes } from '../authorize/attributes.ts';
import type { User } from '../user.ts';

/** How much of a request is recorded, in rising order. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
/** A value of `level`. */
export type AuditLevel = (typeof auditLevels)[number];

/** The moments of a request at which events are made. */
export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
/** A value of `stage`. */
export type AuditStage = (typeof auditStages)[number];

/** Resources of one group; an empty `resources` stands for all of them. */
interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** One rule; an empty list restricts nothing. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  /** undefined: as the policy says. */
  readonly omitManagedFields: boolean | undefined;
}

/** A policy as its file states it. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** The part of a request that is recorded. */
export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** What rules look at. */
export type AuditedRequest = Pick<Attributes, 'verb' | 'isResource' | 'group' | 'namespace' | 'resource' | 'subresource' | 'name' | 'path'>;

/** Decides about a request; its user is undefined when authentication failed. */
export type EvaluateAuditPolicy = (request: AuditedRequest, user: User | undefined) => AuditDecision;

/** Makes the function that applies a policy. Every rule has one decision, which all requests share. */
export function createAuditPolicy({ rules, omitStages, omitManagedFields }: AuditPolicy): EvaluateAuditPolicy {
  const known = rules.map((rule) => ({
    rule,
    decision: {
      level: rule.level, omitStages: new Set([...omitStages, ...rule.omitStages]), omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
    },
  }));
  const otherwise: AuditDecision = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
  const ofNobody = new Map<string, readonly DecidedRule[]>();
  const ofUsers = new WeakMap<User, Map<string, readonly DecidedRule[]>>();
  /** The rules that a user's verb can meet. Requests of one client bring the same object, and there are few verbs: most rules are looked at once. */
  const listRules = (verb: string, user: User | undefined): readonly DecidedRule[] => {
    let ofUser = user === undefined ? ofNobody : ofUsers.get(user);
    if (ofUser === undefined) ofUsers.set(user as User, ofUser = new Map());
    let rules = ofUser.get(verb);
    if (rules === undefined) {
      rules = known.filter(({ rule }) => matchesCaller(rule, verb, user));
      if (ofUser.size < MAX_VERBS) ofUser.set(verb, rules);
    }
    return rules;
  };
  return (request, user) => {
    for (const { rule, decision } of listRules(request.verb, user)) if (matchesRequest(rule, request)) return decision;
    return otherwise;
  };
}

interface DecidedRule {
  readonly rule: AuditRule;
  readonly decision: AuditDecision;
}

/** Verbs whose rules are kept for a user: more than there are in the API, and methods of other paths. */
const MAX_VERBS = 50;

const allows = (list: readonly string[], value: string): boolean => list.length === 0 || list.includes(value);

function matchesCaller({ users, userGroups, verbs }: AuditRule, verb: string, user: User | undefined): boolean {
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  return allows(verbs, verb) && (userGroups.length === 0 || user?.groups.some((group) => userGroups.includes(group)) === true);
}

function matchesRequest(rule: AuditRule, request: AuditedRequest): boolean {
  const { namespaces, resources, nonResourceURLs } = rule;
  if (namespaces.length > 0 || resources.length > 0) return request.isResource && matchesResource(rule, request);
  return nonResourceURLs.length === 0 || (!request.isResource && nonResourceURLs.some((url) => matchesPath(url, request.path)));
}

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1));
}

function matchesResource({ namespaces, resources }: AuditRule, request: AuditedRequest): boolean {
  if (!allows(namespaces, request.namespace)) return false;
  return resources.length === 0 || resources.some((each) => (each.group === '*' || each.group === request.group) && matchesGroup(each, request));
}

function matchesGroup({ resources, resourceNames }: GroupResources, { resource, subresource, name }: AuditedRequest): boolean {
  if (resources.length === 0) return true;
  if (!allows(resourceNames, name)) return false;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some((pattern) =>
    pattern === combined || pattern === '*' || (subresource !== '' && pattern === `*/${subresource}`) || pattern === `${resource}/*`);
}
