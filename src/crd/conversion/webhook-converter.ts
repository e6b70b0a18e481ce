// Conversion strategy Webhook: objects go to a service in a ConversionReview and come back in the version asked for. The call itself is handed
// in. Mirrors the webhook converter of apiextensions-apiserver: what of an answer is believed, and the texts by which the rest is refused.
import { isJsonObject } from '../../base/index.ts';
import {
  type FieldError, type KubeObject, StatusError, failure, formatGroupVersion, parseGroupVersion, pruneConverted, validateAnnotations, validateLabels,
} from '../../apimachinery/index.ts';
import type { Random } from '../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { VersionSchemas } from '../schemas.ts';
import type { WebhookClient, WebhookConversion } from '../types.ts';

/** Sends a ConversionReview and answers what came back, parsed; rejects with the reason as the reference words it. */
export type SendConversion = (client: WebhookClient, review: unknown, definition: string) => Promise<unknown>;

interface RemoteConverterOptions {
  readonly group: string;
  readonly schemas: Omit<VersionSchemas, 'prepare'>;
  readonly webhook: WebhookConversion;
  readonly send: SendConversion;
  /** Name of the definition. */
  readonly definition: string;
  readonly random: Pick<Random, 'uuid'>;
}

interface ReviewAnswer {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly response?: {
    readonly uid?: unknown;
    readonly convertedObjects?: unknown;
    readonly result?: { readonly status?: unknown; readonly message?: unknown };
  };
}

type Fields = Record<string, unknown>;

const REVIEW_GROUP = 'apiextensions.k8s.io';
const supported = new Set(['v1', 'v1beta1']);

const refuse = (message: string): StatusError => failure(500, '', message);
const gvkText = ({ apiVersion, kind }: KubeObject): string => `${apiVersion ?? ''}, Kind=${kind ?? ''}`;
const shown = (value: unknown): string => (value === undefined ? '' : String(value));

/** Go's name for the type of a decoded JSON value. */
function goType(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(Number(value)) ? 'int64' : 'float64';
}


