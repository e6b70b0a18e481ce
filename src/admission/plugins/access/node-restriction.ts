// NodeRestriction: a kubelet writes only what is its own: its node without labels, taints and owners that would steer others, mirror pods of its own that
// refer to nothing, the status of its pods, its lease and its CSI node; it gets tokens for its pods. Mirrors the reference's plugin, which is off unless
// it is asked for.
import { type KubeObject, equalJson, parseCertificateRequest, parsePem } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { ReadsOf } from '../../reads.ts';
import { refuse } from '../../refusal.ts';
import { checkNodeCertificate } from './node-certificates.ts';
import { type AskAudience, checkNodeToken } from './node-tokens.ts';

interface NodeRestrictionOptions {
  /** The node that a user is; '' for a kubelet of no node, undefined for everybody else. */
  readonly nodeOf: (user: AdmissionAttributes['context']['user']) => string | undefined;
  readonly readsOf: ReadsOf;
  /** Absent where kubelets may ask for any audience. */
  readonly askAudience?: AskAudience | undefined;
  /** Kubelets may ask for certificates in any name. */
  readonly takesAnySubject?: boolean;
}

interface Case {
  readonly attributes: AdmissionAttributes;
  /** The node that asks. */
  readonly node: string;
  readonly readsOf: ReadsOf;
  readonly askAudience: AskAudience | undefined;
  readonly takesAnySubject: boolean;
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const q = JSON.stringify;
const part = (object: KubeObject | undefined, name: 'spec' | 'status'): Readonly<Record<string, unknown>> => (object?.[name] ?? {}) as Record<string, unknown>;
const nodeOfPod = (pod: KubeObject | undefined): unknown => part(pod, 'spec')['nodeName'];

/** Makes the plugin. */
export function createNodeRestriction({ nodeOf, readsOf, askAudience, takesAnySubject = false }: NodeRestrictionOptions): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    handles: ({ context }) => nodeOf(context.user) !== undefined,
    // With the mutating plugins, as in the reference: what a kubelet may not do is refused before anything else is looked at.
    mutate(attributes) {
      const node = nodeOf(attributes.context.user);
      if (node === undefined) return undefined;
      if (node === '') throw refuse(attributes, `could not determine node from user ${q(attributes.context.user.name)}`);
      const { resource: { group, plural }, subresource } = attributes;
      return rules.get(`${group}/${plural}/${subresource}`)?.({ attributes, node, readsOf, askAudience, takesAnySubject });
    },
  };
}

async function checkPod(one: Case): Promise<void> {
  const { attributes, node } = one;
  const { operation, object, oldObject } = attributes;
  if (operation === 'CREATE') return checkMirrorPod(one, object as KubeObject);
  if (operation !== 'DELETE') throw refuse(attributes, `unexpected operation ${q(operation)}, node ${q(node)} can only create and delete mirror pods`);
  if (nodeOfPod(oldObject) !== node) throw refuse(attributes, `node ${q(node)} can only delete pods with spec.nodeName set to itself`);
  return undefined;
}

async function checkMirrorPod({ attributes, node, readsOf }: Case, pod: KubeObject): Promise<void> {
  if (!Object.hasOwn(pod.metadata.annotations ?? {}, MIRROR_ANNOTATION)) {
    throw refuse(attributes, `pod does not have ${q(MIRROR_ANNOTATION)} annotation, node ${q(node)} can only create mirror pods`);
  }
  if (nodeOfPod(pod) !== node) throw refuse(attributes, `node ${q(node)} can only create pods with spec.nodeName set to itself`);
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  if (others.length > 0) throw refuse(attributes, `node ${q(node)} can only create pods with a single owner reference set to itself`);
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw refuse(attributes, `node ${q(node)} can only create pods with an owner reference set to itself`);
  }
  if (owner.controller !== true) throw refuse(attributes, `node ${q(node)} can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion === true) throw refuse(attributes, `node ${q(node)} must not set blockOwnerDeletion on an owner reference`);
  const own = await readsOf('', 'nodes').find(node);
  if (own?.metadata.uid !== owner.uid) throw refuse(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${own?.metadata.uid ?? ''}`);
  const spec = part(pod, 'spec');
  const found = spec['serviceAccountName'] ? 'a service account' : references.find(([, names]) => mentions(spec, names))?.[0];
  if (found !== undefined) throw refuse(attributes, `node ${q(node)} can not create pods that reference ${found}`);
}

