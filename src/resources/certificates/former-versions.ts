// CertificateSigningRequests of certificates.k8s.io/v1beta1, which is served no more, as v1 has them: usages and signer have defaults there, and a
// condition holds if it does not say otherwise.
import { type CertificateRequestParts, type JsonObject, type KubeObject, parseCertificateRequest } from '../../apimachinery/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { ensureStruct, readStructs, setAbsent, setZero } from '../common/defaults.ts';
import { formerSchema } from '../common/former-versions.ts';
import { toList } from '../common/values.ts';
import { readRequestBlock } from './request-block.ts';

/** The signer of requests that are not those of kubelets. */
export const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';

const isNodes = ({ organizations, commonName }: CertificateRequestParts): boolean =>
  organizations.length === 1 && organizations[0] === 'system:nodes' && commonName.startsWith('system:node:');

/** Whether usages are those of a signature and of one side of a connection, with or without the encipherment of keys. */
function areUsages(given: unknown, side: string): boolean {
  const usages = new Set(toList(given));
  usages.delete('key encipherment');
  return usages.size === 2 && usages.has('digital signature') && usages.has(side);
}

function findSigner(spec: JsonObject): string {
  const block = readRequestBlock(spec['request']);
  const parts = block === undefined ? undefined : parseCertificateRequest(block);
  if (parts === undefined || !isNodes(parts)) return LEGACY_SIGNER;
  const { nameKinds } = parts;
  if (nameKinds.size === 0 && areUsages(spec['usages'], 'client auth')) return 'kubernetes.io/kube-apiserver-client-kubelet';
  const namesHost = nameKinds.size > 0 && !nameKinds.has('email') && !nameKinds.has('uri');
  return namesHost && areUsages(spec['usages'], 'server auth') ? 'kubernetes.io/kubelet-serving' : LEGACY_SIGNER;
}

function convertRequest(request: KubeObject): KubeObject {
  const spec = ensureStruct(request, 'spec');
  setAbsent(spec, { usages: ['digital signature', 'key encipherment'] });
  setAbsent(spec, { signerName: findSigner(spec) });
  for (const condition of readStructs(request['status'], 'conditions')) setZero(condition, { status: 'True' });
  return request;
}

/** Former versions of CertificateSigningRequest. */
export const formerRequests: Readonly<Record<string, FormerVersion>> = {
  'certificates.k8s.io/v1beta1': { schema: formerSchema('certificates.v1beta1.CertificateSigningRequest'), convert: convertRequest },
};
