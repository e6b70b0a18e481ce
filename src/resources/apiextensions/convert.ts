// CustomResourceDefinition from v1beta1, which is no longer served but is the version that kube-apiserver stores: there, the parts that all
// versions share (schema, subresources, columns, selectable fields) stand once above them.
import type { JsonObject, JsonValue, KubeObject } from '../../apimachinery/index.ts';
import { toObject, toObjects } from '../common/values.ts';

/** The members that have a value, in this order. */
const compact = (members: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null)) as JsonObject;

function convertColumns(columns: JsonValue | undefined): JsonValue | undefined {
  if (columns === undefined || columns === null) return undefined;
  return toObjects(columns).map(({ JSONPath, ...column }) => compact({ ...column, jsonPath: JSONPath }));
}

function convertVersion(version: JsonObject, spec: JsonObject): JsonObject {
  const { name, served, storage, deprecated, deprecationWarning } = version;
  return compact({
    name, served, storage, deprecated, deprecationWarning,
    schema: spec['validation'] ?? version['schema'],
    subresources: spec['subresources'] ?? version['subresources'],
    additionalPrinterColumns: convertColumns(spec['additionalPrinterColumns'] ?? version['additionalPrinterColumns']),
    selectableFields: spec['selectableFields'] ?? version['selectableFields'],
  });
}

function convertConversion(conversion: JsonValue | undefined): JsonObject {
  const { strategy = 'None', webhookClientConfig, conversionReviewVersions } = toObject(conversion);
  const hasWebhook = (webhookClientConfig ?? conversionReviewVersions ?? undefined) !== undefined;
  return compact({ strategy, webhook: hasWebhook ? compact({ clientConfig: webhookClientConfig, conversionReviewVersions }) : undefined });
}

/** A stored definition as v1 has it. This is the only conversion: definitions are written as v1, which kube-apiserver reads as well. */
export function convertDefinition(definition: KubeObject): KubeObject {
  const spec = toObject(definition['spec'] as JsonValue);
  const versions = toObjects(spec['versions'] ?? [{ name: spec['version'] ?? '', served: true, storage: true }]);
  const { group, names, scope } = spec;
  const converted = compact({
    group, names, scope, versions: versions.map((version) => convertVersion(version, spec)), conversion: convertConversion(spec['conversion']),
    // Absent means true there and false here.
    preserveUnknownFields: spec['preserveUnknownFields'] === false ? undefined : true,
  });
  return { ...definition, spec: converted };
}
