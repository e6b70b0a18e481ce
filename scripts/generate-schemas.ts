// Writes the schema data of src/resources/schema from reference data: the OpenAPI v3 definitions that a server publishes (schemas.json)
// and the protobuf messages (protobuf-fields.json), whose field order is that of the Go structs and so of the JSON written.
// Run: node DIST/scripts/generate-schemas.js REFERENCE_DIR [--verify]. With --verify it writes nothing and checks that the data in the
// source tree gives the published definitions back, value for value.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FLAGS, GO_TYPES, KEPT, UNPUBLISHED, VERSION_FIELDS } from './schema-facts.data.ts';
import { verifySchemas } from './verify-schemas.ts';

interface OpenAPI {
  type?: string;
  format?: string;
  $ref?: string;
  allOf?: { $ref: string }[];
  items?: OpenAPI;
  additionalProperties?: OpenAPI;
  properties?: Record<string, OpenAPI>;
  required?: string[];
  default?: unknown;
  oneOf?: unknown;
  [extension: `x-kubernetes-${string}`]: unknown;
}
interface Message {
  label?: string;
  name: string;
  number: number;
  type: string;
}
/** A JSON field with its place in protobuf: `inlined` are the messages around it, with their numbers: `2:VolumeSource`. */
interface Placed {
  name: string;
  number: number;
  type: string;
  inlined: readonly string[];
}

const BASIC_TYPES: Record<string, string> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'Quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'IntOrString',
  'io.k8s.apimachinery.pkg.runtime.RawExtension': 'RawExtension',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'Time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime': 'MicroTime',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'FieldsV1',
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': 'JSON',
};
const FORMATS: Record<string, string> = {
  Quantity: 'quantity', IntOrString: 'int-or-string', RawExtension: 'raw', Time: 'time', MicroTime: 'micro-time', FieldsV1: 'fields-v1', JSON: 'json',
  JSONSchemaPropsOrArray: 'schema-or-array', JSONSchemaPropsOrBool: 'schema-or-bool', JSONSchemaPropsOrStringArray: 'schema-or-strings',
};
const PROTOBUF_TO_JSON: Record<string, string> = { schema: '$schema', ref: '$ref' };

const [referenceDir = '', option] = process.argv.slice(2);
const schemas = readJson<Record<string, OpenAPI>>('schemas.json');
const messages = readJson<Record<string, Message[]>>('protobuf-fields.json');
if (option === '--verify') verifySchemas(schemas);
else writeAll();

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(referenceDir, name), 'utf8')) as T;
}

function writeAll(): void {
  const groups = new Map<string, string[]>();
  for (const [packageName, lines] of [...describeAll(), ...splitPackages(UNPUBLISHED)]) {
    const group = packageName.startsWith('io.k8s.apimachinery.') ? 'meta' : packageName.split('.').at(-2)!;
    groups.set(group, [...(groups.get(group) ?? []), `package ${packageName}`, ...lines]);
  }
  const names = [...groups.keys()].sort();
  for (const name of names) writeGroup(name, groups.get(name)!);
  writeIndex(names);
}

function splitPackages(text: string): [string, string[]][] {
  return text.split('\npackage ').slice(1).map((part) => {
    const [name, ...lines] = part.trim().split('\n');
    return [name!, lines];
  });
}

function describeAll(): Map<string, string[]> {
  const packages = new Map<string, string[]>();
  for (const name of Object.keys(schemas).sort()) {
    const packageName = name.slice(0, name.lastIndexOf('.'));
    const lines = packages.get(packageName) ?? [];
    packages.set(packageName, [...lines, describeDefinition(name)]);
  }
  return packages;
}

