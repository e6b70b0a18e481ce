// Options of the connections to kubelets.
import { checks, integer, list, text } from './schema.ts';

const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

/** How kubelets are reached. */
export const kubeletOptions = {
  kubeletClientCertificate: text({ flag: 'kubelet-client-certificate', help: 'Client certificate (PEM) that is shown to kubelets.' }),
  kubeletClientKey: text({ flag: 'kubelet-client-key', help: 'Its key (PEM).' }),
  kubeletCertificateAuthority: text({
    flag: 'kubelet-certificate-authority', help: 'Authority (PEM) of the kubelets\' serving certificates; without it they are not verified.',
  }),
  kubeletPreferredAddressTypes: list({
    flag: 'kubelet-preferred-address-types', default: addressTypes, check: (types) => (types.length === 0 ? 'must name a type of address' : undefined),
    help: 'Types of a node\'s addresses that its kubelet is reached at, best first.',
  }),
  egressSelectorConfigFile: text({
    flag: 'egress-selector-config-file',
    help: 'EgressSelectorConfiguration: the proxies through which the cluster and what serves its control plane are reached (Direct, HTTPConnect).',
  }),
  maxConnectionBytesPerSec: integer({
    flag: 'max-connection-bytes-per-sec', default: 0,
    help: 'Bytes per second, each way, that a proxied connection with an upgrade passes (exec, attach, port-forward, proxy); 0: any number.',
  }),
  kubeletPort: integer({ flag: 'kubelet-port', default: 10_250, check: checks.port, help: 'Port of the kubelets of nodes that name none.' }),
} as const;

/** Reports options that do not fit each other. */
export function findKubeletConflicts({ kubeletClientCertificate, kubeletClientKey }: {
  readonly kubeletClientCertificate: string; readonly kubeletClientKey: string;
}): string[] {
  const isPair = (kubeletClientCertificate === '') === (kubeletClientKey === '');
  return isPair ? [] : ['--kubelet-client-certificate and --kubelet-client-key must be given together'];
}
