// Certificates that a kubelet asks for: for pods that run on its node, and for the service accounts of these. A part of NodeRestriction, in its words; what
// may be a cache that is behind is a plain error, so that kubelets try again.
import type { KubeObject } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { ReadsOf } from '../../reads.ts';
import { internalProblem, refuse } from '../../refusal.ts';

interface CertificateCase {
  readonly attributes: AdmissionAttributes;
  /** The node that asks. */
  readonly node: string;
  readonly readsOf: ReadsOf;
}

interface RequestSpec {
  readonly nodeName?: string;
  readonly nodeUID?: string;
  readonly podName?: string;
  readonly podUID?: string;
  readonly serviceAccountName?: string;
  readonly serviceAccountUID?: string;
}

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const q = JSON.stringify;

/** Refuses a request for a certificate of a pod that is not what the request says. */
export async function checkNodeCertificate({ attributes, node, readsOf }: CertificateCase): Promise<void> {
  const { operation, namespace, object } = attributes;
  if (operation !== 'CREATE') throw refuse(attributes, `unexpected operation ${operation}`);
  const spec = (object?.['spec'] ?? {}) as RequestSpec;
  const { nodeName = '', nodeUID = '', podName = '', podUID = '', serviceAccountName = '', serviceAccountUID = '' } = spec;
  const podKey = q(`${namespace}/${podName}`);
  if (nodeName !== node) throw refuse(attributes, `PodCertificateRequest.Spec.NodeName=${q(nodeName)}, which is not the requesting node ${q(node)}`);
  const named = async (kind: string, key: string, name: string): Promise<KubeObject> => {
    const found = await readsOf('', `${kind.replaceAll(' ', '')}s`).find(name, kind === 'node' ? '' : namespace);
    if (found !== undefined) return found;
    throw internalProblem(`while retrieving ${kind} ${key} named in the PodCertificateRequest: ${kind.replaceAll(' ', '')} ${q(name)} not found`);
  };
  const ownNode = await named('node', q(nodeName), nodeName);
  if (ownNode.metadata.uid !== nodeUID) {
    const why = `inconsistent with the running node (${q(ownNode.metadata.uid ?? '')})`;
    throw internalProblem(`PodCertificateRequest for pod ${podKey} names node UID ${q(nodeUID)}, ${why}`);
  }
  const pod = await named('pod', podKey, podName);
  if (pod.metadata.uid !== podUID) {
    const why = `which differs from running pod ${q(pod.metadata.uid ?? '')}`;
    throw internalProblem(`PodCertificateRequest for pod ${podKey} contains pod UID (${q(podUID)}) ${why}`);
  }
  checkRunningPod(attributes, pod, { podKey, nodeName, serviceAccountName });
  const account = await named('service account', q(`${namespace}/${serviceAccountName}`), serviceAccountName);
  if (account.metadata.uid === serviceAccountUID) return;
  const why = `which differs from the running service account (${q(account.metadata.uid ?? '')})`;
  throw internalProblem(`PodCertificateRequest for pod ${podKey} names service account UID ${q(serviceAccountUID)}, ${why}`);
}

function checkRunningPod(attributes: AdmissionAttributes, pod: KubeObject, asked: { podKey: string; nodeName: string; serviceAccountName: string }): void {
  const { podKey, nodeName, serviceAccountName } = asked;
  const { nodeName: where, serviceAccountName: account = '' } = (pod['spec'] ?? {}) as RequestSpec;
  if (where !== nodeName) throw refuse(attributes, `pod ${podKey} is not running on node ${q(nodeName)} named in the PodCertificateRequest`);
  if (Object.hasOwn(pod.metadata.annotations ?? {}, MIRROR_ANNOTATION)) throw refuse(attributes, `pod ${podKey} is a mirror pod`);
  if (serviceAccountName === account) return;
  const why = `that differs from running pod (${q(account)})`;
  throw refuse(attributes, `PodCertificateRequest for pod ${podKey} contains serviceAccountName (${q(serviceAccountName)}) ${why}`);
}