function describeDefinition(name: string): string {
  const schema = schemas[name]!;
  const baseName = name.slice(name.lastIndexOf('.') + 1);
  const words = [baseName];
  const kinds = schema['x-kubernetes-group-version-kind'] as { group: string; version: string; kind: string }[] | undefined;
  if (FORMATS[baseName]) words.push(`format=${FORMATS[baseName]}`);
  if (isTyped(name)) words.push('typed');
  if (kinds) words.push(`kinds=${kinds.map((k) => `${k.group}/${k.version}/${k.kind}`).join(',')}`);
  if (schema['x-kubernetes-map-type']) words.push(`map=${schema['x-kubernetes-map-type']}`);
  if (schema['x-kubernetes-unions']) words.push(`unions=${JSON.stringify(schema['x-kubernetes-unions'])}`);
  const head = words.join(' ');
  if (FORMATS[baseName]) return head;
  const fields = placeFields(name).map((field) => describeField(name, field));
  return `${head}: ${fields.join('; ')}`.trimEnd();
}

/** Has TypeMeta embedded: kind and apiVersion, which protobuf leaves to the envelope. */
function isTyped(name: string): boolean {
  const properties = schemas[name]?.properties ?? {};
  return 'kind' in properties && 'apiVersion' in properties && !messages[toMessageName(name)]?.some((field) => field.name === 'kind');
}

/** The JSON fields of a definition in Go's order, with embedded messages unfolded in place. */
function placeFields(name: string): Placed[] {
  const properties = schemas[name]?.properties ?? {};
  const names = new Map(Object.keys(properties).map((key) => [fold(key), key]));
  const placed = unfold(toMessageName(name), names, []);
  if (name.endsWith('.version.Info')) return VERSION_FIELDS.map((field) => ({ name: field, number: 0, type: '', inlined: [] }));
  const found = new Set(placed.map((field) => field.name));
  const lost = Object.keys(properties).filter((key) => !found.has(key) && !(isTyped(name) && (key === 'kind' || key === 'apiVersion')));
  if (lost.length > 0) throw new Error(`${name}: no protobuf field for ${lost.join(', ')}`);
  return placed;
}

function unfold(message: string, names: ReadonlyMap<string, string>, inlined: readonly string[]): Placed[] {
  return (messages[message] ?? []).flatMap((field): Placed[] => {
    const name = names.get(fold(field.name)) ?? names.get(PROTOBUF_TO_JSON[field.name] ?? '');
    if (name !== undefined) return [{ name, number: field.number, type: field.type, inlined }];
    return unfold(resolveMessage(message, field.type), names, [...inlined, `${field.number}:${field.type.slice(field.type.lastIndexOf('.') + 1)}`]);
  });
}

function fold(name: string): string {
  return name.replaceAll('-', '').toLowerCase();
}

function toMessageName(name: string): string {
  return name.replace('io.k8s.', 'k8s.io.').replace('apiextensions-apiserver', 'apiextensions_apiserver').replace('kube-aggregator', 'kube_aggregator');
}

function resolveMessage(from: string, type: string): string {
  return type.startsWith('k8s.') ? type : `${from.slice(0, from.lastIndexOf('.'))}.${type}`;
}

function describeField(name: string, field: Placed): string {
  const schema = schemas[name]!.properties![field.name]!;
  const required = schemas[name]!.required?.includes(field.name) ? '!' : '';
  const flags = deriveFlags(name, field.name);
  const words = [field.name, String(field.number), describeType(name, field, schema)];
  if (required + flags !== '') words.push(required + flags);
  const published = 'default' in schema ? JSON.stringify(schema.default) : '-';
  if (published !== deriveDefault(schema, flags)) words.push(`=${published}`);
  if (schema.$ref) words.push('bare');
  if (lookUp(KEPT, name, field.name, '') !== undefined) words.push('kept');
  words.push(...describeExtensions(schema), ...describeEnum(schema));
  if (field.inlined.length > 0) words.push(`in=${field.inlined.join('.')}`);
  const goType = lookUp(GO_TYPES, name, field.name, '=');
  if (goType) words.push(`go=${goType}`);
  return words.join(' ');
}

function describeType(name: string, field: Placed, schema: OpenAPI): string {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref) return shortenRef(name, ref.slice(ref.lastIndexOf('/') + 1));
  const wrapped = field.type === 'Verbs' || field.type === 'ExtraValue' || field.type === 'map<string, ExtraValue>';
  if (schema.items) return `${wrapped ? '()' : '[]'}${describeType(name, { ...field, type: '' }, schema.items)}`;
  if (schema.additionalProperties) {
    return `{}${describeType(name, { ...field, type: wrapped ? 'Verbs' : '' }, schema.additionalProperties)}`;
  }
  if (schema.format === 'byte') return 'bytes';
  if (schema.type === 'boolean') return 'bool';
  return schema.format ?? schema.type!;
}

