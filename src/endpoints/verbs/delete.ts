// DELETE of one object and of a collection. DeleteOptions come from the body when there is one, else from the query.
import {
  badRequest, DecodeError, decodeObject, type JsonObject, type JsonValue, notRegistered, parseGroupVersion, type Schema, success,
} from '../../apimachinery/index.ts';
import { CborError, decodeEnvelope, decodeMessage, JsonError, parseCbor, type ParseYaml, parseJson, ProtobufError, YamlError } from '../../codec/index.ts';
import type { DeleteResult, WriteContext } from '../../registry/index.ts';
import { negotiateRequest, readBody, yamlParserOf, writeContext } from '../request/resource-request.ts';
import { mistyped, type RawBody, requireBodyForm } from '../request/decode.ts';
import { cborDecodeError, cborTypeError, versionKindError } from '../request/decode-errors.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { listOptions, respondList } from './list.ts';
import { refuseLargeBody } from '../request/large-requests.ts';
import { readCollectionOptions } from '../request/list-options.ts';
import type { Form } from '../request/media.ts';
import type { Representation } from '../request/negotiate.ts';
import { type DeleteQuery, parseDeleteQuery, validateDeleteOptions } from '../request/options.ts';
import { respondValue, statusSchema } from '../response/respond.ts';
import { respondObject } from '../response/respond-object.ts';

const optionsKind = { version: 'v1', kind: 'DeleteOptions' } as const;
/** The reference encodes decoded options for its audit, whatever version a client has named. */
const auditedKind = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' } as const;
const OPTIONS_SCHEMA = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
const CBOR_OPTIONS_SCHEME = 'pkg/runtime/scheme.go:111';
const OPTIONS_SCHEME = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27';

function parseAcceptable(bytes: Uint8Array): { value: JsonValue } {
  const { value, problem } = parseCbor(bytes);
  if (problem !== undefined) throw new CborError(problem);
  return { value };
}

async function parseOptions({ bytes, form }: RawBody, schema: Schema, parseYaml: ParseYaml): Promise<JsonObject> {
  try {
    if (form === 'protobuf') {
      const { apiVersion, kind, raw } = decodeEnvelope(bytes);
      return { apiVersion, kind, ...(decodeMessage(schema, raw) as JsonObject) };
    }
    const { value } = form === 'cbor' ? parseAcceptable(bytes) : form === 'yaml' ? await parseYaml(bytes) : parseJson(bytes);
    if (typeof value !== 'object' || Array.isArray(value)) throw badRequest(mistyped(value, form));
    const odd = (['apiVersion', 'kind'] as const).find((field) => typeof (value?.[field] ?? '') !== 'string');
    if (odd !== undefined) throw badRequest(mistyped(value?.[odd] as JsonValue, form, odd));
    return value ?? {};
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(versionKindError(error.message));
    if (error instanceof CborError) throw badRequest(cborTypeError(error.message));
    if (error instanceof YamlError || error instanceof ProtobufError) throw badRequest(error.message);
    throw error;
  }
}

function checkKind({ kind, apiVersion }: JsonObject, form: Form): void {
  const groupVersion = parseGroupVersion(String(apiVersion || 'meta.k8s.io/v1'));
  if (groupVersion === undefined) throw badRequest(`unexpected GroupVersion string: ${String(apiVersion)}`);
  if (kind === undefined || kind === '' || kind === 'DeleteOptions') return;
  throw badRequest(notRegistered({ ...groupVersion, kind: String(kind) }, form === 'cbor' ? CBOR_OPTIONS_SCHEME : OPTIONS_SCHEME));
}

