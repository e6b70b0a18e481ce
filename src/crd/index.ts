// The door of crd: definitions of custom resources become rows of the catalog.
export { type Definitions, createDefinitions } from './definitions.ts';
export { type JudgeRequest, createJudge } from './judge.ts';
export { createDefinitionStrategy } from './definition-strategy.ts';
export type { WebhookClient } from './webhook-conversion.ts';
