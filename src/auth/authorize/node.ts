// The Node mode: a kubelet (user system:node:NAME in group system:nodes) gets what concerns its own node: itself, its lease, its CSI node,
// its pods, and what those pods refer to; besides that, the rules of system:node. Relies on the registry for the pods of a node, so that a decision
// takes time by what runs on the node and not by all that runs.
import type { KubeObject } from '../../apimachinery/index.ts';
import { expandRules } from '../bootstrap/bootstrap-policy.ts';
import { nodeRules } from '../bootstrap/cluster-roles.data.ts';
import { findNodeName } from '../user.ts';
import type { Attributes, Authorize, Decision } from './attributes.ts';
import { requiresField } from './selectors.ts';
import { allowsRequest } from './rule.ts';

/** What decisions read, as the caches have it. */
export interface NodeReads {
  /** The pods on a node, in a namespace, or in all namespaces for ''. */
  listPods(node: string, namespace: string): Promise<readonly KubeObject[]>;
  /** Whether a pod on a node, in a namespace, refers to an object, as `listReferences` names it. */
  hasPodWith(node: string, namespace: string, reference: string): Promise<boolean>;
  /** The persistent volumes in which a name stands somewhere. */
  listVolumesWith(name: string): Promise<readonly KubeObject[]>;
  /** An object of a resource (`group/plural`, the core group without a name), if there is one. */
  find(resource: string, namespace: string, name: string): Promise<KubeObject | undefined>;
}

const allowed: Decision = { type: 'allow', reason: '' };
const refuse = (reason: string): Decision => ({ type: 'none', reason });
const refuseUnrelated = (node: string): Decision => refuse(`no relationship found between node '${node}' and this object`);
const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** The authorizer. */
export function createNodeAuthorizer(reads: NodeReads, isGateOn: (gate: string) => boolean = () => false): Authorize {
  const rules = expandRules(nodeRules, isGateOn);
  const served = new Map(checks);
  if (!isGateOn('PodCertificateRequest')) served.delete(CERTIFICATE_REQUESTS);
  const byRules: ByRules = (attributes) => (rules.some((rule) => allowsRequest(rule, attributes)) ? allowed : refuse(''));
  return (attributes) => {
    const node = findNodeName(attributes.user);
    if (node === undefined) return refuse('');
    if (!attributes.isResource) return byRules(attributes);
    const check = served.get(`${attributes.group}/${attributes.resource}`);
    return check === undefined ? byRules(attributes) : check({ node, attributes, reads, byRules });
  };
}

type ByRules = (attributes: Attributes) => Decision;

interface Case {
  readonly node: string;
  readonly attributes: Attributes;
  readonly reads: NodeReads;
  /** What the rules of system:node say. */
  readonly byRules: ByRules;
}
type AuthorizationCheck = (asked: Case) => Promise<Decision> | Decision;

const ownVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete']);

/** The kubelet's own object, by name; creations carry none and are checked by NodeRestriction. */
function checkOwn(kind: 'CSINode' | 'node lease', namespace: string): AuthorizationCheck {
  return ({ node, attributes }) => {
    if (!ownVerbs.has(attributes.verb)) return refuse(`can only get, create, update, patch, or delete a ${kind}`);
    if (attributes.subresource !== '') return refuse(`cannot authorize ${kind} subresources`);
    if (attributes.namespace !== namespace) return refuse(`can only access leases in the "${namespace}" system namespace`);
    return attributes.verb === 'create' || attributes.name === node ? allowed : refuse(`can only access ${kind} with the same name as the requesting node`);
  };
}

const checkNode: AuthorizationCheck = ({ node, attributes, byRules }) => {
  const { verb, name } = attributes;
  if (verb === 'get' && name !== node) return refuse(`node '${node}' cannot read '${name}', only its own Node object`);
  if ((verb === 'list' || verb === 'watch') && name !== node) return refuse(`node '${node}' cannot read all nodes, only its own Node object`);
  return byRules(attributes);
};

const checkPod: AuthorizationCheck = async ({ node, attributes, reads, byRules }) => {
  const { verb, subresource, name, namespace, fieldSelector } = attributes;
  if (subresource !== '' || !readVerbs.has(verb)) return byRules(attributes);
  if (verb === 'get') return specField(await reads.find('/pods', namespace, name), 'nodeName') === node ? allowed : refuseUnrelated(node);
  const own = requiresField(fieldSelector?.(), 'spec.nodeName', node);
  return own ? allowed : refuse('can only list/watch pods with spec.nodeName field selector');
};

