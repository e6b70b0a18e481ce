// authentication.k8s.io/v1 SelfSubjectReview: never stored.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of SelfSubjectReview. */
export const selfSubjectReviewKind: KindSpec = {
  kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', cluster: true,
  verbs: createOnly, virtual: true,
};
