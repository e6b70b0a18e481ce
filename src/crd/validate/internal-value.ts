// Versions and schemas as the reference prints them in errors: JSON of its internal types, whose fields have Go's names, zero values included.
import { type OpenAPIV3Schema, sortDeep } from '../../apimachinery/index.ts';
import type { DefinitionVersion } from '../types.ts';
import type { SharedParts } from './internal-form.ts';

type Print = (value: unknown) => unknown;

const asIs: Print = (value) => value;
const printList = (print: Print): Print => (value) => (Array.isArray(value) ? value.map(print) : null);
const printMap = (print: Print): Print => (value) => {
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1)).map(([key, each]) => [key, print(each)]));
};
const printSchemaOrNull: Print = (value) => (value === undefined || value === null ? null : printSchema(value as OpenAPIV3Schema));
const printSchemaOrBool: Print = (value) => {
  if (value === undefined || value === null) return null;
  return typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: printSchemaOrNull(value) };
};
const printItems: Print = (value) => {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? { Schema: null, JSONSchemas: value.map(printSchemaOrNull) } : { Schema: printSchemaOrNull(value), JSONSchemas: null };
};
const printDependency: Print = (value) => (Array.isArray(value) ? { Schema: null, Property: value } : { Schema: printSchemaOrNull(value), Property: null });
const printDocs: Print = (value) => {
  if (typeof value !== 'object' || value === null) return null;
  const { description = '', url = '' } = value as { description?: string; url?: string };
  return { Description: description, URL: url };
};
const printRule: Print = (value) => {
  const { rule = '', message = '', messageExpression = '', reason = null, fieldPath = '', optionalOldSelf = null } = value as Record<string, unknown>;
  return { Rule: rule, Message: message, MessageExpression: messageExpression, Reason: reason, FieldPath: fieldPath, OptionalOldSelf: optionalOldSelf };
};

/** Go's field, ours, its zero value and how it is printed, in the order of the internal type. */
const schemaFields: readonly (readonly [go: string, name: string, zero: unknown, print?: Print])[] = [
  ['ID', 'id', ''], ['Schema', '$schema', ''], ['Ref', '$ref', null], ['Description', 'description', ''], ['Type', 'type', ''], ['Nullable', 'nullable', false],
  ['Format', 'format', ''], ['Title', 'title', ''], ['Default', 'default', null, sortDeep], ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false], ['Minimum', 'minimum', null], ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null], ['MinLength', 'minLength', null], ['Pattern', 'pattern', ''], ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null], ['UniqueItems', 'uniqueItems', false], ['MultipleOf', 'multipleOf', null], ['Enum', 'enum', null, sortDeep],
  ['MaxProperties', 'maxProperties', null], ['MinProperties', 'minProperties', null], ['Required', 'required', null], ['Items', 'items', null, printItems],
  ['AllOf', 'allOf', null, printList(printSchemaOrNull)], ['OneOf', 'oneOf', null, printList(printSchemaOrNull)],
  ['AnyOf', 'anyOf', null, printList(printSchemaOrNull)], ['Not', 'not', null, printSchemaOrNull],
  ['Properties', 'properties', null, printMap(printSchemaOrNull)], ['AdditionalProperties', 'additionalProperties', null, printSchemaOrBool],
  ['PatternProperties', 'patternProperties', null, printMap(printSchemaOrNull)], ['Dependencies', 'dependencies', null, printMap(printDependency)],
  ['AdditionalItems', 'additionalItems', null, printSchemaOrBool], ['Definitions', 'definitions', null, printMap(printSchemaOrNull)],
  ['ExternalDocs', 'externalDocs', null, printDocs], ['Example', 'example', null, sortDeep],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null], ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false], ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null], ['XMapType', 'x-kubernetes-map-type', null],
  ['XValidations', 'x-kubernetes-validations', null, printList(printRule)],
];

/** A schema as the internal type prints it. */
export function printSchema(schema: OpenAPIV3Schema): unknown {
  return Object.fromEntries(schemaFields.map(([go, name, zero, print = asIs]) => {
    const value = Object.hasOwn(schema, name) ? schema[name] : undefined;
    return [go, value === undefined || value === null ? zero : print(value)];
  }));
}

const printColumn: Print = (value) => {
  const { name = '', type = '', format = '', description = '', priority = 0, jsonPath = '' } = value as Record<string, unknown>;
  return { Name: name, Type: type, Format: format, Description: description, Priority: priority, JSONPath: jsonPath };
};

function printSubresources({ status, scale }: NonNullable<SharedParts['subresources']>): unknown {
  return {
    Status: status === undefined ? null : {},
    Scale: scale === undefined ? null : {
      SpecReplicasPath: scale.specReplicasPath ?? '', StatusReplicasPath: scale.statusReplicasPath ?? '', LabelSelectorPath: scale.labelSelectorPath ?? null,
    },
  };
}

/** Versions as the internal type prints them; `own` has the parts that a version does not share with all others. */
export function printVersions(versions: readonly DefinitionVersion[], own: readonly SharedParts[]): unknown {
  return versions.map(({ name = '', served = false, storage = false, deprecated = false, deprecationWarning = null }, i) => {
    const { schema, isBlank = false, subresources, columns, selectableFields } = own[i] ?? {};
    return {
      Name: name, Served: served, Storage: storage, Deprecated: deprecated, DeprecationWarning: deprecationWarning,
      Schema: schema !== undefined ? { OpenAPIV3Schema: printSchema(schema) } : isBlank ? { OpenAPIV3Schema: null } : null,
      Subresources: subresources === undefined ? null : printSubresources(subresources),
      AdditionalPrinterColumns: columns === undefined ? null : columns.map(printColumn),
      SelectableFields: selectableFields === undefined ? null : selectableFields.map(({ jsonPath }) => ({ JSONPath: jsonPath })),
    };
  });
}
