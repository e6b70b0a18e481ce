// admissionregistration.k8s.io/v1 MutatingWebhookConfiguration.
import type { KindSpec } from '../kind-spec.ts';
import { applyMutatingWebhookDefaults, formerWebhooks, webhookConfigurationColumns, webhookValidation } from './webhooks.ts';

/** The spec of MutatingWebhookConfiguration. */
export const mutatingWebhookConfigurationKind: KindSpec = {
  kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations', categories: ['api-extensions'], cluster: true,
  formerVersions: formerWebhooks,
  unconditionalUpdate: false, tracksGeneration: true,
  metadataChecks: ['lenient-object', 'kind'],
  columns: webhookConfigurationColumns,
  applyDefaults: applyMutatingWebhookDefaults,
  validation: webhookValidation,
};