/** What a mirror pod must not refer to, and the fields that do. */
const references: readonly (readonly [what: string, fields: ReadonlySet<string>])[] = [
  ['secrets', new Set(['secret', 'secretRef', 'secretKeyRef', 'imagePullSecrets', 'nodePublishSecretRef', 'controllerExpandSecretRef'])],
  ['configmaps', new Set(['configMap', 'configMapRef', 'configMapKeyRef'])], ['clustertrustbundles', new Set(['clusterTrustBundle'])],
  ['persistentvolumeclaims', new Set(['persistentVolumeClaim'])], ['resourceclaims', new Set(['resourceClaims'])],
];

function mentions(value: unknown, fields: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => {
    const filled = inner !== null && inner !== undefined && !(Array.isArray(inner) && inner.length === 0);
    return (filled && fields.has(name) && !Array.isArray(value)) || mentions(inner, fields);
  });
}

function checkPodStatus({ attributes, node }: Case): void {
  const { object, oldObject } = attributes;
  if (nodeOfPod(oldObject) !== node) throw refuse(attributes, `node ${q(node)} can only update pod status for pods with spec.nodeName set to itself`);
  if (changedKeys(object?.metadata.labels, oldObject?.metadata.labels).length > 0) {
    throw refuse(attributes, `node ${q(node)} cannot update labels through pod status`);
  }
  const claims = (pod: KubeObject | undefined) => part(pod, 'status')['resourceClaimStatuses'] ?? [];
  if (!equalJson(claims(object), claims(oldObject))) throw refuse(attributes, `node ${q(node)} cannot update resource claim statuses`);
}

