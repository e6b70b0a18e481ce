// Rules of webhooks and policies: which operations on which resources they are about. Mirrors upstream's rules.Matcher: `pods` is the resource
// alone, `pods/*` the resource and all its subresources, `*` every resource without subresources, `*/*` everything.
import type { AdmissionAttributes } from '../../registry/index.ts';

/** A rule as configurations state it; absent lists match nothing. */
export interface MatchRule {
  readonly operations?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  readonly apiVersions?: readonly string[] | null;
  readonly resources?: readonly string[] | null;
  readonly scope?: string;
}

/** Where a request points, as rules see it. */
export interface RulePoint {
  readonly operation: AdmissionAttributes['operation'];
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** The request is in no namespace; requests about Namespaces are in none. */
  readonly isClusterScoped: boolean;
}

/** Whether a request is about Namespaces themselves. */
export const isNamespaces = ({ resource }: Pick<AdmissionAttributes, 'resource'>): boolean => resource.group === '' && resource.plural === 'namespaces';

/** The namespace of a request as admission shows it: requests about a Namespace are in the one that they name. */
export const namespaceOf = (attributes: Pick<AdmissionAttributes, 'resource' | 'namespace' | 'name'>): string =>
  (isNamespaces(attributes) ? attributes.name : attributes.namespace);

/** Where the request of these attributes points. */
export function pointOf(attributes: AdmissionAttributes): RulePoint {
  const { operation, resource: { group, plural }, version, subresource, namespace } = attributes;
  return { operation, group, version, resource: plural, subresource, isClusterScoped: isNamespaces(attributes) || namespace === '' };
}

const holds = (list: readonly string[] | null | undefined, value: string): boolean => list?.some((item) => item === '*' || item === value) ?? false;

function matchesScope(scope: string | undefined, isClusterScoped: boolean): boolean {
  if (scope === undefined || scope === '*') return true;
  return scope === (isClusterScoped ? 'Cluster' : 'Namespaced');
}

function matchesResource(pattern: string, { resource, subresource }: RulePoint): boolean {
  const slash = pattern.indexOf('/');
  const [wanted, sub] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)];
  return (wanted === '*' || wanted === resource) && (sub === '*' || sub === subresource);
}

/** Whether a rule is about a request. */
export function matchesRule(rule: MatchRule, point: RulePoint): boolean {
  return matchesScope(rule.scope, point.isClusterScoped) && holds(rule.operations, point.operation) && holds(rule.apiGroups, point.group) &&
    holds(rule.apiVersions, point.version) && (rule.resources?.some((pattern) => matchesResource(pattern, point)) ?? false);
}
