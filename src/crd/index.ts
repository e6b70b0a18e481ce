// The door of crd: definitions of custom resources become rows of the catalog.
export { type Definitions, type DefinitionsOptions, createDefinitions } from './definitions.ts';
export { type CheckRules, type RulesInput, hasRules } from './strategy.ts';
export { createDefinitionStrategy } from './definition-strategy.ts';
export type { JudgeRules } from './validate-version.ts';
export type { SendConversion, WebhookClient } from './webhook-conversion.ts';
