// What the JSON patch of a mutating webhook makes of an object: applied to its JSON, read back by its schema, pruned and defaulted. A patch that
// cannot be read is a failed call; one that does not apply, or leads to no object of the kind, fails the request whatever the failure policy says.
import { isJsonObject } from '../../base/index.ts';
import {
  DecodeError, type JsonObject, type JsonPatch, JsonPatchError, type JsonValue, type KubeObject, type Schema, type SchemaSet, decodeCustomObject,
  decodeJsonPatch, decodeObject, formatGroupVersion, internalError,
} from '../../apimachinery/index.ts';
import { JsonError, parseJson, stringifyJson } from '../../codec/index.ts';
import { defaultObject, versionIn } from '../../registry/index.ts';
import type { ResourceForm } from '../match/resource-forms.ts';

/** A patch of a webhook that was read; throws the reason, in the words of the reference, when it is none. */
export function readPatch(base64: string): JsonPatch {
  try {
    return decodeJsonPatch(parseJson(Buffer.from(base64, 'base64')).value);
  } catch (error) {
    if (error instanceof JsonPatchError || error instanceof JsonError) throw new Error(`received undecodable patch in webhook response: ${error.message}`);
    throw error;
  }
}

const isCustom = ({ resource, kind }: ResourceForm): boolean => resource.custom && kind.kind === resource.kind;

/** Go writes maps with sorted keys. */
function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sortKeys(value[key] as JsonValue)]));
}

/** The schema of a form. */
export function schemaOf({ resource, version, kind }: ResourceForm, schemas: SchemaSet): Schema {
  const own = kind.kind === resource.kind && kind.group === resource.group ? versionIn(resource, version)?.schema : undefined;
  return own ?? schemas.forKind(kind) ?? { type: 'any' };
}

/** Custom objects keep the type that the patch says, which is looked at when they are converted back. */
function readCustom(document: JsonObject, schema: Schema): KubeObject {
  if (!document['kind']) throw internalError(`Object 'Kind' is missing in '${stringifyJson(sortKeys(document))}'`);
  const object = decodeCustomObject(schema, document).object as unknown as KubeObject;
  object.metadata ??= {};
  return object;
}

function readBuiltIn(document: JsonObject, { form, schema, strict }: {
  readonly form: ResourceForm; readonly schema: Schema; readonly strict: boolean;
}): KubeObject {
  const type = { kind: form.kind.kind, apiVersion: formatGroupVersion(form.kind) };
  const [kind, apiVersion] = [document['kind'] || type.kind, document['apiVersion'] || type.apiVersion];
  if (kind !== type.kind || apiVersion !== type.apiVersion) {
    throw internalError(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:110"`);
  }
  const { object, strictErrors } = schema.type === 'any' ? { object: document, strictErrors: [] } : decodeObject(schema, document, { keepEmptyLists: true });
  if (strict && strictErrors.length > 0) throw internalError(`strict decoding error: ${strictErrors.join(', ')}`);
  const typed = { ...type, ...object, ...type } as unknown as KubeObject;
  if (schema.fields?.has('metadata') === true) typed.metadata ??= {};
  return typed;
}

/** A document as an object of a form; throws the 500 of what is none. `strict`: unknown fields of built-in kinds are refused too. */
export function readDocument(document: JsonValue, { form, schemas, strict = false }: {
  readonly form: ResourceForm; readonly schemas: SchemaSet; readonly strict?: boolean;
}): KubeObject {
  const schema = schemaOf(form, schemas);
  try {
    if (!isJsonObject(document)) {
      throw new JsonPatchError(`json: cannot unmarshal ${Array.isArray(document) ? 'array' : typeof document} into Go value of type ${form.kind.kind}`);
    }
    return isCustom(form) ? readCustom(document, schema) : readBuiltIn(document, { form, schema, strict });
  } catch (error) {
    if (error instanceof JsonPatchError || error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

/** An object with a patch applied; throws the 500 of one that does not apply or leads to what is no such object. The object given stays as it is. */
export function applyPatch(object: KubeObject, patch: JsonPatch, kind: { readonly form: ResourceForm; readonly schemas: SchemaSet }): KubeObject {
  let document: JsonValue;
  try {
    document = patch.apply(object as unknown as JsonValue);
  } catch (error) {
    throw error instanceof JsonPatchError ? internalError(error.message) : error;
  }
  return readDocument(document, kind);
}

/** Fills in the defaults of the form's kind. */
export function defaultForm(object: KubeObject, { resource, version, kind }: ResourceForm): KubeObject {
  return kind.kind === resource.kind && kind.group === resource.group ? defaultObject(object, { resource, version }) : object;
}
