// What makes a schema structural: a type at every node, logical branches that only restrict what is specified outside of them, metadata
// left alone. Mirrors ValidateStructural of apiextensions-apiserver; children are validated before their parents.
// Schemas can be large: they are walked in steps.
import { type FieldError, type OpenAPIV3Schema, checkPattern, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import { type Steps, createStride, isJsonObject } from '../../base/index.ts';

type Level = 'root' | 'item' | 'field';

const branches = ['anyOf', 'allOf', 'oneOf'] as const;
const unsupportedKeywords = [
  ['id', 'id'], ['$schema', 'schema'], ['$ref', '$ref'], ['patternProperties', 'patternProperties'], ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'], ['definitions', 'definitions'],
] as const;

const listOf = (value: unknown): readonly OpenAPIV3Schema[] => (Array.isArray(value) ? (value as OpenAPIV3Schema[]) : []);
const schemaOf = (value: unknown): OpenAPIV3Schema | undefined => (isJsonObject(value) ? value : undefined);
const propertiesOf = (schema: OpenAPIV3Schema): readonly (readonly [string, OpenAPIV3Schema])[] =>
  Object.keys(schema.properties ?? {}).sort().map((name) => [name, (schema.properties as Record<string, OpenAPIV3Schema>)[name] as OpenAPIV3Schema]);

/** Nodes are cheap: only some of them end a step. */
const isDue = createStride(50);

/** Findings about schemas, so that no part is looked at twice. */
export type Unsupported = Map<OpenAPIV3Schema, string | undefined>;

/** Why a schema cannot be made structural at all; its keywords are reported elsewhere as well, most of them. */
export function* findUnsupported(schema: OpenAPIV3Schema, known: Unsupported): Steps<string | undefined> {
  if (known.has(schema)) return known.get(schema);
  if (isDue()) yield;
  let problem = findOwnUnsupported(schema);
  const inner = [
    schemaOf(schema['not']), ...listOf(schema['allOf']), ...listOf(schema['anyOf']), ...listOf(schema['oneOf']), schemaOf(schema.items),
    ...propertiesOf(schema).map(([, child]) => child), schemaOf(schema.additionalProperties),
  ];
  for (const one of inner) if (one !== undefined) problem ??= yield* findUnsupported(one, known);
  known.set(schema, problem);
  return problem;
}

function findOwnUnsupported(schema: OpenAPIV3Schema): string | undefined {
  for (const [keyword, shown] of unsupportedKeywords) {
    const value = schema[keyword];
    const isThere = keyword === 'additionalItems' ? value !== undefined && value !== null
      : typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
    if (isThere) return `OpenAPIV3Schema '${shown}' is not supported`;
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  return Array.isArray(schema.items) && schema.items.length > 0 ? "OpenAPIV3Schema 'items' must be a schema, but is an array" : undefined;
}

/** Everything that keeps a schema from being structural. */
export function* validateStructural(schema: OpenAPIV3Schema, at: string): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* validateInvariants(schema, { at, level: 'root' }, errors);
  yield* validateCompleteness(schema, schema, { schemaAt: at, at, errors });
  return sortErrors(errors);
}

/** More errors than these stay in the order of the walk: sorting them would hold the event loop. */
const MOST_SORTED = 5000;

/** The reference sorts the errors of structure, and only those, by their whole text. */
function sortErrors(errors: FieldError[]): FieldError[] {
  if (errors.length > MOST_SORTED) return errors;
  const byText = errors.map((error) => [`${error.field}: ${error.message}`, error] as const);
  return byText.sort(([one], [two]) => (one < two ? -1 : one > two ? 1 : 0)).map(([, error]) => error);
}

interface SchemaNode {
  readonly at: string;
  readonly level: Level;
}

function* validateInvariants(schema: OpenAPIV3Schema, { at, level }: SchemaNode, errors: FieldError[]): Steps<void> {
  if (isDue()) yield;
  if (schema.items !== undefined) yield* validateInvariants(schema.items, { at: `${at}.items`, level: 'item' }, errors);
  for (const [name, child] of propertiesOf(schema)) yield* validateInvariants(child, { at: `${at}.properties[${name}]`, level: 'field' }, errors);
  const additional = schemaOf(schema.additionalProperties);
  if (level === 'root' && schema.additionalProperties !== undefined) errors.push(forbiddenField(`${at}.additionalProperties`, 'must not be used at the root'));
  if (additional !== undefined) yield* validateInvariants(additional, { at: `${at}.additionalProperties`, level: 'field' }, errors);
  if (schema.type === 'array' && schema.items === undefined) errors.push(required(`${at}.items`, 'must be specified'));
  validateIntOrString(schema, at, errors);
  yield* validateValues(schema, { at, allowTypesAt: intOrStringBranches(schema) }, errors);
  validateType(schema, { at, level }, errors);
  validateResource(schema, { at, level }, errors);
}

function validateIntOrString(schema: OpenAPIV3Schema, at: string, errors: FieldError[]): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return;
  for (const key of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']) {
    if (schema[key] === true) errors.push(invalidValue(`${at}.${key}`, true, 'must be false if x-kubernetes-int-or-string is true'));
  }
}

