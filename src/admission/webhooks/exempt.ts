// Kinds whose requests no webhook of the API sees, so that none can make itself unremovable; webhooks of static manifests see them.
import type { AdmissionAttributes } from '../../registry/index.ts';

/** All are of admissionregistration.k8s.io. */
const exemptKinds: ReadonlySet<string> = new Set([
  'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding',
  'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding',
]);

/** Whether no webhook of the API sees requests of this kind. */
export const isExempt = ({ kind: { group, kind } }: AdmissionAttributes): boolean => group === 'admissionregistration.k8s.io' && exemptKinds.has(kind);
