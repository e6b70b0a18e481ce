// Validation of openAPIV3Schema: which keywords may be used, how list and map types fit what they are on. Structural rules, defaults and
// rules come first, in their own files; upstream checks in this order too.
import {
  type FieldError, type OpenAPIV3Schema, type Schema, checkRuleFields, forbiddenField, invalidValue, notSupportedText, required,
} from '../../apimachinery/index.ts';
import { type Steps, createStride, finishSteps, guardSteps, runStepsInSlices } from '../../base/index.ts';
import { type Unsupported, findUnsupported, validateStructural } from './structural.ts';
import { validateDefaults } from './defaults.ts';
import { printSchema } from './internal-value.ts';
import type { ValidateRules } from './rules.ts';

interface SchemaOptions {
  readonly at: string;
  readonly statusEnabled: boolean;
  readonly validateRules: ValidateRules | undefined;
  /** The schema of metadata, as which defaults have it read. */
  readonly objectMeta?: Schema | undefined;
}

/** How schemas are validated ahead of the validation that asks for the result. */
export interface SchemaLimits {
  readonly validateRules: ValidateRules;
  /** Runs one step; throws when the step takes too long. */
  readonly guard: <T>(step: () => T) => T;
  /** The schema of metadata. */
  readonly objectMeta: Schema | undefined;
}

/** Findings about the nodes of a schema. */
interface Known {
  readonly unsupported: Unsupported;
  /** Nodes with problems of their own or below them. */
  readonly flawed: Set<OpenAPIV3Schema>;
}

