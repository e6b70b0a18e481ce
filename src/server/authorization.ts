// The authorization of a server: its modes over one index of RBAC's objects, and the same index as admission and reviews see it.
import type { KubeObject } from '../apimachinery/index.ts';
import type { AskAccess, AskAudience, AskRight, EscalationQuestions, FindClaimRefusal, MayUseSigner } from '../admission/index.ts';
import {
  type Attributes, type Authorize, type Decision, type EscalationRules, type NodeReads, PolicyIndex, type RulesByMode, type User, createAuthorizer,
  createEscalationRules, createNodeAuthorizer, createRbacAuthorizer, listReferences, readFieldSelector, readLabelSelector, refuse, resolveRules,
} from '../auth/index.ts';
import { type MaybePromise, invariant, mapMaybe } from '../base/index.ts';
import type { RequestInfo } from '../endpoints/index.ts';
import { type Catalog, type Predicate, type Registry, type StoredObject, buildPredicate, findKnownObject } from '../registry/index.ts';
import type { AuthorizationChain, AuthorizationPlan } from './config-files/authorization-config.ts';
import { logRetry } from './observability/log-retry.ts';
import type { ServerMetrics } from './metrics/metrics.ts';
import { isGateOn } from './options/feature-gates.ts';
import type { ServerOptions } from './options/options.ts';

/** The rights on this server. */
export interface Authorization {
  readonly authorize: Authorize;
  readonly escalation: EscalationRules;
  /** The rules of users, by the modes that can list them. */
  readonly resolvers: RulesByMode;
  stop(): void;
}

interface AuthorizationOptions {
  readonly options: ServerOptions;
  readonly registry: Registry;
  readonly catalog: Catalog;
  /** Resolves when the bootstrap roles are there; RBAC decides nothing before. */
  readonly rolesReady: Promise<void>;
  /** The modes that are asked, in order. */
  readonly plan: AuthorizationPlan;
  /** Resolves when all that is committed has come to this process; absent where it owns the store. */
  readonly settle?: (() => Promise<unknown>) | undefined;
  readonly metrics?: Pick<ServerMetrics, 'decisionCounter'> | undefined;
}

/** What a mode is called in metrics: the one webhook of flags is the default one. */
const nameOf = (mode: string, name = mode === 'Webhook' ? 'default' : mode.toLowerCase()): string => name;

/** Makes the authorization of a server; begins to read RBAC's objects. */
export function composeAuthorization({ options, registry, catalog, rolesReady, plan, settle, metrics }: AuthorizationOptions): Authorization {
  const { clock, logger } = options;
  const index = new PolicyIndex({ registry, catalog, clock, onError: (error) => logRetry(logger, 'roles will be read again', { error, isWarning: true }) });
  const { abac } = plan;
  const authorizers = {
    RBAC: createRbacAuthorizer(index, rolesReady),
    Node: createNodeAuthorizer(createNodeReads(registry, catalog), (gate) => isGateOn(options.featureGates, gate)),
    ...(abac !== undefined && { ABAC: abac.authorize }),
  };
  const { authorize, stop } = followPlan(plan, ({ modes, webhooks, names }) => {
    if (metrics === undefined) return createAuthorizer(modes, authorizers, { webhooks });
    const counters = modes.map((type, at) => {
      const name = nameOf(type, names?.[at]);
      const counterOf = (decision: 'allowed' | 'denied') => metrics.decisionCounter({ decision, name, type });
      return { allowed: counterOf('allowed'), denied: counterOf('denied') };
    });
    return createAuthorizer(modes, authorizers, { webhooks, onDecided: (at, decision) => counters[at]?.[decision]() });
  });
  return {
    authorize: confirmRefusals(authorize, settle), escalation: createEscalationRules(index),
    stop() {
      stop();
      index.stop();
    },
    resolvers: { RBAC: (user, namespace) => resolveRules(index, user, namespace), ...(abac !== undefined && { ABAC: abac.resolveRules }) },
  };
}

/**
 * Over a store of another process: what is refused is decided again when all that was committed before has come here (`settle`), so that a client
 * may use a right on any connection as soon as its grant is answered.
 */
function confirmRefusals(authorize: Authorize, settle: (() => Promise<unknown>) | undefined): Authorize {
  if (settle === undefined) return authorize;
  return (attributes) => mapMaybe(authorize(attributes),
    (decision): MaybePromise<Decision> => (decision.type === 'allow' ? decision : settle().then(() => authorize(attributes))));
}

/** What the node authorizer reads, from the caches. */
function createNodeReads(registry: Registry, catalog: Catalog): NodeReads {
  const rowOf = (where: string) => {
    const [group = '', plural = ''] = where.split('/');
    const resource = catalog.findResource(group, plural);
    invariant(resource !== undefined, `${plural} are served`);
    return { resource, version: resource.storageVersion };
  };
  const list = async (where: string, namespace: string, predicate: Predicate): Promise<KubeObject[]> => {
    const row = rowOf(where);
    const { items } = await registry.list({ ...row, namespace }, { predicate, resourceVersion: '0' });
    return Array.from(items, (item) => item.object(row.version));
  };
  const isOn = (node: string): Predicate =>
    buildPredicate(rowOf('/pods').resource, { fields: [{ field: 'spec.nodeName', operator: '=', value: node }] });
  // A kubelet asks for the token of each of its pods: reading all of these for each took a fifth of the CPU of a server with a hundred nodes.
  const known = new WeakMap<StoredObject, ReadonlySet<string>>();
  const referencesOf = (pod: StoredObject): ReadonlySet<string> => {
    const found = known.get(pod) ?? listReferences(pod.object(rowOf('/pods').version));
    known.set(pod, found);
    return found;
  };
  return {
    listPods: (node, namespace) => list('/pods', namespace, isOn(node)),
    async hasPodWith(node, namespace, reference) {
      const { items } = await registry.list({ ...rowOf('/pods'), namespace }, { predicate: isOn(node), resourceVersion: '0' });
      for (const pod of items) if (referencesOf(pod).has(reference)) return true;
      return false;
    },
    listVolumesWith: (name) => list('/persistentvolumes', '', { everything: false, matches: (volume) => volume.contains(JSON.stringify(name)) }),
    find: async (where, namespace, name) => {
      const [group = '', plural = ''] = where.split('/');
      return catalog.findResource(group, plural) && findKnownObject(registry, { ...rowOf(where), namespace, name });
    },
  };
}

