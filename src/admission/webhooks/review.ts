// AdmissionReviews: the question that a webhook is sent, and what of its answer is accepted. Mirrors upstream's webhook/request package and the
// decoder in front of it: in v1 uid, kind and the pair of patch and patchType have to be right, in v1beta1 none of them is looked at.
import { isJsonObject } from '../../base/index.ts';
import { DecodeError, type Schema, type Status, decodeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { describeRequest } from '../match/admission-request.ts';
import type { FormedObjects } from '../match/resource-forms.ts';
import type { ReviewVersion } from './webhook.ts';

/** What an accepted answer says; `patch` is base64, '' for none. */
export interface ReviewAnswer {
  readonly allowed: boolean;
  readonly result: Partial<Status> | undefined;
  readonly patch: string;
  readonly patchType: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** An answer that is not accepted; the message is upstream's. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
}

const GROUP = 'admission.k8s.io';
const KIND = 'AdmissionReview';

/** Builds the review of a request. */
export function buildReview(attributes: AdmissionAttributes, { form, object, oldObject }: FormedObjects,
  { version, uid }: { readonly version: ReviewVersion; readonly uid: string }): Record<string, unknown> {
  const { dryRun, options, ...request } = describeRequest(attributes, form);
  return {
    kind: KIND, apiVersion: `${GROUP}/${version}`,
    request: { uid, ...request, object: object ?? null, oldObject: oldObject ?? null, dryRun, options },
  };
}

const describeType = (value: unknown): string =>
  (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value);

/** Throws unless the decoder of the reference takes this for a review of the version. */
function checkType(apiVersion: unknown, kind: unknown, version: ReviewVersion): void {
  for (const [name, value] of [['apiVersion', apiVersion], ['kind', kind]] as const) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw new ReviewError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${describeType(value)} into Go struct field .${name} of type string`);
  }
  if (!kind || (kind === KIND && (!apiVersion || apiVersion === `${GROUP}/${version}`))) return;
  const isOtherReview = kind === KIND && (apiVersion === `${GROUP}/v1` || apiVersion === `${GROUP}/v1beta1`);
  const other = isOtherReview ? (apiVersion as string).slice(GROUP.length + 1) : kind === 'Status' && apiVersion === 'v1' ? 'v1' : undefined;
  if (other !== undefined) throw new ReviewError(`converting (${other}.${kind as string}) to (${version}.${KIND}): unknown conversion`);
  const shown = JSON.stringify(apiVersion ?? '');
  throw new ReviewError(`no kind ${JSON.stringify(kind)} is registered for version ${shown} in scheme "pkg/runtime/scheme.go:110"`);
}

interface Response {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: Partial<Status>;
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

/** A decoded review. */
export interface DecodedReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: Response | undefined;
}

/** Types the parsed answer of a webhook; throws ReviewError for what cannot be a review of the version. */
export function decodeReview(answer: unknown, version: ReviewVersion, schema: Schema): DecodedReview {
  if (!isJsonObject(answer)) {
    throw new ReviewError('couldn\'t get version/kind; json parse error: json: cannot unmarshal ' +
      `${describeType(answer)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`);
  }
  const { apiVersion, kind } = answer as { apiVersion?: unknown; kind?: unknown };
  checkType(apiVersion, kind, version);
  try {
    const { response } = decodeObject(schema, answer).object as { response?: Response };
    return { apiVersion: (apiVersion as string | undefined) ?? '', kind: (kind as string | undefined) ?? '', response };
  } catch (error) {
    throw error instanceof DecodeError ? new ReviewError(error.message) : error;
  }
}

/** What patches a validating webhook may answer with: none. */
function checkNoPatch({ patch = '', patchType }: Response): void {
  if (patch !== '') throw new ReviewError('validating webhook may not return response.patch');
  if (patchType !== undefined) throw new ReviewError('validating webhook may not return response.patchType');
}

function checkPatch({ patch = '', patchType }: Response): void {
  if (patch !== '' && patchType === undefined) throw new ReviewError('webhook returned response.patch but not response.patchType');
  if (patch === '' && patchType !== undefined) throw new ReviewError('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new ReviewError('webhook returned invalid response.patchType of ""');
}

/** What the reference shows of a type, `admission.k8s.io/v1, Kind=AdmissionReview`; nothing before the slash where there is no version. */
const showType = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string =>
  `${apiVersion === '' ? '/' : apiVersion}, Kind=${kind}`;

/** What a decoded review says; throws ReviewError when it must not be trusted. */
export function verifyReview(review: DecodedReview, { version, uid, mutating }: {
  readonly version: ReviewVersion; readonly uid: string; readonly mutating: boolean;
}): ReviewAnswer {
  const { response } = review;
  if (response === undefined || response === null) throw new ReviewError('webhook response was absent');
  if (version === 'v1') {
    if ((response.uid ?? '') !== uid) throw new ReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`);
    const wanted = `${GROUP}/v1, Kind=${KIND}`;
    if (showType(review) !== wanted) throw new ReviewError(`expected webhook response of ${wanted}, got ${showType(review)}`);
    if (mutating) checkPatch(response);
    else checkNoPatch(response);
  }
  const { allowed = false, status, patch = '', patchType = '', auditAnnotations = {}, warnings = [] } = response;
  return {
    allowed, result: status, patch: mutating ? patch : '', patchType: version === 'v1' ? patchType : 'JSONPatch', auditAnnotations: auditAnnotations ?? {},
    warnings: warnings ?? [],
  };
}
