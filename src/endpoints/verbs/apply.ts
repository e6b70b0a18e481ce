// Server-side apply: from a configuration to the transform that merges it with the current object (apimachinery/apply decides fields and owners).
import { isJsonObject } from '../../base/index.ts';
import {
  badRequest, canonicalizeTime, equalJson, failure, formatGroupVersion, type JsonObject, type KubeObject, parseGroupVersion, sortDeep, type StatusError,
  typedProblem,
} from '../../apimachinery/index.ts';
import { CborError, formatYamlDuplicates, parseCbor, YamlError } from '../../codec/index.ts';
import { type Registry, applyObject, checkIdentity, checkScaleUid, defaultObject } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { type Expected, type Level, type RawBody, typeObject } from '../request/decode.ts';
import { cborMismatch, describeConversion } from '../request/decode-errors.ts';
import { yamlParserOf } from '../request/resource-request.ts';
import { type PatchContext, requireObject } from './patch-types.ts';
import { checkScale } from './update.ts';

type Configuration = Parameters<typeof applyObject>[0]['applied'];

/** A configuration, and the error that it does not fit its schema. */
interface Applied {
  readonly applied: Configuration;
  readonly unfit: StatusError | undefined;
}

/** Parses the configuration of a server-side apply and reports its duplicate keys; apply itself validates everything else. */
async function readApplied({ bytes, form }: RawBody, level: Level, request: ResourceRequest): Promise<JsonObject> {
  if (form === 'cbor') return readAppliedCbor(bytes);
  const { exchange: { warnings } } = request;
  const { value, duplicates } = await yamlParserOf(request)(bytes).catch((error: unknown) => {
    throw error instanceof YamlError ? badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`) : error;
  });
  if (level === 'Strict' && duplicates.length > 0) {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${formatYamlDuplicates(duplicates)}`);
  }
  if (level === 'Warn') warnings.push(...duplicates);
  return requireObject(value ?? {}, 'error decoding YAML: error unmarshaling JSON: while decoding JSON: ');
}

function readAppliedCbor(bytes: Uint8Array): JsonObject {
  // Upstream's text speaks of YAML here, too.
  const fail = (why: string): StatusError => badRequest(`error decoding YAML: ${why}`);
  try {
    const { value, problem } = parseCbor(bytes);
    if (problem !== undefined) throw fail(problem);
    if (value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) throw fail(cborMismatch(value, 'Go value', 'map[string]interface {}'));
    return value;
  } catch (error) {
    throw error instanceof CborError ? fail(error.message) : error;
  }
}

/** 500 of a configuration that does not fit the schema; upstream reports it before the namespace is set. */
function untypedConfiguration({ metadata }: Configuration, { group, version, kind }: Expected, why: string): StatusError {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const name = `${text(metadata?.namespace)}/${text(metadata?.name)}`;
  return failure(500, '', `failed to create typed patch object (${name}; ${group}/${version}, Kind=${kind}): ${why}`);
}

const isNone = (value: unknown): boolean => value === undefined || value === null;

/** Whether a configuration names owners. The reference reads entries that do not fit their schema as none, which the schema refuses next. */
function statesOwners(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false;
  const texts = ['manager', 'operation', 'apiVersion', 'fieldsType', 'subresource', 'time'];
  return entries.every((entry: unknown) => isJsonObject(entry)
    && texts.every((name) => ['undefined', 'string'].includes(typeof ((entry as JsonObject)[name] ?? undefined)))
    && (isNone(entry['time']) || isTime(entry['time'] as string)));
}

/** Throws unless a configuration has the expected type and no managedFields. */
function checkAppliedType({ apiVersion, kind, metadata }: Configuration, expected: Expected): void {
  if (apiVersion !== formatGroupVersion(expected) || kind !== expected.kind) {
    // Upstream reads values that are not strings as empty, and reports no kind without a valid apiVersion.
    const given = typeof apiVersion === 'string' ? apiVersion : '';
    const named = parseGroupVersion(given);
    const shown = named === undefined || given === '' ? '/' : `${named.group}/${named.version}`;
    throw badRequest(`invalid object type: ${shown}, Kind=${named !== undefined && typeof kind === 'string' ? kind : ''}`);
  }
  if (statesOwners(metadata?.managedFields)) throw badRequest('metadata.managedFields must be nil');
}

/** 500 of an applied object that cannot be decoded by its schema. */
function unreadable({ metadata }: Configuration, { group, version, kind }: Expected, why: string): StatusError {
  const name = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  const type = `${group}/${version}, Kind=${kind}`;
  return failure(500, '', `failed to convert new object (${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${why}`);
}

