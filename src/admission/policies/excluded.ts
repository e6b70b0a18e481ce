// Requests that no policy sees: about policies and bindings themselves, so that none can make itself unremovable, and the reviews without which
// nothing could be authenticated or authorized.
import type { AdmissionAttributes } from '../../registry/index.ts';

const excluded: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/validatingadmissionpolicies', 'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingadmissionpolicies', 'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'authentication.k8s.io/selfsubjectreviews', 'authentication.k8s.io/tokenreviews', 'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews', 'authorization.k8s.io/selfsubjectrulesreviews', 'authorization.k8s.io/subjectaccessreviews',
]);

/** Whether no policy sees a request. */
export const isExcluded = ({ resource: { group, plural } }: AdmissionAttributes): boolean => excluded.has(`${group}/${plural}`);