async function decodeOptions(request: ResourceRequest, bytes: Uint8Array): Promise<DeleteQuery> {
  const schema = request.dependencies.schemas.definition(OPTIONS_SCHEMA) ?? { type: 'any' };
  const form = requireBodyForm(request);
  const value = await parseOptions({ bytes, form }, schema, yamlParserOf(request));
  checkKind(value, form);
  try {
    const { object } = decodeObject(schema, value);
    request.exchange.audit?.recordRequestObject({ ...auditedKind, ...object, ...auditedKind });
    const options = object as unknown as Partial<DeleteQuery>;
    return { ...options, dryRun: options.dryRun ?? [] };
  } catch (error) {
    if (error instanceof DecodeError && form === 'cbor') throw badRequest(cborDecodeError(error.message, optionsKind, error.mismatch));
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

/** Reads and validates the options of the request. */
async function readDeleteOptions(request: ResourceRequest): Promise<DeleteQuery> {
  const bytes = await readBody(request);
  refuseLargeBody(request, bytes);
  const options = bytes.length > 0 ? await decodeOptions(request, bytes) : parseDeleteQuery(request.exchange.query);
  const { ignoreStoreReadErrorWithClusterBreakingPotential: isUnsafe, ...safe } = options;
  const allowed = isUnsafe === undefined || request.dependencies.allowUnsafeDeletion !== true ? safe : options;
  validateDeleteOptions(allowed);
  return allowed;
}

/** 403 unless the user may remove objects that cannot be read. The audit event shows that this was tried, whatever the answer. */
async function authorizeUnsafe({ exchange, dependencies: { requireAccess } }: ResourceRequest): Promise<void> {
  exchange.auditAnnotations?.set('apiserver.k8s.io/unsafe-delete-ignore-read-error', { value: '', level: 'Metadata' });
  await requireAccess?.(exchange.user, { ...exchange.info, verb: 'unsafe-delete-ignore-read-errors' });
}

function deleteContext(request: ResourceRequest, options: DeleteQuery): WriteContext {
  const { dryRun, ...rest } = options;
  const shown = { ...rest, ...(dryRun.length > 0 && { dryRun }) };
  return writeContext(request, { dryRun, fieldManager: '', fieldValidation: '', force: undefined }, shown);
}

interface Deleted {
  readonly result: DeleteResult;
  readonly options: DeleteQuery;
  readonly representation: Representation;
}

async function respondDeleted(request: ResourceRequest, { result, options, representation }: Deleted): Promise<Response> {
  const { resource, dependencies, exchange, name } = request;
  const isUnreadable = options.ignoreStoreReadErrorWithClusterBreakingPotential === true;
  // Upstream answers 202 for an object that still exists only to clients that asked for cascading deletion by orphanDependents=false.
  const status = result.type === 'pending' && options.orphanDependents === false ? 202 : 200;
  if (result.type !== 'gone' || (resource.returnsDeleted && !isUnreadable)) return respondObject(request, { status, object: result.object, representation });
  // Nothing is known of an object that could not be read; upstream then names its kind, and the code.
  const value = isUnreadable ? { ...success({ name, kind: resource.kind }), code: status }
    : success({ name, ...(resource.group && { group: resource.group }), kind: resource.plural, ...(result.object.uid && { uid: result.object.uid }) });
  const answer = { status, form: representation.form, value: { value, schema: statusSchema(dependencies.schemas) } };
  return respondValue(exchange, dependencies, answer);
}

/** Deletes an object. */
export async function handleDelete(request: ResourceRequest): Promise<Response> {
  const representation = negotiateRequest(request);
  const options = await readDeleteOptions(request);
  const { dryRun: _, ...rest } = options;
  if (options.ignoreStoreReadErrorWithClusterBreakingPotential === true) await authorizeUnsafe(request);
  const result = await request.dependencies.registry.delete({ name: request.name, options: rest, context: deleteContext(request, options), ...request.target });
  return respondDeleted(request, { result, options, representation });
}

/** Deletes every object of a collection that the selectors match; answers the list of them. */
export async function handleDeleteCollection(request: ResourceRequest): Promise<Response> {
  const representation = negotiateRequest(request);
  const collection = await readCollectionOptions({ ...request, name: '' }, true);
  const options = await readDeleteOptions(request);
  const { dryRun: _, ...rest } = options;
  const list = await request.dependencies.registry.deleteCollection(request.target, listOptions(collection), rest, deleteContext(request, options));
  return respondList(request, list, representation);
}
