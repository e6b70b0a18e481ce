// resource.k8s.io/v1 DeviceClass.
import { type KubeObject, equalJson, invalidValue } from '../../apimachinery/index.ts';
import { nameAndAgeColumns } from '../common/columns/columns.ts';
import { type Errors, type Field, at, isGiven } from '../common/validation/check.ts';
import { readPath, toText } from '../common/values.ts';
import { isExtendedName } from '../core/pods/validation/resources.ts';
import type { KindSpec } from '../kind-spec.ts';
import { LISTS_GATE, MAX_CONFIGS, MAX_SELECTORS, SHARING_GATE, checkSelector } from './claim-spec.ts';
import { checkConfiguration, checkItems } from './parts.ts';

/** Validates deviceclasses. Selectors that an update leaves as they are are stored ones. */
function validateDeviceClass(deviceClass: KubeObject, old?: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: deviceClass['spec'] };
  const selectors = at(spec, 'selectors');
  const isStored = old !== undefined && equalJson(selectors.value ?? [], readPath(old, 'spec', 'selectors') ?? []);
  const name = at(spec, 'extendedResourceName');
  const isWrong = isGiven(name) && !isExtendedName(toText(name.value));
  return [
    ...checkItems(selectors, MAX_SELECTORS, (selector) => checkSelector(selector, isStored)),
    ...checkItems(at(spec, 'config'), MAX_CONFIGS, checkConfiguration),
    ...(isWrong ? [invalidValue(name.path, name.value, 'must be a valid extended resource name')] : []),
  ];
}

/** The spec of DeviceClass. */
export const deviceClassKind: KindSpec = {
  kind: 'DeviceClass', plural: 'deviceclasses', cluster: true, returnsDeleted: true, nameRule: 'long-name',
  versions: ['v1', 'v1beta2', 'v1beta1'],
  tracksGeneration: true,
  columns: nameAndAgeColumns,
  gatedFields: [['DRAExtendedResource', 'spec.extendedResourceName']],
  ruleGates: [LISTS_GATE, SHARING_GATE],
  validation: { object: (deviceClass) => validateDeviceClass(deviceClass), update: validateDeviceClass, usesExpressions: true },
};
