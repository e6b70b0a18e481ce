// Requests that no policy of the API sees: about policies and bindings themselves, so that none can make itself unremovable, and the reviews
// without which nothing could be authenticated or authorized. Policies of static manifests see the former.
import type { AdmissionAttributes } from '../../registry/index.ts';

const excluded: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/validatingadmissionpolicies', 'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingadmissionpolicies', 'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'authentication.k8s.io/selfsubjectreviews', 'authentication.k8s.io/tokenreviews', 'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews', 'authorization.k8s.io/selfsubjectrulesreviews', 'authorization.k8s.io/subjectaccessreviews',
]);

/** Which policies see a request. */
export function findAudience({ resource: { group, plural } }: AdmissionAttributes): 'all' | 'static' | 'none' {
  if (!excluded.has(`${group}/${plural}`)) return 'all';
  return group === 'admissionregistration.k8s.io' ? 'static' : 'none';
}