/** Where a node of a schema is, and what holds there. */
interface Node {
  readonly at: string;
  readonly isRoot: boolean;
  /** Below the metadata of a resource. */
  readonly insideMeta: boolean;
  /** Why defaults are forbidden; '' when they are not. */
  readonly noDefaults: string;
  readonly known: Known;
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields = new Set(['metadata', 'kind', 'apiVersion']);
const rootFields = new Set([
  'description', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems',
  'uniqueItems', 'multipleOf', 'required', 'items', 'properties', 'externalDocs', 'example', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-validations',
]);
/** Texts that are there even if they are empty. */
const optionalTexts = new Set(['x-kubernetes-list-type', 'x-kubernetes-map-type']);
const shownRootFields = [
  'Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum', 'MaxLength', 'MinLength', 'Pattern', 'MaxItems',
  'MinItems', 'UniqueItems', 'MultipleOf', 'Required', 'Items', 'Properties', 'ExternalDocs', 'Example', 'XPreserveUnknownFields', 'XValidations',
].join(' ');

/** Nodes are cheap: only some of them end a step. */
const isDue = createStride(50);

interface ValidatedSchema {
  readonly at: string;
  readonly statusEnabled: boolean;
  readonly errors: readonly FieldError[];
}

/** Results of schemas that were validated ahead of the validation that asks. */
const validated = new WeakMap<OpenAPIV3Schema, ValidatedSchema>();

/** Validates a schema in turns; validateSchema returns the result. The schema must not change between the two. */
export async function validateSchemaAhead(schema: OpenAPIV3Schema, options: SchemaOptions & Pick<SchemaLimits, 'guard'>, pause: () => Promise<void> | undefined,
): Promise<void> {
  const { at, statusEnabled } = options;
  validated.set(schema, { at, statusEnabled, errors: await runStepsInSlices(guardSteps(findSchemaErrors(schema, options), options.guard), pause) });
}

/** Problems of the schema of a version, validated at once unless it was validated ahead. */
export function validateSchema(schema: OpenAPIV3Schema, options: SchemaOptions): readonly FieldError[] {
  const known = validated.get(schema);
  // Used once: before another validation the schema may change.
  validated.delete(schema);
  if (known !== undefined && known.at === options.at && known.statusEnabled === options.statusEnabled) return known.errors;
  return finishSteps(findSchemaErrors(schema, options));
}

function* findSchemaErrors(schema: OpenAPIV3Schema, { at, statusEnabled, validateRules, objectMeta }: SchemaOptions): Steps<readonly FieldError[]> {
  const errors: FieldError[] = statusEnabled ? validateRootWithStatus(schema, at) : [];
  if (schema.nullable === true) errors.push(forbiddenField(`${at}.nullable`, 'nullable cannot be true at the root'));
  let isSound = false;
  const unsupported: Unsupported = new Map();
  const problem = yield* findUnsupported(schema, unsupported);
  if (problem === undefined) {
    const structural = yield* validateStructural(schema, at);
    const defaults = structural.length > 0 ? [] : yield* validateDefaults(schema, at, objectMeta);
    for (const error of structural) errors.push(error);
    for (const error of defaults) errors.push(error);
    isSound = structural.length === 0 && defaults.length === 0;
  }
  const known: Known = { unsupported, flawed: new Set() };
  yield* validateNode(schema, { at, isRoot: true, insideMeta: false, noDefaults: '', known }, errors);
  if (isSound && validateRules !== undefined) for (const error of yield* validateRules(schema, at, (node) => known.flawed.has(node))) errors.push(error);
  return problem !== undefined && errors.length === 0 ? [invalidValue(at, '', problem)] : errors;
}

function validateRootWithStatus(schema: OpenAPIV3Schema, at: string): FieldError[] {
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || value === false || (value === '' && !optionalTexts.has(key)) || value === null) continue;
    if (key === 'type') {
      if (value !== 'object') return [invalidValue(`${at}.type`, value,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled')];
    } else if (!rootFields.has(key)) {
      return [invalidValue(at, printSchema(schema), `only [${shownRootFields}] fields are allowed at the root of the schema if the status subresource is enabled`)];
    }
  }
  return [];
}

function* validateNode(schema: OpenAPIV3Schema, node: Node, errors: FieldError[]): Steps<void> {
  if (isDue()) yield;
  const { at, known } = node;
  const before = errors.length;
  validateKeywords(schema, node, errors);
  if (schema['uniqueItems'] === true) errors.push(forbiddenField(`${at}.uniqueItems`,
    'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  yield* validateMembers(schema, node, errors);
  const inner = { ...node, isRoot: false };
  for (const [path, child] of listBranches(schema)) {
    if (typeof child === 'object' && child !== null) yield* validateNode(child as OpenAPIV3Schema, { ...inner, at: `${at}.${path}` }, errors);
  }
  validateExtensions(schema, at, errors);
  if (statesOwnRules(schema)) {
    const canBeStructural = (yield* findUnsupported(schema, known.unsupported)) === undefined;
    for (const error of checkRuleFields(schema, at, canBeStructural)) errors.push(error);
  }
  if (errors.length > before) known.flawed.add(schema);
}

const statesOwnRules = (schema: OpenAPIV3Schema): boolean => (schema['x-kubernetes-validations'] as readonly unknown[] | undefined ?? []).length > 0;

/** Schemas in a schema besides its properties, and where they are. */
function* listBranches(schema: OpenAPIV3Schema): Iterable<readonly [string, unknown]> {
  yield ['not', schema['not']];
  for (const key of ['allOf', 'oneOf', 'anyOf']) {
    for (const [i, each] of ((schema[key] ?? []) as unknown[]).entries()) yield [`${key}[${i}]`, each];
  }
  for (const [name, child] of Object.entries((schema['definitions'] ?? {}) as object)) yield [`definitions[${name}]`, child];
  if (Array.isArray(schema.items)) for (const [i, each] of schema.items.entries()) yield [`items[${i}]`, each];
  else yield ['items', schema.items];
}

function* validateMembers(schema: OpenAPIV3Schema, node: Node, errors: FieldError[]): Steps<void> {
  const { at, isRoot, insideMeta } = node;
  const { additionalProperties, properties = {} } = schema;
  if (additionalProperties !== undefined && additionalProperties !== true && Object.keys(properties).length > 0) {
    errors.push(forbiddenField(`${at}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  }
  if (typeof additionalProperties === 'object') {
    const noDefaults = insideMeta ? 'inside additionalProperties applying to object metadata' : node.noDefaults;
    yield* validateNode(additionalProperties, { ...node, at: `${at}.additionalProperties`, isRoot: false, noDefaults }, errors);
  }
  for (const name of Object.keys(properties).sort()) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && metaFields.has(name);
    const child: Node = {
      ...node, at: `${at}.properties[${name}]`, isRoot: false, insideMeta: insideMeta || isMeta,
      noDefaults: isRoot && isMeta ? `in top-level ${name}` : node.noDefaults,
    };
    yield* validateNode(properties[name] as OpenAPIV3Schema, child, errors);
  }
}

const unsupported: readonly (readonly [string, string])[] = [
  ['id', 'id is not supported'], ['additionalItems', 'additionalItems is not supported'], ['patternProperties', 'patternProperties is not supported'],
  ['definitions', 'definitions is not supported'], ['dependencies', 'dependencies is not supported'], ['$ref', '$ref is not supported'],
];

/** Keywords that are there even where they are empty. */
const pointers = new Set(['additionalItems', 'dependencies', '$ref']);

function validateKeywords(schema: OpenAPIV3Schema, { at, insideMeta, noDefaults }: Node, errors: FieldError[]): void {
  if (schema.type && !types.includes(schema.type)) errors.push(notSupportedText(`${at}.type`, schema.type, types));
  if (schema.default !== undefined && schema.default !== null && noDefaults !== '') errors.push(forbiddenField(`${at}.default`,
    `must not be set ${noDefaults}`));
  for (const [keyword, why] of unsupported) {
    const isThere = isSet(schema[keyword]) || (pointers.has(keyword) && (schema[keyword] ?? null) !== null);
    if (isThere) errors.push(forbiddenField(`${at}.${keyword}`, why));
  }
  if (schema.type === 'null') errors.push(forbiddenField(`${at}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (Array.isArray(schema.items)) errors.push(forbiddenField(`${at}.items`, 'items must be a schema object and not an array'));
  if (insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbiddenField(`${at}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && !(typeof value === 'object'
  && Object.keys(value).length === 0);

function validateExtensions(schema: OpenAPIV3Schema, at: string, errors: FieldError[]): void {
  const preserves = schema['x-kubernetes-preserve-unknown-fields'];
  if (preserves === false) errors.push(invalidValue(`${at}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  const mapType = schema['x-kubernetes-map-type'] as string | undefined;
  if (mapType !== undefined) {
    requireType(schema, { wanted: 'object', why: 'must be object if x-kubernetes-map-type is specified', at }, errors);
    if (mapType !== 'atomic' && mapType !== 'granular') errors.push(notSupportedText(`${at}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']));
  }
  validateListType(schema, at, errors);
}

function requireType(schema: OpenAPIV3Schema, { wanted, why, at }: { readonly wanted: string; readonly why: string; readonly at: string },
  errors: FieldError[]): void {
  if (schema.type === wanted) return;
  errors.push(schema.type ? invalidValue(`${at}.type`, schema.type, why) : required(`${at}.type`, why));
}

function validateListType(schema: OpenAPIV3Schema, at: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'] as string | undefined;
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []) as readonly string[];
  const field = `${at}.x-kubernetes-list-type`;
  const items = schema.items !== undefined && !Array.isArray(schema.items) ? schema.items : undefined;
  const wanted = { wanted: 'array', why: 'must be array if x-kubernetes-list-type is specified', at };
  if (listType !== undefined && schema.type !== 'array') requireType(schema, wanted, errors);
  else if (listType === 'set' && items !== undefined) validateSetItems(items, at, errors);
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) errors.push(notSupportedText(field, listType, ['atomic', 'set', 'map'], true));
  if (keys.length > 0 && listType === undefined) errors.push(required(field, 'must be map if x-kubernetes-list-map-keys is non-empty'));
  else if (keys.length > 0 && listType !== 'map') errors.push(invalidValue(field, listType, 'must be map if x-kubernetes-list-map-keys is non-empty'));
  if (listType === 'map') validateMapList({ items, keys, at }, errors);
  if ((listType === 'set' || listType === 'map') && items !== undefined) validateKeyed({ items, keys, at, listType }, errors);
}

function validateSetItems(items: OpenAPIV3Schema, at: string, errors: FieldError[]): void {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const [mapType, listType] = [items['x-kubernetes-map-type'], items['x-kubernetes-list-type']];
  // The reference prints the list type here, which objects do not have.
  if (items.type === 'object' && mapType !== 'atomic') errors.push(invalidValue(`${at}.items.x-kubernetes-map-type`, listType ?? null, why));
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') errors.push(invalidValue(`${at}.items.x-kubernetes-list-type`, listType, why));
}

interface KeyedList {
  readonly items: OpenAPIV3Schema | undefined;
  readonly keys: readonly string[];
  readonly at: string;
}

function validateMapList({ items, keys, at }: KeyedList, errors: FieldError[]): void {
  const field = `${at}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(field, 'must not be empty if x-kubernetes-list-type is map'));
  if (items === undefined) return void errors.push(required(`${at}.items`, 'must have a schema if x-kubernetes-list-type is map'));
  if (items.type !== 'object') return void errors.push(invalidValue(`${at}.items.type`, items.type ?? '',
    "must be object if parent array's x-kubernetes-list-type is map"));
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined;
    if (property === undefined) errors.push(invalidValue(field, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      errors.push(invalidValue(`${at}.items.properties[${key}].type`, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (seen.has(key)) errors.push(invalidValue(field, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
}

function validateKeyed({ items, keys, at, listType }: KeyedList & { readonly listType: string }, errors: FieldError[]): void {
  if (items?.nullable === true) errors.push(forbiddenField(`${at}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  if (listType !== 'map' || items === undefined) return;
  for (const key of keys) {
    const property = items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined;
    if (property === undefined) continue;
    const path = `${at}.items.properties[${key}]`;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (items.required?.includes(key) !== true && property.default === undefined) errors.push(required(`${path}.default`,
      `${why} must have a default or be a required property`));
    if (property.nullable === true) errors.push(forbiddenField(`${path}.nullable`, `${why} cannot be nullable`));
  }
}
