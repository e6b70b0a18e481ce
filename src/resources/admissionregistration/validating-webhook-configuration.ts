// admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration.
import type { KindSpec } from '../kind-spec.ts';
import { applyValidatingWebhookDefaults, formerWebhooks, webhookConfigurationColumns, webhookValidation } from './webhooks.ts';

/** The spec of ValidatingWebhookConfiguration. */
export const validatingWebhookConfigurationKind: KindSpec = {
  kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations', categories: ['api-extensions'], cluster: true,
  formerVersions: formerWebhooks,
  unconditionalUpdate: false, tracksGeneration: true,
  metadataChecks: ['lenient-object', 'kind'],
  columns: webhookConfigurationColumns,
  applyDefaults: applyValidatingWebhookDefaults,
  validation: webhookValidation,
};
