// ClusterRoles with an aggregationRule get the rules of all ClusterRoles that its selectors choose, in the order of their names and without
// duplicates, whenever one of them changes. Mirrors the reference's clusterrole-aggregation controller, which owns the rules by server-side apply.
import { type JsonObject, type LabelSelector, type MetaLabelSelector, equalJson, labelSelectorOf } from '../../apimachinery/index.ts';
import { type PolicyRule, readRules } from '../../auth/index.ts';
import { type StoredObject, WorkQueue, createSystemClient, startReflector } from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';

interface KnownRole {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly rules: readonly PolicyRule[];
  /** undefined: the role is not aggregated. */
  readonly selectors: readonly LabelSelector[] | undefined;
}

function readRole(version: StoredObject): KnownRole {
  const object = version.object('v1');
  const aggregation = object['aggregationRule'] as { clusterRoleSelectors?: MetaLabelSelector[] } | undefined;
  const selectors = aggregation?.clusterRoleSelectors?.map((selector) => labelSelectorOf(selector)).filter((selector) => selector !== undefined);
  return { labels: version.labels, rules: readRules(object), selectors: aggregation === undefined ? undefined : (selectors ?? []) };
}

/** Rules of the chosen roles; a role does not choose itself. */
function collectRules(roles: ReadonlyMap<string, KnownRole>, own: string, selectors: readonly LabelSelector[]): readonly PolicyRule[] {
  const chosen = [...roles].filter(([name, { labels }]) => name !== own && selectors.some((selector) => selector.matches(labels)));
  const rules = new Map<string, PolicyRule>();
  for (const [, role] of chosen.sort(([one], [two]) => (one < two ? -1 : 1))) {
    for (const rule of role.rules) {
      const key = JSON.stringify([rule.verbs, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
      if (!rules.has(key)) rules.set(key, rule);
    }
  }
  return [...rules.values()];
}

/** Starts the loop. */
export function createClusterRoleAggregation(context: ControllerContext): Controller {
  const client = createSystemClient(context, ['rbac.authorization.k8s.io', 'v1', 'clusterroles'], 'clusterrole-aggregation-controller');
  const roles = new Map<string, KnownRole>();
  const aggregated = new Set<string>();
  const queue = new WorkQueue({
    observer: context.observeQueue?.('ClusterRoleAggregator'),
    clock: context.clock,
    concurrency: 4,
    onError: (key, error) => context.report('clusterrole-aggregation', key, error),
    async work(name) {
      const selectors = roles.get(name)?.selectors;
      if (selectors === undefined) return;
      const rules = collectRules(roles, name, selectors);
      if (equalJson(rules, roles.get(name)?.rules)) return;
      await client.apply({ namespace: '', name }, { subresource: '', nowMs: context.clock.now() }, (current) =>
        (current['aggregationRule'] === undefined || equalJson(readRules(current), rules) ? undefined : { rules } as unknown as JsonObject));
    },
  });
  const reflector = startReflector({
    registry: context.registry, clock: context.clock, target: client.target(''),
    onError: (error) => context.report('clusterrole-aggregation', '', error),
    onChange: (type, object) => {
      const role = type === 'deleted' ? undefined : readRole(object);
      const before = roles.get(object.name);
      if (role === undefined) roles.delete(object.name);
      else roles.set(object.name, role);
      if (role?.selectors === undefined) aggregated.delete(object.name);
      else {
        aggregated.add(object.name);
        queue.add(object.name);
      }
      for (const name of aggregated) if (isConcerned(roles.get(name), before, role)) queue.add(name);
    },
  });
  return {
    ready: () => reflector.synced,
    async stop() {
      reflector.stop();
      await queue.stop();
    },
  };
}

/** Whether a role that was `before` and is `after` is, or was, part of an aggregated one. */
function isConcerned(aggregate: KnownRole | undefined, before: KnownRole | undefined, after: KnownRole | undefined): boolean {
  return aggregate?.selectors?.some((selector) =>
    (before !== undefined && selector.matches(before.labels)) || (after !== undefined && selector.matches(after.labels))) === true;
}
