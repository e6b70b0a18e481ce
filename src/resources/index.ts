// The door of resources: the built-in kinds as rows of the catalog, their groups, their schema data.
export { createBuiltinResources, groupPriorities, kindSpecs, withGates } from './table.ts';
export { STRICT_GATE, gatesOf } from './build-resource.ts';
export { type SignatureClaim } from './certificates/pod-keys.ts';
export { withSignatures } from './certificates/signatures.ts';
export { withPrimaryFamily } from './core/services/former-fields.ts';
export { withoutPrivileged } from './core/pods/validation/privileged.ts';
export { formatHumanDuration } from './common/columns/duration.ts';
export { descriptionData } from './descriptions/index.ts';
export { schemaData } from './schema/index.ts';