/** The authorizer of a plan, or of the last that took its place. */
function followPlan(plan: AuthorizationPlan, create: (chain: AuthorizationChain) => Authorize): { readonly authorize: Authorize; stop(): void } {
  let current = create(plan);
  const stop = plan.follow?.((chain) => {
    current = create(chain);
  });
  return stop === undefined ? { authorize: current, stop() {} } : { authorize: (attributes) => current(attributes), stop };
}

/** The escalation plugin's questions; the authorization may come later than the plugin. */
export function createEscalationQuestions(authorization: () => Authorization): EscalationQuestions {
  return {
    async isAllowed(user, { verb, resource, namespace, name }) {
      const attributes: Attributes = {
        user, verb, resource, namespace, name, isResource: true, group: 'rbac.authorization.k8s.io', version: '*', subresource: '', path: '',
      };
      return (await authorization().authorize(attributes)).type === 'allow';
    },
    async findExcess(user, namespace, rules) {
      const { escalation } = authorization();
      await escalation.ready;
      return escalation.findExcess(user, namespace, rules);
    },
    async findRole(roleRef, namespace) {
      const { escalation } = authorization();
      await escalation.ready;
      return escalation.findRole(roleRef, namespace);
    },
  };
}

/** Whether a caller may approve or sign for a signer. */
export function createSignerQuestion(authorization: () => Authorization): MayUseSigner {
  return async (user, verb, name) => {
    const attributes: Attributes = {
      user, verb, name, resource: 'signers', group: 'certificates.k8s.io', version: '*', isResource: true, namespace: '', subresource: '', path: '',
    };
    return (await authorization().authorize(attributes)).type === 'allow';
  };
}

/** Rights on parts of ResourceClaims, as admission asks for them. */
export function createClaimQuestion(authorization: () => Authorization): FindClaimRefusal {
  return async (user, right) => {
    const attributes: Attributes = { user, ...right, group: 'resource.k8s.io', resource: 'resourceclaims', isResource: true, path: '' };
    const decision = await authorization().authorize(attributes);
    return decision.type === 'allow' ? undefined : refuse(attributes, decision.reason).message;
  };
}

/** Whether a kubelet may ask for tokens for audiences that its pods do not mention: the audience stands where a resource does. */
export function createAudienceQuestion(authorization: () => Authorization): AskAudience {
  return async (user, { audience, namespace, name }) => {
    const attributes: Attributes = {
      user, verb: 'request-serviceaccounts-token-audience', namespace, name, group: '', version: 'v1', resource: audience, subresource: '',
      isResource: true, path: '',
    };
    return (await authorization().authorize(attributes)).type === 'allow';
  };
}

/** Rights of writers over owners, as admission asks for them. */
export function createOwnerQuestion(authorization: () => Authorization): AskRight {
  return async (user, right) => {
    const attributes: Attributes = { user, ...right, isResource: true, path: '' };
    const decision = await authorization().authorize(attributes);
    return { isAllowed: decision.type === 'allow', reason: decision.type === 'allow' ? '' : decision.reason ?? '' };
  };
}

const verbsWithSelectors: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** The request as authorization sees it. */
export function describeAttributes(user: User, info: RequestInfo, query?: URLSearchParams): Attributes {
  const { isResource, verb, group, version, namespace, resource, subresource, name, path } = info;
  const isSelecting = isResource && query !== undefined && verbsWithSelectors.has(verb);
  const [fieldSelector, labelSelector] = isSelecting ? [query.get('fieldSelector'), query.get('labelSelector')] : [];
  return {
    user, isResource, verb, group, version, namespace, resource, subresource, name, path,
    ...(fieldSelector && { fieldSelector: () => readFieldSelector(fieldSelector) }),
    ...(labelSelector && { labelSelector: () => readLabelSelector(labelSelector) }),
  };
}

/** Answers what expressions of admission check; their selectors are texts. */
export function askAccessWith(authorization: () => Authorization): AskAccess {
  return ({ fieldSelector, labelSelector, ...question }) => authorization().authorize({
    ...question, ...(fieldSelector && { fieldSelector: () => readFieldSelector(fieldSelector) }),
    ...(labelSelector && { labelSelector: () => readLabelSelector(labelSelector) }),
  });
}

/** Reports why a caller may not do what the info says; undefined where that is allowed. */
export function findRefusalWith(authorization: () => Authorization): (user: User, info: RequestInfo) => Promise<string | undefined> {
  return async (user, info) => {
    const decision: Decision = await authorization().authorize(describeAttributes(user, info));
    return decision.type === 'allow' ? undefined : decision.reason ?? '';
  };
}

/** Refuses with the reference's 403 what a caller may not do besides the request itself. */
export function requireAccessWith(authorization: () => Authorization): (user: User, info: RequestInfo) => Promise<void> {
  return async (user, info) => {
    const attributes = describeAttributes(user, info);
    const decision: Decision = await authorization().authorize(attributes);
    if (decision.type !== 'allow') throw refuse(attributes, decision.reason);
  };
}
