// Where the kubelet of a node is: the address that the options prefer, the port that its status names.
import { type KubeObject, badRequest, failure, isGlobalUnicast } from '../../apimachinery/index.ts';
import type { Backends } from './backends.ts';

/** A kubelet as a node's status describes it. */
export interface Kubelet {
  readonly host: string;
  readonly port: string;
  /** Whether it takes WebSockets itself, so that nothing need be translated for it. */
  readonly speaksWebSocket: boolean;
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  readonly declaredFeatures?: readonly string[];
}

/** What the options say of kubelets. */
export interface KubeletOptions {
  /** Types of addresses, best first. */
  readonly addressTypes: readonly string[];
  /** The port of nodes that name none. */
  readonly defaultPort: number;
}

/** The kubelet of a node; throws the reference's 500 when the node has no address of a preferred type. */
export function findKubelet(node: KubeObject, { addressTypes, defaultPort }: KubeletOptions): Kubelet {
  const { addresses = [], daemonEndpoints, declaredFeatures = [] } = (node['status'] ?? {}) as NodeStatus;
  const port = daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  for (const wanted of addressTypes) {
    const found = addresses.find(({ type }) => type === wanted);
    if (found === undefined) continue;
    return {
      host: found.address, port: String(port > 0 ? port : defaultPort), speaksWebSocket: declaredFeatures.includes('ExtendWebSocketsToKubelet'),
    };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw failure(500, '', `no preferred addresses found; known addresses: [${known}]`);
}

/** Throws the reference's 400 where a host leads to this machine, a link or a group: such addresses are not proxied to. */
export async function checkProxyable(host: string, { lookUp }: Pick<Backends, 'lookUp'>): Promise<void> {
  const addresses = await lookUp(host);
  if (addresses.length === 0) throw badRequest('no addresses for hostname');
  if (!addresses.every(isGlobalUnicast)) throw badRequest('address not allowed');
}
