// Bodies and stored objects of custom resources: no Go type stands behind them, so nothing is refused for its type here, except metadata.
// Metadata is read as ObjectMeta, what the schema does not know is pruned, embedded resources are coerced: in this order of reports.
import { isJsonObject } from '../../../base/index.ts';
import { checkDns1035Label } from '../../names.ts';
import { parseGroupVersion } from '../../object.ts';
import { validateObjectMeta } from '../../object-meta.ts';
import { invalidValue, required } from '../../field-error.ts';
import type { ObjectMeta } from '../../object.ts';
import type { FieldError } from '../../status.ts';
import { statesEmbedded } from '../statements.ts';
import { coerceEmbedded, fits, hasEmbedded } from './coerce.ts';
import { type Decoded, decodeObject, setOwn } from './decode.ts';
import { applyDefaults } from './defaults.ts';
import { DecodeError } from './error.ts';
import { pruneUnknown, sortDeep } from './prune.ts';
import { canonicalizeTime } from './time.ts';
import type { OpenAPIV3Schema } from '../structural.ts';
import type { Schema } from '../schema.ts';

type Json = Record<string, unknown>;

const objectMetaOf = (schema: Schema): Schema | undefined => schema.fields?.get('metadata')?.schema;

/**
 * Reads a body; throws DecodeError when metadata, its own or of an embedded resource, has a wrong type. Defaults are not applied. What the body
 * shares with `before`, the object that it was made from, is as it should be. `keepsNulls`: see coerceEmbedded.
 */
