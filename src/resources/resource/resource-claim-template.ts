// resource.k8s.io ResourceClaimTemplate.
import { type KubeObject, equalJson, invalidValue } from '../../apimachinery/index.ts';
import { nameAndAgeColumns } from '../common/columns/columns.ts';
import { readPointer } from '../common/defaults.ts';
import { type Errors, type Field, at } from '../common/validation/check.ts';
import { readPath, toObject } from '../common/values.ts';
import { checkTemplateMetadata } from '../core/volumes/claim-spec.ts';
import type { KindSpec } from '../kind-spec.ts';
import { LISTS_GATE, applyDeviceDefaults, checkClaimSpec, gateClaimSpec } from './claim-spec.ts';
import { convertClaimTemplate } from './convert.ts';
import { showDevicePart } from './structs.ts';

/** Defaults of resourceclaimtemplates. */
function applyResourceClaimTemplateDefaults(template: KubeObject): void {
  applyDeviceDefaults(readPointer(readPointer(template, 'spec'), 'spec'));
}

/** Validates resourceclaimtemplates. */
function validateResourceClaimTemplate(template: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: template['spec'] };
  return [...checkTemplateMetadata(at(spec, 'metadata')), ...checkClaimSpec(at(spec, 'spec'))];
}

/** The template as messages print it: metadata by its API names, the spec as a struct. */
function showTemplate(template: KubeObject): object {
  const metadata = Object.entries(toObject(readPath(template, 'spec', 'metadata')));
  const isSet = (value: unknown): boolean => value !== null && (typeof value !== 'object' || Object.keys(value).length > 0);
  const spec = showDevicePart('ResourceClaimSpec', readPath(template, 'spec', 'spec'));
  return { ...Object.fromEntries(metadata.filter(([, value]) => isSet(value))), Spec: spec };
}

/** Validates updates of resourceclaimtemplates. */
function validateResourceClaimTemplateUpdate(template: KubeObject, old: KubeObject): Errors {
  const after = showTemplate(template);
  const changed: Errors = equalJson(after, showTemplate(old)) ? [] : [invalidValue('spec', after, 'field is immutable')];
  return [...validateResourceClaimTemplate(template), ...changed];
}

/** The spec of ResourceClaimTemplate. */
export const resourceClaimTemplateKind: KindSpec = {
  kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates',
  versions: ['v1', 'v1beta2', 'v1beta1'], convert: convertClaimTemplate, actsAsStored: true,
  returnsDeleted: true,
  columns: nameAndAgeColumns,
  applyDefaults: applyResourceClaimTemplateDefaults,
  gatedFields: gateClaimSpec('spec.spec'),
  ruleGates: [LISTS_GATE],
  validation: { object: validateResourceClaimTemplate, update: validateResourceClaimTemplateUpdate, usesExpressions: true },
};