/** 500 of an applied object that fits its schema and cannot be read all the same. */
function unconverted({ metadata }: Configuration, { group, version, kind }: Expected, why: string): StatusError {
  return failure(500, '', `failed to convert to unversioned (${metadata?.namespace ?? ''}/${metadata?.name ?? ''}; ${group}/${version}, Kind=${kind}): ${why}`);
}

/** Reads a configuration, and throws its errors; that it does not fit its schema is an error for later. */
async function readConfiguration({ request, expected, level }: PatchContext, body: RawBody): Promise<Applied> {
  const applied = (await readApplied(body, level, request)) as unknown as KubeObject;
  if (applied.metadata === null) applied.metadata = {};
  checkAppliedType(applied, expected);
  const problem = typedProblem(expected.schema, applied);
  return { applied, unfit: problem === undefined ? undefined : untypedConfiguration(applied, expected, problem) };
}

const times = ['creationTimestamp', 'deletionTimestamp'] as const;

function isTime(text: string): boolean {
  try {
    canonicalizeTime(text);
    return true;
  } catch {
    return false;
  }
}

/** Values that are no times are none in metadata of custom resources, which upstream does not decode. */
function dropOddTimes(metadata: KubeObject['metadata']): void {
  for (const name of times) {
    const value: unknown = metadata[name];
    if (!isNone(value) && !(typeof value === 'string' && isTime(value))) delete metadata[name];
  }
}

/** A custom resource as it is validated and stored, and what reading will drop from that. `read` is it as it is read. */
function withUnknown(next: KubeObject, read: KubeObject): AppliedObject {
  const { apiVersion, kind, metadata } = read;
  const whole = { ...next, apiVersion, kind, metadata } as KubeObject;
  const hasUnknown = !equalJson(whole, read);
  return { object: hasUnknown ? sortDeep(whole) as KubeObject : read, unread: { metadata: next.metadata, hasUnknown } };
}

function applyConfiguration({ request, query, expected }: PatchContext, { applied, unfit }: Applied, current: KubeObject | undefined): AppliedObject {
  const { object: next, isChanged } = applyObject({
    resource: request.resource, version: request.target.version, subresource: request.subresource, schema: expected.schema, manager: query.fieldManager,
    force: query.force ?? false, nowMs: request.dependencies.clock.now(), current, applied, unfit,
  });
  const isScale = request.subresource === 'scale';
  if (expected.custom) dropOddTimes(next.metadata);
  if (!isChanged && !isScale) return { object: next };
  const read = (value: unknown, before?: KubeObject): KubeObject => typeObject(
    { value: value as JsonObject, untyped: true, before, unreadable: (why) => unconverted(applied, expected, why) }, expected,
    (why, mismatch) => unreadable(applied, expected, describeConversion(why, mismatch))).object;
  // Owners that are none because of their times are read as well, before the server's own replace them.
  const { managedFields } = applied.metadata ?? {};
  if (!expected.custom && managedFields) read({ metadata: { managedFields } });
  const object = isScale ? read(applied) : read(next, current);
  if (isScale) {
    const named = { ...applied.metadata };
    const { name, namespace } = next.metadata;
    // A name that is stated as null is none, and one that is left out is that of the object.
    const given = named.name === undefined ? name : named.name ?? '';
    checkIdentity(request.target, request.name, { metadata: { name: given, namespace: named.namespace ?? namespace } });
    const checked = checkScale(request.resource, next, object);
    const { group, plural, custom } = request.resource;
    // Custom resources do not look at the uid.
    if (!custom && current !== undefined) checkScaleUid({ group, resource: `${plural}/scale` }, current, { metadata: named });
    return { object: checked };
  }
  const { object: whole, unread } = expected.custom ? withUnknown(next, object) : { object };
  return { object: defaultObject(whole, request.target, { keepNulls: true, before: current }), unread };
}

type Update = Parameters<Registry['update']>[0];
type Change = Pick<Update, 'transform' | 'unread'>;

/** An object after an apply, and what is in it until it is read. */
interface AppliedObject {
  readonly object: KubeObject;
  readonly unread?: ReturnType<NonNullable<Update['unread']>>;
}

/** The transform of an apply, and what it says of its last run. It throws the errors of the configuration too: an absent object is reported before them. */
export async function applyTransform(context: PatchContext, body: RawBody): Promise<Change> {
  try {
    const applied = await readConfiguration(context, body);
    let last: AppliedObject | undefined;
    const transform = (current: KubeObject | undefined): KubeObject => {
      last = applyConfiguration(context, applied, current);
      return last.object;
    };
    return { transform, unread: () => last?.unread };
  } catch (error) {
    return {
      transform: () => {
        throw error;
      },
    };
  }
}