/** The branches which state the two types of an int-or-string, as they may wherever they stand. */
function intOrStringBranches(schema: OpenAPIV3Schema): 'anyOf' | 'allOf' | undefined {
  if (isTypePair(listOf(schema['anyOf']))) return 'anyOf';
  return isTypePair(listOf(listOf(schema['allOf'])[0]?.['anyOf'])) ? 'allOf' : undefined;
}

/** The two types and nothing else, as the reference has them. */
const isTypePair = (schemas: readonly OpenAPIV3Schema[]): boolean => schemas.length === 2 && schemas[0]?.type === 'integer' && schemas[1]?.type === 'string'
  && schemas.every((schema) => Object.entries(schema).every(([keyword, value]) => keyword === 'type' || isZero(value)));

function validateType(schema: OpenAPIV3Schema, { at, level }: SchemaNode, errors: FieldError[]): void {
  const { type } = schema;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type ? invalidValue(`${at}.type`, type, why) : required(`${at}.type`, why));
  } else if (!type && schema['x-kubernetes-int-or-string'] !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    const texts = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' };
    errors.push(required(`${at}.type`, `must not be empty ${texts[level]}`));
  }
  if (level === 'root' && type && type !== 'object') errors.push(invalidValue(`${at}.type`, type, 'must be object at the root'));
}

