// authorization.k8s.io/v1 SubjectAccessReview: never stored.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of SubjectAccessReview. */
export const subjectAccessReviewKind: KindSpec = {
  kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', cluster: true,
  verbs: createOnly, virtual: true,
};
