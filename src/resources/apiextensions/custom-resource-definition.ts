// apiextensions.k8s.io/v1 CustomResourceDefinition as a row. Its validation and its controller are in the room crd.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { applyServicePort, ensureStruct, readPointer, setZero } from '../common/defaults.ts';
import { prepareWithStatus } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { readPath, toList, toObjects, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { convertDefinition } from './convert.ts';

/** Defaults of customresourcedefinitions: the names that follow from the kind, no conversion, and the storage version as one that was stored. */
function applyDefinitionDefaults(definition: KubeObject): void {
  const spec = ensureStruct(definition, 'spec');
  const names = ensureStruct(spec, 'names');
  const kind = toText(names['kind']);
  if (kind !== '') setZero(names, { singular: kind.toLowerCase(), listKind: `${kind}List` });
  // A conversion without a strategy stays as it is, and is refused.
  if (readPointer(spec, 'conversion') === undefined) spec['conversion'] = { strategy: 'None' };
  else applyServicePort(readPointer(readPointer(readPointer(spec, 'conversion'), 'webhook'), 'clientConfig'));
  // A client that empties the list leaves the storage version in it.
  if (toList(readPath(definition, 'status', 'storedVersions')).length === 0) addStoredVersion(definition);
}

/** Adds the storage version to the versions that were ever stored. */
function addStoredVersion(definition: KubeObject): void {
  const stored = toObjects(readPath(definition, 'spec', 'versions')).find((version) => version['storage'] === true);
  if (stored === undefined) return;
  const status: JsonObject = { ...ensureStruct(definition, 'status') };
  const known = toList(status['storedVersions']);
  const name = toText(stored['name']);
  if (!known.includes(name)) definition['status'] = { ...status, storedVersions: [...known, name] };
}

/** The spec of CustomResourceDefinition. */
export const customResourceDefinitionKind: KindSpec = {
  kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions', shortNames: ['crd', 'crds'], categories: ['api-extensions'], cluster: true,
  convert: convertDefinition, storagePrefix: 'apiextensions.k8s.io/customresourcedefinitions', upstreamStorageVersion: 'v1beta1',
  unconditionalUpdate: false, tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['lenient-update', 'kind'],
  resetFields: { status: [['spec']] },
  applyDefaults: applyDefinitionDefaults,
  strategy: prepareWithStatus({ prepareForCreate: addStoredVersion, prepareForUpdate: addStoredVersion }),
};
