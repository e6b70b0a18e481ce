// authorization.k8s.io/v1 LocalSubjectAccessReview: never stored.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of LocalSubjectAccessReview. */
export const localSubjectAccessReviewKind: KindSpec = {
  kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews',
  verbs: createOnly, virtual: true,
};