/** Why a request is none for something that pods refer to by name. */
function findMisuse(kind: Reference['kind'], { verb, name, namespace, subresource }: Attributes): string | undefined {
  const nameless = name === '' ? 'No Object name found' : undefined;
  if (kind === 'ServiceAccount' && !(verb === 'get' && subresource === '')) {
    if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts';
    return subresource === 'token' ? undefined : 'can only create token subresource of serviceaccount';
  }
  if (kind === 'PersistentVolumeClaim') {
    if (subresource === 'status') return statusWrites.has(verb) ? nameless : 'can only get/update/patch this type';
    if (verb !== 'get') return 'can only get individual resources of this type';
    return subresource === '' ? nameless : 'cannot get subresource';
  }
  if (!readVerbs.has(verb)) return 'can only read resources of this type';
  if (subresource !== '') return 'cannot read subresource';
  return namespace === '' ? 'can only read namespaced object of this type' : nameless;
}

/** Something that a pod refers to by name. */
function checkReferred(kind: Reference['kind']): AuthorizationCheck {
  return async (one) => {
    const { name, namespace } = one.attributes;
    const misuse = findMisuse(kind, one.attributes);
    if (misuse !== undefined) return refuse(misuse);
    return await isReferred(one, { kind, name }, namespace) ? allowed : refuseUnrelated(one.node);
  };
}

const checkReferredSecret = checkReferred('Secret');

/** A secret that a pod refers to, or a volume that a claim of a pod is bound to. */
const checkSecret: AuthorizationCheck = async (one) => {
  const decision = await checkReferredSecret(one);
  const { verb, name, subresource } = one.attributes;
  if (decision.type === 'allow' || !readVerbs.has(verb) || name === '' || subresource !== '') return decision;
  return await isSecretOfVolume(one) ? allowed : decision;
};

async function isSecretOfVolume({ node, attributes: { name, namespace }, reads }: Case): Promise<boolean> {
  const claims = new Set<string>();
  for (const pod of await reads.listPods(node, '')) {
    for (const one of referencesOf(pod)) if (one.kind === 'PersistentVolumeClaim') claims.add(`${pod.metadata.namespace ?? ''}/${one.name}`);
  }
  if (claims.size === 0) return false;
  return (await reads.listVolumesWith(name)).some((volume) => {
    const claimed = (specField(volume, 'claimRef') ?? {}) as { readonly name?: string; readonly namespace?: string };
    return claims.has(`${claimed.namespace ?? ''}/${claimed.name ?? ''}`)
      && [...secretsOfVolume(volume)].some((secret) => secret.name === name && (secret.namespace || claimed.namespace) === namespace);
  });
}

const visibleSecrets: ReadonlySet<string> = new Set(['secretRef', 'nodeStageSecretRef', 'nodePublishSecretRef', 'nodeExpandSecretRef']);

/** The secrets that a kubelet needs for a persistent volume; one without a namespace is in the namespace of the claim. */
function* secretsOfVolume(volume: KubeObject | undefined): Generator<{ readonly name?: string; readonly namespace?: string }> {
  for (const source of Object.values((volume?.['spec'] ?? {}) as Record<string, unknown>)) {
    if (typeof source !== 'object' || source === null) continue;
    const { secretName, secretNamespace } = source as { readonly secretName?: string; readonly secretNamespace?: string };
    if (secretName !== undefined) yield { name: secretName, ...(secretNamespace && { namespace: secretNamespace }) };
    for (const [field, secret] of Object.entries(source)) if (visibleSecrets.has(field)) yield (secret ?? {}) as { readonly name?: string };
  }
}

const statusWrites: ReadonlySet<string> = new Set(['update', 'patch']);

/** Whether a pod of the node refers to an object by name. */
const isReferred = ({ node, reads }: Case, reference: Reference, namespace: string): Promise<boolean> =>
  reads.hasPodWith(node, namespace, nameReference(reference));

const nameReference = ({ kind, name }: Reference): string => `${kind}/${name}`;

/** All that a pod refers to by name. */
export const listReferences = (pod: KubeObject): ReadonlySet<string> => new Set(Array.from(referencesOf(pod), nameReference));

/** An object without a namespace, or made for a pod, is followed to the pods that use it; nothing but a read of one by name is allowed. */
function checkRelated(isRelated: (one: Case) => Promise<boolean>): AuthorizationCheck {
  return async (one) => {
    const { verb, subresource, name } = one.attributes;
    if (verb !== 'get') return refuse('can only get individual resources of this type');
    if (subresource !== '') return refuse('cannot get subresource');
    return name !== '' && await isRelated(one) ? allowed : refuseUnrelated(one.node);
  };
}

const specField = (object: KubeObject | undefined, field: string): unknown => ((object?.['spec'] ?? {}) as Record<string, unknown>)[field];