async function checkEviction({ attributes, node, readsOf }: Case): Promise<void> {
  const pod = await readsOf('', 'pods').find(attributes.name, attributes.namespace);
  if (pod !== undefined && nodeOfPod(pod) !== node) throw refuse(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

function checkNode({ attributes, node }: Case): void {
  const { name, operation, object, oldObject } = attributes;
  const wanted = name === '' ? object?.metadata.name ?? '' : name;
  if (wanted !== node) throw refuse(attributes, `node ${q(node)} is not allowed to modify node ${q(wanted)}`);
  const labels = changedKeys(object?.metadata.labels, oldObject?.metadata.labels).filter(isForbiddenLabel).sort();
  if (operation === 'CREATE' && labels.length > 0) {
    throw refuse(attributes, `node ${q(node)} is not allowed to set the following labels: ${labels.join(', ')}`);
  }
  if (operation !== 'UPDATE') return;
  const differs = (of: (object: KubeObject | undefined) => unknown) => !equalJson(of(object) ?? [], of(oldObject) ?? []);
  if (differs((one) => part(one, 'spec')['taints'])) throw refuse(attributes, `node ${q(node)} is not allowed to modify taints`);
  if (labels.length > 0) throw refuse(attributes, `is not allowed to modify labels: ${labels.join(', ')}`);
  // A node that owns itself through something that does not exist would be collected, and come back as it likes.
  if (differs((one) => one?.metadata.ownerReferences)) throw refuse(attributes, `node ${q(node)} is not allowed to modify ownerReferences`);
}

function changedKeys(next: Readonly<Record<string, string>> = {}, old: Readonly<Record<string, string>> = {}): string[] {
  const value = (labels: Readonly<Record<string, string>>, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return [...new Set([...Object.keys(next), ...Object.keys(old)])].filter((key) => value(next, key) !== value(old, key));
}

const kubeletLabels = new Set([
  'kubernetes.io/hostname', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region', 'node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type', 'kubernetes.io/os',
  'kubernetes.io/arch', 'beta.kubernetes.io/os', 'beta.kubernetes.io/arch',
]);
const isUnder = (namespace: string, ...domains: readonly string[]): boolean =>
  domains.some((domain) => namespace === domain || namespace.endsWith(`.${domain}`));

/** Labels by which others keep nodes apart are not for nodes to set. */
function isForbiddenLabel(label: string): boolean {
  const namespace = label.includes('/') ? label.slice(0, label.indexOf('/')) : '';
  if (isUnder(namespace, 'node-restriction.kubernetes.io')) return true;
  if (!isUnder(namespace, 'kubernetes.io', 'k8s.io')) return false;
  return !kubeletLabels.has(label) && !isUnder(namespace, 'kubelet.kubernetes.io', 'node.kubernetes.io');
}

const changeable = new Set(['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']);

function checkClaimStatus({ attributes, node }: Case): void {
  const fixed = (claim: KubeObject | undefined) => {
    const { resourceVersion: _version, managedFields: _fields, ...metadata } = claim?.metadata ?? {};
    return { ...claim, metadata, status: Object.fromEntries(Object.entries(part(claim, 'status')).filter(([name]) => !changeable.has(name))) };
  };
  if (equalJson(fixed(attributes.object), fixed(attributes.oldObject))) return;
  throw refuse(attributes, `node ${q(node)} is not allowed to update fields other than status.capacity and status.conditions`);
}

function checkLease({ attributes, node }: Case): void {
  const { namespace, name, object } = attributes;
  if (namespace !== 'kube-node-lease') throw refuse(attributes, 'can only access leases in the "kube-node-lease" system namespace');
  if ((object?.metadata.name ?? name) !== node) throw refuse(attributes, 'can only access node lease with the same name as the requesting node');
}

function checkDriverNode({ attributes, node }: Case): void {
  const { name, object } = attributes;
  if ((object?.metadata.name ?? name) !== node) throw refuse(attributes, 'can only access CSINode with the same name as the requesting node');
}

function checkSlice({ attributes, node }: Case): void {
  const { operation, object, oldObject } = attributes;
  const owner = part(operation === 'DELETE' ? oldObject : object, 'spec')['nodeName'];
  if (owner !== node) throw refuse(attributes, `can only ${operation.toLowerCase()} ResourceSlices with the same NodeName as the requesting node`);
}

function refuseStatus(attributes: AdmissionAttributes): never {
  throw refuse(attributes, attributes.operation === 'CREATE' ? 'unexpected subresource status' : `unexpected operation ${attributes.operation}`);
}

/** The signers of certificates for a kubelet itself. */
const kubeletSigners: ReadonlySet<unknown> = new Set(['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet']);

/** A kubelet asks for certificates in its own name; the rest of such a request is up to its signer. */
function checkSigningRequest({ attributes, node, takesAnySubject }: Case): void {
  const { signerName, request } = part(attributes.object, 'spec');
  if (takesAnySubject || attributes.operation !== 'CREATE' || !kubeletSigners.has(signerName)) return;
  const [block] = parsePem(typeof request === 'string' ? atob(request) : '');
  if (block?.type !== 'CERTIFICATE REQUEST') throw refuse(attributes, 'unable to parse csr: PEM block type must be CERTIFICATE REQUEST');
  const parts = parseCertificateRequest(block.bytes);
  if (parts === undefined) throw refuse(attributes, 'unable to parse csr: x509: malformed certificate request');
  if (parts.commonName !== `system:node:${node}`) throw refuse(attributes, `can only create a node CSR with CN=system:node:${node}`);
}

const rules = new Map<string, (one: Case) => Promise<void> | void>([
  ['/pods/', checkPod], ['/pods/status', checkPodStatus], ['/pods/eviction', checkEviction], ['/serviceaccounts/token', checkNodeToken],
  ['/nodes/', checkNode], ['/nodes/status', checkNode], ['/persistentvolumeclaims/status', checkClaimStatus],
  ['coordination.k8s.io/leases/', checkLease], ['storage.k8s.io/csinodes/', checkDriverNode], ['resource.k8s.io/resourceslices/', checkSlice],
  ['certificates.k8s.io/certificatesigningrequests/', checkSigningRequest],
  ['certificates.k8s.io/podcertificaterequests/', checkNodeCertificate],
  ['certificates.k8s.io/podcertificaterequests/status', ({ attributes }) => refuseStatus(attributes)],
]);