function validateResource(schema: OpenAPIV3Schema, { at, level }: SchemaNode, errors: FieldError[]): void {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (isEmbedded && schema.additionalProperties !== undefined) {
    errors.push(forbiddenField(`${at}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'));
  }
  if (level === 'root' || isEmbedded) {
    for (const [name, child] of propertiesOf(schema)) {
      const path = `${at}.properties[${name}]`;
      if ((name === 'kind' || name === 'apiVersion') && child.type !== 'string') errors.push(invalidValue(`${path}.type`, child.type ?? '', 'must be string'));
      if (name !== 'metadata') continue;
      if (child.type !== 'object') errors.push(invalidValue(`${path}.type`, child.type ?? '', 'must be object'));
      if (level === 'root') validateMetadata(child, path, errors);
    }
  }
  if (isEmbedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && propertiesOf(schema).length === 0) {
    errors.push(required(`${at}.properties`, 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'));
  }
}

const metadataKeywords = new Set(['type', 'default', 'properties', 'description', 'title']);

/** Metadata of objects restricts names and nothing else; metadata of embedded objects may have a schema. */
function validateMetadata(schema: OpenAPIV3Schema, at: string, errors: FieldError[]): void {
  const others = Object.keys(schema.properties ?? {}).some((name) => name !== 'name' && name !== 'generateName');
  if (others || Object.keys(schema).some((keyword) => !metadataKeywords.has(keyword))) {
    errors.push(forbiddenField(at, 'must not specify anything other than name and generateName, but metadata is implicitly specified'));
  }
}

interface Values {
  readonly at: string;
  readonly allowTypesAt?: 'anyOf' | 'allOf' | undefined;
}

function* validateValues(schema: OpenAPIV3Schema, { at, allowTypesAt }: Values, errors: FieldError[]): Steps<void> {
  for (const key of branches) {
    if (key === 'anyOf' && allowTypesAt === 'anyOf') continue;
    for (const [i, branch] of listOf(schema[key]).entries()) {
      const allowed = key === 'allOf' && i === 0 && allowTypesAt === 'allOf' && { allowTypesAt: 'anyOf' as const };
      yield* validateBranch(branch, { at: `${at}.${key}[${i}]`, ...allowed }, errors);
    }
  }
  const not = schemaOf(schema['not']);
  if (not !== undefined) yield* validateBranch(not, { at: `${at}.not` }, errors);
  const pattern = schema['pattern'] as string | undefined;
  if (!pattern) return;
  const problem = checkPattern(pattern);
  if (problem !== undefined) errors.push(invalidValue(`${at}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`));
  yield;
}

const branchKeywords: readonly (readonly [string, string])[] = [
  ['type', 'empty'], ['additionalProperties', 'undefined'], ['default', 'undefined'], ['title', 'empty'], ['description', 'empty'], ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'], ['x-kubernetes-embedded-resource', 'false'], ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'], ['x-kubernetes-list-type', 'undefined'], ['x-kubernetes-map-type', 'undefined'],
];

const isZero = (value: unknown): boolean => value === undefined || value === null || value === '' || value === false || (Array.isArray(value)
  && value.length === 0);

function* validateBranch(schema: OpenAPIV3Schema, { at, allowTypesAt }: Values, errors: FieldError[]): Steps<void> {
  if (isDue()) yield;
  yield* validateValues(schema, { at, allowTypesAt }, errors);
  if (schema.items !== undefined) yield* validateBranch(schema.items, { at: `${at}.items` }, errors);
  for (const [name, child] of propertiesOf(schema)) yield* validateBranch(child, { at: `${at}.properties[${name}]` }, errors);
  for (const [keyword, wanted] of branchKeywords) {
    // An empty value is not undefined.
    const isSet = wanted === 'undefined' ? (schema[keyword] ?? undefined) !== undefined : !isZero(schema[keyword]);
    if (isSet) errors.push(forbiddenField(`${at}.${keyword}`, `must be ${wanted} to be structural`));
  }
  if (!isZero(schema['x-kubernetes-validations'])) errors.push(forbiddenField(`${at}.x-kubernetes-validations`, 'must be empty to be structural'));
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, 'metadata')) {
    errors.push(forbiddenField(`${at}.properties[metadata]`, 'must not be specified in a nested context'));
  }
}

interface Completeness {
  readonly schemaAt: string;
  readonly at: string;
  readonly errors: FieldError[];
}

/** What branches of the root speak of has to be specified outside of them. */
function* validateCompleteness(values: OpenAPIV3Schema, schema: OpenAPIV3Schema | undefined, { schemaAt, at, errors }: Completeness): Steps<void> {
  if (schema === undefined) return void errors.push(required(schemaAt, `because it is defined in ${at}`));
  for (const key of branches) {
    for (const [i, branch] of listOf(values[key]).entries()) yield* validateBranchCompleteness(branch, schema, { schemaAt, at: `${at}.${key}[${i}]`, errors });
  }
  const not = schemaOf(values['not']);
  if (not !== undefined) yield* validateBranchCompleteness(not, schema, { schemaAt, at: `${at}.not`, errors });
}

function* validateBranchCompleteness(
  branch: OpenAPIV3Schema, schema: OpenAPIV3Schema | undefined, { schemaAt, at, errors }: Completeness,
): Steps<void> {
  if (isDue()) yield;
  if (schema === undefined) return void errors.push(required(schemaAt, `because it is defined in ${at}`));
  yield* validateCompleteness(branch, schema, { schemaAt, at, errors });
  const { items } = branch;
  if (items !== undefined) yield* validateBranchCompleteness(items, schema.items, { schemaAt: `${schemaAt}.items`, at: `${at}.items`, errors });
  for (const [name, child] of propertiesOf(branch)) {
    const found = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    yield* validateBranchCompleteness(child, found, { schemaAt: `${schemaAt}.properties[${name}]`, at: `${at}.properties[${name}]`, errors });
  }
}