/** Why the answer as a whole is not believed; undefined when it is. */
function reviewProblem(answer: ReviewAnswer, version: string, uid: string): string | undefined {
  const { response } = answer;
  if (version === 'v1') {
    const wanted = `${REVIEW_GROUP}/v1, Kind=ConversionReview`;
    const got = `${shown(answer.apiVersion)}, Kind=${shown(answer.kind)}`;
    if (got !== wanted) return `expected webhook response of ${wanted}, got ${got}`;
  }
  if (!isJsonObject(response)) return 'no response provided';
  if (version === 'v1' && response.uid !== uid) return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(shown(response.uid))}`;
  const { status, message } = response.result ?? {};
  if (status === 'Success') return undefined;
  return typeof message === 'string' && message !== '' ? message : `response.result.status was '${shown(status)}', not 'Success'`;
}

/** Why a converted object cannot be the one that was sent. An apply converts parts of objects, which may have no metadata. */
function identityProblem(original: KubeObject, converted: Fields): string | undefined {
  const metadata = isJsonObject(converted['metadata']) ? converted['metadata'] : {};
  const before: Fields = isJsonObject(original.metadata) ? original.metadata : {};
  for (const [field, label] of [['name', 'name'], ['namespace', 'namespace'], ['uid', 'UID']] as const) {
    const [was, is] = [shown(before[field]), shown(metadata[field])];
    if (was !== is) return `must have the same ${label}: ${was} != ${is}`;
  }
  return undefined;
}

type Labels = Readonly<Record<string, string>>;

function checkStrings(name: 'labels' | 'annotations', values: Fields, before: unknown): string | undefined {
  const old = isJsonObject(before) ? before : {};
  const entries = Object.entries(values);
  let changed = Object.keys(old).length !== entries.length;
  for (const [key, value] of entries) {
    if (typeof value !== 'string') return `metadata.${name}[${key}] must be a string, but is ${goType(value)} in converted object`;
    changed ||= !Object.hasOwn(old, key) || old[key] !== value;
  }
  if (!changed) return undefined;
  const errors: readonly FieldError[] = name === 'labels' ? validateLabels(values as Labels, 'metadata.labels') : validateAnnotations(values as Labels,
    'metadata.annotation');
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
}

/** Metadata of the original, with labels and annotations of the answer, in place; or why that cannot be. */
function restoreMetadata(original: KubeObject, converted: Fields): string | undefined {
  const answered = converted['metadata'];
  if (answered === undefined) return 'missing metadata in converted object';
  if (!isJsonObject(answered)) return `invalid metadata of type ${goType(answered)} in converted object`;
  const metadata: Fields = { ...original.metadata };
  for (const name of ['labels', 'annotations'] as const) {
    const values = answered[name];
    if (values === undefined || values === null) {
      delete metadata[name];
      continue;
    }
    if (!isJsonObject(values)) return `invalid metadata.${name} of type ${goType(values)} in converted object`;
    const problem = checkStrings(name, values, metadata[name]);
    if (problem !== undefined) return problem;
    metadata[name] = values;
  }
  converted['metadata'] = metadata;
  return undefined;
}

/** An answered object, validated and with the metadata of the one sent. Throws its problem. */
function acceptConverted(original: KubeObject, answered: unknown, wanted: string): KubeObject {
  const prefix = `conversion webhook for ${gvkText(original)} returned invalid`;
  if (!isJsonObject(answered)) throw refuse(`${prefix} object at index 0: invalid type, expected=Unstructured, got=${goType(answered)}`);
  const { apiVersion, kind } = answered;
  if (apiVersion !== wanted) throw refuse(`${prefix} object at index 0: invalid groupVersion (expected ${wanted}, received ${shown(apiVersion)})`);
  if (kind !== original.kind) throw refuse(`${prefix} object at index 0: invalid kind (expected ${shown(original.kind)}, received ${shown(kind)})`);
  const other = identityProblem(original, answered);
  if (other !== undefined) throw refuse(`${prefix} object: ${other}`);
  const problem = restoreMetadata(original, answered);
  if (problem !== undefined) throw refuse(`${prefix} metadata: ${problem}`);
  return answered as unknown as KubeObject;
}

async function ask(objects: readonly KubeObject[], wanted: string, { webhook, send, definition, random }: RemoteConverterOptions): Promise<readonly unknown[]> {
  const version = (webhook.conversionReviewVersions ?? []).find((each) => supported.has(each));
  if (version === undefined) throw refuse('no supported conversion review versions');
  const uid = random.uuid();
  const of = `conversion webhook for ${gvkText(objects[0] as KubeObject)}`;
  const review = { kind: 'ConversionReview', apiVersion: `${REVIEW_GROUP}/${version}`, request: { uid, desiredAPIVersion: wanted, objects } };
  const answer = await send(webhook.clientConfig ?? {}, review, definition).catch((error: unknown) => {
    throw refuse(`${of} failed: ${error instanceof Error ? error.message : String(error)}`);
  });
  const problem = reviewProblem(isJsonObject(answer) ? answer : {}, version, uid);
  if (problem !== undefined) throw refuse(`${of} failed: ${problem}`);
  const converted = (answer as ReviewAnswer).response?.convertedObjects ?? [];
  const count = Array.isArray(converted) ? converted.length : 0;
  if (count !== objects.length) throw refuse(`${of} returned ${count} objects, expected ${objects.length}`);
  return converted as readonly unknown[];
}

/** Whether nothing is left of an object but its type, which the reference converts itself. */
const isBare = (object: KubeObject): boolean => Object.keys(object).every((name) => name === 'apiVersion' || name === 'kind');

/** The converter of a row by webhook. */
export function createRemoteConverter(options: RemoteConverterOptions): NonNullable<Resource['convertRemotely']> {
  const { group, schemas } = options;
  const isKnown = (object: KubeObject): boolean => {
    const parsed = parseGroupVersion(object.apiVersion ?? '');
    return parsed?.group === group && schemas.has(parsed.version);
  };
  return async (objects, to) => {
    const wanted = formatGroupVersion({ group, version: to });
    const stray = objects.find((object) => !isKnown(object));
    if (stray !== undefined) throw refuse(`request to convert CR from an invalid group/version: ${shown(stray.apiVersion)}`);
    const sent = objects.filter((object) => object.apiVersion !== wanted && !isBare(object));
    const answered = sent.length === 0 ? [] : await ask(sent, wanted, options);
    const schema = schemas.get(to);
    const converted = new Map(sent.map((original, i) => {
      const object = acceptConverted(original, answered[i], wanted);
      return [original, schema === undefined ? object : (pruneConverted(schema, object as never) as unknown as KubeObject)];
    }));
    return objects.map((object) => converted.get(object) ?? (isBare(object) ? { ...object, apiVersion: wanted } : object));
  };
}
