// The Node mode: a kubelet (user system:node:NAME in group system:nodes) gets what concerns its own node: itself, its lease, its CSI node,
// its pods, and what those pods refer to; besides that, the rules of system:node. Relies on the registry for the pods of a namespace.
import type { KubeObject } from '../../apimachinery/index.ts';
import { expandRule } from '../bootstrap/notation.ts';
import { nodeRules } from '../bootstrap/cluster-roles.data.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorize, Decision } from './attributes.ts';
import { allowsRequest } from './rule.ts';

/** The pods of a namespace, or of all namespaces for ''. */
export type ListPods = (namespace: string) => Promise<readonly KubeObject[]>;

const nodesGroup = 'system:nodes';
const userPrefix = 'system:node:';

/** The node that a user is, if it is one. */
export function nodeOfUser({ name, groups }: User): string | undefined {
  return name.startsWith(userPrefix) && name.length > userPrefix.length && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined;
}

const rules = nodeRules.map(expandRule);
const allowed: Decision = { type: 'allow', reason: '' };
const refuse = (reason: string): Decision => ({ type: 'none', reason });
const refuseUnrelated = (node: string): Decision => refuse(`no relationship found between node '${node}' and this object`);
const reads = new Set(['get', 'list', 'watch']);

/** The authorizer. */
export function createNodeAuthorizer(listPods: ListPods): Authorize {
  return (attributes) => {
    const node = nodeOfUser(attributes.user);
    if (node === undefined) return refuse('');
    if (!attributes.isResource) return byRules(attributes);
    const judge = judges.get(`${attributes.group}/${attributes.resource}`);
    return judge === undefined ? byRules(attributes) : judge({ node, attributes, listPods });
  };
}

const byRules = (attributes: Attributes): Decision => (rules.some((rule) => allowsRequest(rule, attributes)) ? allowed : refuse(''));

interface Case {
  readonly node: string;
  readonly attributes: Attributes;
  readonly listPods: ListPods;
}
type Judge = (asked: Case) => Promise<Decision> | Decision;

/** The kubelet's own object, by name; creations carry none and are checked by NodeRestriction. */
function judgeOwn(namespace: string, verbs: ReadonlySet<string>): Judge {
  return ({ node, attributes }) => {
    if (attributes.namespace !== namespace || !verbs.has(attributes.verb) || attributes.subresource !== '') return refuse('can only access its own object');
    return attributes.verb === 'create' || attributes.name === node ? allowed : refuse('can only access an object with the same name as the requesting node');
  };
}

const judgeNode: Judge = ({ node, attributes }) => {
  const { verb, name } = attributes;
  if (verb === 'get' && name !== node) return refuse(`node '${node}' cannot read '${name}', only its own Node object`);
  if ((verb === 'list' || verb === 'watch') && name !== node) return refuse(`node '${node}' cannot read all nodes, only its own Node object`);
  return byRules(attributes);
};

const judgePod: Judge = async ({ node, attributes, listPods }) => {
  const { verb, subresource, name, namespace, fieldSelector = '' } = attributes;
  if (subresource !== '' || !reads.has(verb)) return byRules(attributes);
  if (verb === 'get') {
    const pods = await listPods(namespace);
    return pods.some((pod) => pod.metadata.name === name && nodeOfPod(pod) === node) ? allowed : refuseUnrelated(node);
  }
  const own = fieldSelector.split(',').some((term) => term === `spec.nodeName=${node}` || term === `spec.nodeName==${node}`);
  return own ? allowed : refuse('can only list/watch pods with spec.nodeName field selector');
};

/** Something that a pod refers to by name. */
function judgeReferred(kind: Reference['kind'], verbs: ReadonlySet<string>): Judge {
  return async ({ node, attributes, listPods }) => {
    const { verb, name, namespace, subresource } = attributes;
    if (!verbs.has(verb) || name === '' || !(subresource === '' || (kind === 'ServiceAccount' && subresource === 'token'))) {
      return byRulesOr(attributes, kind, 'can only read this object by its name');
    }
    const pods = await listPods(namespace);
    const related = pods.some((pod) => nodeOfPod(pod) === node && [...referencesOf(pod)].some((one) => one.kind === kind && one.name === name));
    return related ? allowed : refuseUnrelated(node);
  };
}

/** Status of claims follows the rules; everything else of these kinds is refused unless a pod refers to it. */
function byRulesOr(attributes: Attributes, kind: string, reason: string): Decision {
  return kind === 'PersistentVolumeClaim' && attributes.subresource === 'status' ? byRules(attributes) : refuse(reason);
}

const judges = new Map<string, Judge>([
  ['/nodes', judgeNode],
  ['/pods', judgePod],
  ['/secrets', judgeReferred('Secret', reads)],
  ['/configmaps', judgeReferred('ConfigMap', reads)],
  ['/persistentvolumeclaims', judgeReferred('PersistentVolumeClaim', new Set(['get']))],
  ['/serviceaccounts', judgeReferred('ServiceAccount', new Set(['create', 'get']))],
  ['coordination.k8s.io/leases', judgeOwn('kube-node-lease', new Set(['get', 'create', 'update', 'patch', 'delete']))],
  ['storage.k8s.io/csinodes', judgeOwn('', new Set(['get', 'create', 'update', 'patch', 'delete']))],
]);

interface Reference {
  readonly kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim' | 'ServiceAccount';
  readonly name: string;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly serviceAccountName?: string;
}

const specOf = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;
const nodeOfPod = (pod: KubeObject): string | undefined => specOf(pod).nodeName;

/** Field names that refer to an object, wherever in a pod's spec they are. */
const referring: Readonly<Record<string, readonly [kind: Reference['kind'], field: string]>> = {
  secret: ['Secret', 'secretName'], secretRef: ['Secret', 'name'], secretKeyRef: ['Secret', 'name'], imagePullSecrets: ['Secret', 'name'],
  nodePublishSecretRef: ['Secret', 'name'],
  configMap: ['ConfigMap', 'name'], configMapRef: ['ConfigMap', 'name'], configMapKeyRef: ['ConfigMap', 'name'],
  persistentVolumeClaim: ['PersistentVolumeClaim', 'claimName'],
};

function* referencesOf(pod: KubeObject): Generator<Reference> {
  const { serviceAccountName } = specOf(pod);
  if (serviceAccountName !== undefined) yield { kind: 'ServiceAccount', name: serviceAccountName };
  yield* findReferences(specOf(pod));
}

function* findReferences(value: unknown): Generator<Reference> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const found = Object.hasOwn(referring, key) ? referring[key] : undefined;
    if (found !== undefined) yield* readReference(found, inner);
    yield* findReferences(inner);
  }
}

function* readReference([kind, field]: readonly [Reference['kind'], string], value: unknown): Generator<Reference> {
  for (const one of Array.isArray(value) ? value : [value]) {
    const fields = (one ?? {}) as Record<string, unknown>;
    // Projected volumes name their secrets `name`, plain ones `secretName`.
    const name = fields[field] ?? fields['name'];
    if (typeof name === 'string') yield { kind, name };
  }
}