export function decodeCustomObject(
  schema: Schema, json: Json, { before, keepsNulls = false }: { readonly before?: Readonly<Json> | undefined; readonly keepsNulls?: boolean } = {},
): Decoded {
  const strictErrors: string[] = [];
  const objectMeta = objectMetaOf(schema);
  let { metadata } = json as { metadata?: unknown };
  if (objectMeta !== undefined && metadata !== undefined && metadata !== null) {
    const decoded = decodeObject(objectMeta, metadata, { at: 'metadata', before: before?.['metadata'] });
    metadata = decoded.object;
    strictErrors.push(...decoded.strictErrors);
  }
  const pruned = pruneUnknown(schema, json, before);
  strictErrors.push(...pruned.unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`));
  let { object } = pruned;
  if (objectMeta !== undefined && hasEmbedded(schema)) {
    const coerced = coerceEmbedded(schema, object, objectMeta, { keepsNulls });
    object = coerced.object;
    strictErrors.push(...coerced.strictErrors);
  }
  if (metadata === undefined || metadata === null) delete object['metadata'];
  else setOwn(object, 'metadata', metadata);
  return { object, strictErrors };
}

/** The types of metadata's fields as JSON has them; fields that are not named here are nothing that is read before they are decoded. */
const shapes: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp']
    .map((name) => [name, (value: unknown) => typeof value === 'string' || value === null])),
  ...Object.fromEntries(['generation', 'deletionGracePeriodSeconds'].map((name) => [name, (value: unknown) => typeof value === 'number' || value === null])),
  ...Object.fromEntries(['labels', 'annotations'].map((name) => [name, (value: unknown) => value === null || hasTexts(value)])),
  ...Object.fromEntries(['ownerReferences', 'finalizers', 'managedFields'].map((name) => [name, (value: unknown) => value === null || isList(value)])),
};

function hasTexts(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  for (const key in value) if (typeof (value as Json)[key] !== 'string') return false;
  return true;
}

/** Whether a value is a list in which nothing stands for a value that is not set. */
const isList = (value: unknown): boolean => Array.isArray(value)
  && value.every((item: unknown) => (isJsonObject(item) ? Object.values(item).every((member) => member !== null) : item !== null));

/**
 * An object that an apply or another program has put into the store: fields of metadata with a wrong type are dropped, nulls are read as values that are
 * not set, and it has a generation.
 */
function repairMetadata(object: Json, objectMeta: Schema | undefined): void {
  const { metadata } = object;
  if (!isJsonObject(metadata)) return;
  const known = metadata as Json;
  for (const name in known) {
    if (shapes[name]?.(known[name]) !== false) continue;
    if (objectMeta !== undefined && fits(objectMeta, { [name]: known[name] })) known[name] = decodeObject(objectMeta, { [name]: known[name] }).object[name];
    else delete known[name];
  }
  // The zero time of an apply is stored as it came, and is none.
  if (typeof known['deletionTimestamp'] === 'string' && /^000[01]-/.test(known['deletionTimestamp']) && isNoTime(known['deletionTimestamp'])) {
    delete known['deletionTimestamp'];
  }
  known['generation'] ||= 1;
}

/** Whether a text is Go's zero time, in any zone. */
function isNoTime(text: string): boolean {
  try {
    return canonicalizeTime(text) === undefined;
  } catch {
    return false;
  }
}

/** An object as a schema wants it to be read: pruned, its embedded resources without malformed metadata, defaulted, nulls that may not be there gone. */
export function normalizeCustomObject(schema: Schema, object: Json): Json {
  const pruned = pruneUnknown(schema, object).object;
  const objectMeta = objectMetaOf(schema);
  repairMetadata(pruned, objectMeta);
  if (objectMeta === undefined || !hasEmbedded(schema)) return applyDefaults(schema, pruned);
  return applyDefaults(schema, coerceEmbedded(schema, pruned, objectMeta, { dropsMalformed: true }).object);
}

/** Problems of kind, apiVersion and metadata of embedded resources below an object (`root`: and of the object itself, when it is one). */
export function validateEmbedded(schema: OpenAPIV3Schema, value: unknown, place: { readonly at?: string; readonly root?: boolean } = {}): FieldError[] {
  const errors: FieldError[] = [];
  walkEmbedded(schema, value, { at: place.at ?? '', errors, skip: place.root !== true });
  return errors;
}

/**
 * The first member of an embedded resource (the value itself where its schema says so, and all below) that cannot be read for its type: kind and
 * apiVersion are texts, metadata is an ObjectMeta. What ObjectMeta does not know is taken out of metadata that was read, in place, as the reference does.
 */
export function findMalformed(schema: OpenAPIV3Schema | undefined, value: unknown, place: { readonly at: string; readonly objectMeta: Schema },
): FieldError | undefined {
  if (schema === undefined || typeof value !== 'object' || value === null) return undefined;
  const { at, objectMeta } = place;
  if (Array.isArray(value)) return findFirst(value.entries(), ([i, item]) => findMalformed(schema.items, item, { at: `${at}[${i}]`, objectMeta }));
  const { properties, additionalProperties } = schema;
  return findFirst(Object.keys(value).sort(), (key) => {
    const item = (value as Json)[key];
    const isMember = schema['x-kubernetes-embedded-resource'] === true;
    const error = isMember ? readEmbedded(value as Json, key, { at: childPath(at, key), objectMeta }) : undefined;
    if (error !== undefined) return error;
    if (properties !== undefined && Object.hasOwn(properties, key)) return findMalformed(properties[key], item, { at: childPath(at, key), objectMeta });
    if (typeof additionalProperties !== 'object') return undefined;
    return findMalformed(additionalProperties, item, { at: `${at}[${key}]`, objectMeta });
  });
}

function findFirst<T>(items: Iterable<T>, find: (item: T) => FieldError | undefined): FieldError | undefined {
  for (const item of items) {
    const error = find(item);
    if (error !== undefined) return error;
  }
  return undefined;
}

function readEmbedded(resource: Json, key: string, { at, objectMeta }: { readonly at: string; readonly objectMeta: Schema }): FieldError | undefined {
  const value = resource[key];
  if (key === 'apiVersion' || key === 'kind') return typeof value === 'string' ? undefined : invalidValue(at, value, 'must be a string');
  if (key !== 'metadata') return undefined;
  try {
    const { object, strictErrors } = decodeObject(objectMeta, value);
    if (strictErrors.length > 0) resource[key] = object;
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return invalidValue(at, sortDeep(value), error.message);
    throw error;
  }
}

interface Walk {
  readonly at: string;
  readonly errors: FieldError[];
  readonly skip?: boolean;
}

function walkEmbedded(schema: OpenAPIV3Schema | undefined, value: unknown, { at, errors, skip }: Walk): void {
  if (schema === undefined || typeof value !== 'object' || value === null || !statesEmbedded(schema)) return;
  if (Array.isArray(value)) return value.forEach((item, i) => walkEmbedded(schema.items, item, { at: `${at}[${i}]`, errors }));
  const isResource = schema['x-kubernetes-embedded-resource'] === true && skip !== true;
  if (isResource) checkEmbedded(value as Json, at, errors);
  const { properties, additionalProperties } = schema;
  for (const key of Object.keys(value).sort()) {
    const isProperty = properties !== undefined && Object.hasOwn(properties, key);
    const child = isProperty ? properties[key] : typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const path = isProperty ? childPath(at, key) : `${at}[${key}]`;
    walkEmbedded(child, (value as Json)[key], { at: path, errors });
  }
}

const childPath = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);

function checkEmbedded(value: Json, at: string, errors: FieldError[]): void {
  for (const name of ['apiVersion', 'kind']) if (!Object.hasOwn(value, name)) errors.push(required(childPath(at, name)));
  if (Object.hasOwn(value, 'apiVersion')) checkApiVersion(value['apiVersion'], childPath(at, 'apiVersion'), errors);
  if (Object.hasOwn(value, 'kind')) checkKind(value['kind'], childPath(at, 'kind'), errors);
  const { metadata } = value;
  if (typeof metadata !== 'object' || metadata === null) return;
  const meta = metadata as ObjectMeta;
  const rules = { namespaced: !!meta.namespace, nameRule: 'path-segment', custom: true, path: childPath(at, 'metadata') } as const;
  errors.push(...validateObjectMeta({ ...meta, name: meta.name || 'fakename' }, rules));
}

function checkApiVersion(value: unknown, field: string, errors: FieldError[]): void {
  if (typeof value !== 'string') errors.push(invalidValue(field, value, 'must be a string'));
  else if (value === '') errors.push(invalidValue(field, value, 'must not be empty'));
  else if (parseGroupVersion(value) === undefined) errors.push(invalidValue(field, value, `unexpected GroupVersion string: ${value}`));
}

function checkKind(value: unknown, field: string, errors: FieldError[]): void {
  if (typeof value !== 'string') return void errors.push(invalidValue(field, value, 'must be a string'));
  if (value === '') return void errors.push(invalidValue(field, value, 'must not be empty'));
  const problems = checkDns1035Label(value.toLowerCase());
  if (problems.length > 0) errors.push(invalidValue(field, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`));
}
