// authorization.k8s.io/v1 SelfSubjectRulesReview: never stored.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of SelfSubjectRulesReview. */
export const selfSubjectRulesReviewKind: KindSpec = {
  kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', cluster: true,
  verbs: createOnly, virtual: true,
};