function shortenRef(from: string, ref: string): string {
  if (BASIC_TYPES[ref]) return BASIC_TYPES[ref];
  const packageName = ref.slice(0, ref.lastIndexOf('.'));
  return from.slice(0, from.lastIndexOf('.')) === packageName ? ref.slice(packageName.length + 1) : ref.split('.').slice(-3).join('.');
}

/** `*` pointer, `?` left out when empty. A struct without a published default is a pointer, a scalar without one is left out when empty. */
function deriveFlags(name: string, field: string): string {
  const listed = lookUp(FLAGS, name, field, '');
  if (listed !== undefined) return listed;
  const schema = schemas[name]!.properties![field]!;
  if (schema.$ref || schema.allOf) return 'default' in schema ? '' : '*?';
  if (schema.items || schema.additionalProperties || schema.format === 'byte') return schemas[name]!.required?.includes(field) ? '' : '?';
  return schema.default === '' || schema.default === 0 || schema.default === false ? '' : '?';
}

/** The default that OpenAPI publishes for a Go field of this type and flags, `-` for none. */
function deriveDefault(schema: OpenAPI, flags: string): string {
  if (flags !== '' || schema.items || schema.additionalProperties || schema.format === 'byte') return '-';
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (ref) return BASIC_TYPES[ref.slice(ref.lastIndexOf('/') + 1)] ? '-' : '{}';
  return schema.type === 'string' ? '""' : schema.type === 'boolean' ? 'false' : '0';
}

/** The values that are listed for the field or its elements. */
function describeEnum(schema: OpenAPI): string[] {
  const values = (((schema['items'] ?? schema['additionalProperties'] ?? schema) as Record<string, unknown>)['enum'] ?? []) as string[];
  return values.length === 0 ? [] : [`enum=${values.map((value) => value.replaceAll(' ', '_')).join('|')}`];
}

function describeExtensions(schema: OpenAPI): string[] {
  const words: string[] = [];
  if (schema['x-kubernetes-list-type']) words.push(`list=${schema['x-kubernetes-list-type']}`);
  if (schema['x-kubernetes-list-map-keys']) words.push(`keys=${(schema['x-kubernetes-list-map-keys'] as string[]).join(',')}`);
  if (schema['x-kubernetes-map-type']) words.push(`map=${schema['x-kubernetes-map-type']}`);
  if (schema['x-kubernetes-patch-strategy']) words.push(`patch=${schema['x-kubernetes-patch-strategy']}`);
  if (schema['x-kubernetes-patch-merge-key']) words.push(`merge=${schema['x-kubernetes-patch-merge-key']}`);
  return words;
}

function lookUp(table: Readonly<Record<string, string>>, name: string, field: string, separator: string): string | undefined {
  const entries = table[name.split('.').slice(-3).join('.')]?.split(' ') ?? [];
  const entry = entries.find((text) => text.replace(/[=*?].*$/, '') === field);
  return entry?.slice(field.length + separator.length);
}

function writeGroup(group: string, lines: readonly string[]): void {
  const text = `// Schemas of ${group}, generated by scripts/generate-schemas.ts; src/apimachinery/schema/notation.ts explains the notation.

export const ${toConstant(group)} = \`
${lines.join('\n')}
\`;
`;
  writeFileSync(join('src/resources/schema', `${group}.data.ts`), text);
}

function writeIndex(groups: readonly string[]): void {
  const text = `// The schemas of all built-in kinds, one text per group. Generated by scripts/generate-schemas.ts.
${groups.map((group) => `import { ${toConstant(group)} } from './${group}.data.ts';`).join('\n')}

/** Definitions in the notation that loadSchemas of apimachinery reads. */
export const schemaData: readonly string[] = [
${groups.map((group) => `  ${toConstant(group)},`).join('\n')}
];
`;
  writeFileSync('src/resources/schema/index.ts', text);
}

function toConstant(group: string): string {
  return `${group}Schemas`;
}