/** A volume belongs to the node whose pod uses the claim that it is bound to. */
async function isUsedVolume(one: Case): Promise<boolean> {
  const volume = await one.reads.find('/persistentvolumes', '', one.attributes.name);
  const { name, namespace } = (specField(volume, 'claimRef') ?? {}) as { readonly name?: string; readonly namespace?: string };
  return name !== undefined && namespace !== undefined && isReferred(one, { kind: 'PersistentVolumeClaim', name }, namespace);
}

/** A claim on a device belongs to the node whose pod names it, or got it made. */
async function isUsedClaim({ node, attributes: { name, namespace }, reads }: Case): Promise<boolean> {
  const names = (pod: KubeObject): unknown[] => {
    const made = ((pod['status'] ?? {}) as { readonly resourceClaimStatuses?: readonly { readonly resourceClaimName?: string }[] | null });
    const given = specField(pod, 'resourceClaims') as readonly { readonly resourceClaimName?: string }[] | null | undefined;
    return [...given ?? [], ...made.resourceClaimStatuses ?? []].map(({ resourceClaimName }) => resourceClaimName);
  };
  return (await reads.listPods(node, namespace)).some((pod) => names(pod).includes(name));
}

const checkSlice: AuthorizationCheck = async ({ node, attributes, reads }) => {
  const { verb, subresource, name, fieldSelector } = attributes;
  if (subresource !== '') return refuse('cannot authorize ResourceSlice subresources');
  if (verb === 'create') return allowed;
  if (verb === 'list' || verb === 'watch' || verb === 'deletecollection') {
    const own = requiresField(fieldSelector?.(), 'spec.nodeName', node);
    return own ? allowed : refuse('can only list/watch/deletecollection resourceslices with nodeName field selector');
  }
  if (!['get', 'update', 'patch', 'delete'].includes(verb)) {
    return refuse('only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection');
  }
  return specField(await reads.find('resource.k8s.io/resourceslices', '', name), 'nodeName') === node ? allowed : refuseUnrelated(node);
};

const checkCertificateRequest: AuthorizationCheck = async ({ node, attributes, reads }) => {
  const { verb, subresource, name, namespace, fieldSelector } = attributes;
  if (subresource !== '') return refuse('nodes may not access the status subresource of PodCertificateRequests');
  if (verb === 'create') return allowed;
  if (verb === 'get') return specField(await reads.find(CERTIFICATE_REQUESTS, namespace, name), 'nodeName') === node ? allowed : refuseUnrelated(node);
  if (verb !== 'list' && verb !== 'watch') return refuse(`nodes may not ${verb} podcertificaterequests`);
  const own = requiresField(fieldSelector?.(), 'spec.nodeName', node);
  return own ? allowed : refuse('can only list/watch podcertificaterequests with nodeName field selector');
};

const CERTIFICATE_REQUESTS = 'certificates.k8s.io/podcertificaterequests';

const checks = new Map<string, AuthorizationCheck>([
  ['/nodes', checkNode],
  ['/pods', checkPod],
  ['/secrets', checkSecret],
  ['/configmaps', checkReferred('ConfigMap')],
  ['/persistentvolumeclaims', checkReferred('PersistentVolumeClaim')],
  ['/serviceaccounts', checkReferred('ServiceAccount')],
  ['coordination.k8s.io/leases', checkOwn('node lease', 'kube-node-lease')],
  ['/persistentvolumes', checkRelated(isUsedVolume)], ['resource.k8s.io/resourceclaims', checkRelated(isUsedClaim)],
  [
    'storage.k8s.io/volumeattachments',
    checkRelated(async ({ node, attributes, reads }) =>
      specField(await reads.find('storage.k8s.io/volumeattachments', '', attributes.name), 'nodeName') === node),
  ],
  ['resource.k8s.io/resourceslices', checkSlice], [CERTIFICATE_REQUESTS, checkCertificateRequest],
  ['storage.k8s.io/csinodes', checkOwn('CSINode', '')],
]);

interface Reference {
  readonly kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim' | 'ServiceAccount';
  readonly name: string;
}

/** Field names that refer to an object, wherever in a pod's spec they are. */
const referring: Readonly<Record<string, readonly [kind: Reference['kind'], field: string]>> = {
  secret: ['Secret', 'secretName'], secretRef: ['Secret', 'name'], secretKeyRef: ['Secret', 'name'], imagePullSecrets: ['Secret', 'name'],
  nodePublishSecretRef: ['Secret', 'name'],
  configMap: ['ConfigMap', 'name'], configMapRef: ['ConfigMap', 'name'], configMapKeyRef: ['ConfigMap', 'name'],
  persistentVolumeClaim: ['PersistentVolumeClaim', 'claimName'],
};

function* referencesOf(pod: KubeObject): Generator<Reference> {
  const serviceAccount = specField(pod, 'serviceAccountName');
  if (typeof serviceAccount === 'string') yield { kind: 'ServiceAccount', name: serviceAccount };
  yield* findReferences(pod['spec']);
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
