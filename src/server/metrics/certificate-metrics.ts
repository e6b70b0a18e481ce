// The metrics of certificate signing requests, under upstream's names: certificates that were issued to requests for a duration, and how many have it.
import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { type MetricRegistry, formatLabels } from './metric.ts';

const PREFIX = 'apiserver_certificates_registry_csr_';
const SPLIT = 'sliced by signer (only kubernetes.io signer names are specifically identified)';
/** Certificates of a short life are dated back by as much. */
const BACKDATING_MS = 300_000;
const TOLERANCE = 0.05;

const certificateOf = (request: KubeObject | undefined): string => ((request?.['status'] ?? {}) as { certificate?: string }).certificate ?? '';

/** Whether the first of these certificates lives about as long as asked for; false where it cannot be read. */
function isHonored(certificates: string, wantedMs: number): boolean {
  try {
    const { validFrom, validTo } = new X509Certificate(Buffer.from(certificates, 'base64'));
    return Math.abs(wantedMs - (Date.parse(validTo) - Date.parse(validFrom))) < BACKDATING_MS + wantedMs * TOLERANCE;
  } catch {
    return false;
  }
}

/** Adds the metrics to a registry; the function counts an update that was stored. */
export function countCertificates(registry: MetricRegistry): (update: AdmissionAttributes) => void {
  const count = (what: string, which: string) => registry.counter({
    name: `${PREFIX}${what}_duration_total`, stability: 'ALPHA', help: `Total number of issued CSRs with a requested duration${which}, ${SPLIT}`,
  });
  const [honored, requested] = [count('honored', ' that was honored'), count('requested', '')];
  return ({ resource, subresource, object, oldObject }) => {
    if (resource.plural !== 'certificatesigningrequests' || resource.group !== 'certificates.k8s.io' || subresource !== 'status') return;
    const { signerName = '', expirationSeconds } = (oldObject?.['spec'] ?? {}) as { signerName?: string; expirationSeconds?: number };
    const issued = certificateOf(object);
    if (issued === '' || certificateOf(oldObject) !== '' || expirationSeconds === undefined) return;
    const labels = formatLabels({ signerName: signerName.startsWith('kubernetes.io/') ? signerName : 'other' });
    requested.add(labels);
    if (isHonored(issued, expirationSeconds * 1000)) honored.add(labels);
  };
}

/** Adds the metric of TLS connections that came to nothing; what it answers counts one. */
export function countHandshakeErrors(registry: MetricRegistry): () => void {
  const errors = registry.counter({
    name: 'apiserver_tls_handshake_errors_total', stability: 'ALPHA', help: "Number of requests dropped with 'TLS handshake error from' error",
  });
  errors.add('', 0);
  return () => errors.add('');
}
