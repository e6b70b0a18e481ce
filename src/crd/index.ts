// The door of crd: definitions of custom resources become rows of the catalog.
export { type Definitions, createDefinitions } from './controller/definitions.ts';
export { type ValidateRequest, createWriteValidator } from './validate-in-worker.ts';
export { createDefinitionStrategy } from './controller/definition-strategy.ts';
export type { SendConversion } from './conversion/webhook-converter.ts';
export type { WebhookClient } from './types.ts';
