// authentication.k8s.io/v1 TokenReview: never stored.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of TokenReview. */
export const tokenReviewKind: KindSpec = {
  kind: 'TokenReview', plural: 'tokenreviews', cluster: true,
  verbs: createOnly, virtual: true,
};
