// authorization.k8s.io/v1 SelfSubjectAccessReview: never stored.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of SelfSubjectAccessReview. */
export const selfSubjectAccessReviewKind: KindSpec = {
  kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', cluster: true,
  verbs: createOnly, virtual: true,
};
