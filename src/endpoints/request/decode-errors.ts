// Errors of bodies that cannot be read, in the words of upstream's serializers and transformDecodeError.
import { BUILT_IN_SCHEME, badRequest, type DecodeError, type GroupVersionKind, quoteGo, type StatusError } from '../../apimachinery/index.ts';

const SUMMARY_BYTES = 30;
const OPEN_BRACE = 0x7b;
/** The Go type that the reference reads kind and apiVersion into, as messages print it. */
const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The beginning of a body for a message: text when it looks like JSON, hexadecimal otherwise. */
function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const head = bytes.subarray(0, SUMMARY_BYTES);
  const text = bytes[0] === OPEN_BRACE ? new TextDecoder().decode(head) : Array.from(head, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return bytes.length > SUMMARY_BYTES ? `${text} ...` : text;
}

/** 400 of a body whose kind and version cannot be read. */
export function unrecognized(kind: string, why: string, bytes: Uint8Array): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summarize(bytes)})`);
}

/** 400 of a body of a known kind whose content does not fit. */
export function cannotBeHandled(found: Pick<GroupVersionKind, 'kind' | 'version'>, kind: string, why: string): StatusError {
  return badRequest(`${found.kind} in version ${quoteGo(found.version)} cannot be handled as a ${kind}: ${why}`);
}

/** Text about a kind that no scheme knows where no version is named, so that the reference looks for the internal type. */
function notRegisteredInternally(group: string, kind: string): string {
  const shown = [kind, group, BUILT_IN_SCHEME].map(quoteGo);
  return `no kind ${shown[0]} is registered for the internal version of group ${shown[1]} in scheme ${shown[2]}`;
}

/** The Go package of a group's internal types, as texts about conversions name it. */
const packageOf = (group: string): string => (group === '' ? 'core' : (group.split('.')[0] as string));

/** Text about a kind in its internal version that is not the kind of the path, which is of the same group. */
export function unknownInternally(kind: string, to: GroupVersionKind, isKnown: boolean): string {
  return isKnown ? unknownConversion({ group: to.group, version: packageOf(to.group), kind }, to) : notRegisteredInternally(to.group, kind);
}

/** Text about a known kind that is not the kind of the path. */
export function unknownConversion(from: GroupVersionKind, to: GroupVersionKind): string {
  return `converting (${from.version}.${from.kind}) to (${packageOf(to.group)}.${to.kind}): unknown conversion`;
}

/** The type of a JSON value as Go's decoder names it. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** Text about JSON that is not an object. */
export function notAnObject(value: unknown): string {
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type ${TYPE_META}`;
}

/** Text about an apiVersion or kind that is not a string. */
export function notAString(field: string, value: unknown): string {
  return `json: cannot unmarshal ${jsonType(value)} into Go struct field .${field} of type string`;
}

/** Text about a body whose kind and version cannot be parsed. */
export function versionKindError(why: string): string {
  return `couldn't get version/kind; json parse error: ${why}`;
}

/** Group versions that the reference still reads although it no longer serves them: a body in one of them has the wrong version, not an unknown one. */
const formerVersions: Readonly<Record<string, readonly string[]>> = {
  apps: ['v1beta1', 'v1beta2'], batch: ['v1beta1'], policy: ['v1beta1'],
  'authentication.k8s.io': ['v1alpha1', 'v1beta1'], 'authorization.k8s.io': ['v1beta1'], 'certificates.k8s.io': ['v1alpha1', 'v1beta1'],
  'coordination.k8s.io': ['v1alpha2', 'v1beta1'], 'discovery.k8s.io': ['v1beta1'], 'events.k8s.io': ['v1beta1'],
  'networking.k8s.io': ['v1beta1'], 'node.k8s.io': ['v1alpha1', 'v1beta1'], 'rbac.authorization.k8s.io': ['v1alpha1', 'v1beta1'],
  'scheduling.k8s.io': ['v1alpha2', 'v1beta1'], 'storage.k8s.io': ['v1alpha1', 'v1beta1'],
  'admissionregistration.k8s.io': ['v1alpha1', 'v1beta1'], 'flowcontrol.apiserver.k8s.io': ['v1beta1', 'v1beta2', 'v1beta3'],
};

/** Further group versions of the reference's scheme whose kinds are not known here. */
const otherVersions: Readonly<Record<string, readonly string[]>> = {
  'admission.k8s.io': ['v1', 'v1beta1'], 'imagepolicy.k8s.io': ['v1alpha1'], extensions: ['v1beta1'], 'internal.apiserver.k8s.io': ['v1alpha1'],
  'resource.k8s.io': ['v1alpha3', 'v1beta1', 'v1beta2'], 'storagemigration.k8s.io': ['v1beta1'], 'apiextensions.k8s.io': ['v1beta1'],
  'apiregistration.k8s.io': ['v1beta1'],
};

/** All group versions of the reference's scheme that are not served by default. */
export const unservedGroupVersions: readonly { readonly group: string; readonly version: string }[] =
  [...Object.entries(formerVersions), ...Object.entries(otherVersions)].flatMap(([group, versions]) => versions.map((version) => ({ group, version })));

/** Whether the reference knows a version of a group that is not served. */
export function isFormerVersion(group: string, version: string): boolean {
  return formerVersions[group]?.includes(version) ?? false;
}

const cborTypes: Readonly<Record<string, string>> = { array: 'array', bool: 'primitives', null: 'primitives', string: 'byte string', object: 'map' };

/** The CBOR type of a value as upstream's decoder names it. */
function cborType(value: unknown): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return 'primitives';
  if (typeof value === 'number' || typeof value === 'bigint') return value < 0 ? 'negative integer' : 'positive integer';
  return cborTypes[jsonType(value)] as string;
}

/** What upstream's decoder adds where an array stands for a struct. */
const NO_ARRAY = ' (cannot decode CBOR array to struct without toarray option)';

/** Text about a value in CBOR of another type than the Go value or struct field at `place`. */
export function cborMismatch(value: unknown, place: string, wanted: string): string {
  return `cbor: cannot unmarshal ${cborType(value)} into ${place} of type ${wanted}${Array.isArray(value) && wanted === TYPE_META_NAME ? NO_ARRAY : ''}`;
}

/** The Go type that kind and version are read into from CBOR. */
export const TYPE_META_NAME = 'v1.TypeMeta';

/** Text about CBOR whose kind and version cannot be read. */
export function cborTypeError(why: string): string {
  return `unable to determine group/version/kind: ${why}`;
}

/** The text of a value of the wrong type as the decoder of CBOR words it: it names the outermost struct field, and the type within. */
export function cborDecodeError(why: string, { version, kind }: Pick<GroupVersionKind, 'version' | 'kind'>, mismatch: DecodeError['mismatch']): string {
  const field = /^json: cannot unmarshal .{1,400} into Go struct field [^ .]{1,200}\.([^ .]{1,200})/.exec(why)?.[1];
  if (why.startsWith('illegal base64')) return `cbor: failed to decode base64 from byte string: ${why}`;
  if (mismatch === undefined || field === undefined) return why;
  const { found, wanted } = mismatch;
  const literal = /^number (.+)/.exec(found)?.[1] ?? '';
  const type = cborTypes[found] ?? cborNumber(mismatch, literal);
  const isTooLarge = literal !== '' && type !== 'primitives';
  const more = found === 'array' && mismatch.kind === 'struct' ? NO_ARRAY : isTooLarge ? ` (${literal} overflows ${wanted})` : '';
  return `cbor: cannot unmarshal ${type} into Go struct field ${version}.${kind}.${field} of type ${wanted}${more}`;
}

/** The CBOR type of a number; `literal` is its text where that is known. */
function cborNumber({ isFraction, isNegative }: NonNullable<DecodeError['mismatch']>, literal: string): string {
  if (isFraction === true || /[.e]/.test(literal)) return 'primitives';
  return isNegative === true || literal.startsWith('-') ? 'negative integer' : 'positive integer';
}

const conversionKinds: Readonly<Record<string, string>> = { object: 'map', array: 'slice', number: 'int64' };

/** Text about a value of the wrong type, in the words of upstream's converter of untyped objects, which strategic merge patches and applies use. */
export function describeConversion(why: string, mismatch: DecodeError['mismatch']): string {
  if (mismatch === undefined) return why.startsWith('illegal base64 data') ? `error decoding from json: ${why}` : why;
  const { found, wanted, kind, isFraction = false } = mismatch;
  if (kind === undefined) return `json: cannot unmarshal ${found} into Go value of type ${wanted}`;
  if (found.startsWith('number ')) return `cannot convert float64 to ${wanted}`;
  const source = isFraction ? 'float64' : conversionKinds[found] ?? found;
  if (kind === 'struct') return `cannot restore struct from: ${source}`;
  if (kind === 'slice' && found === 'array') return 'unrecognized type: uint8';
  if (kind === 'map' || kind === 'slice') return `cannot restore ${kind} from ${source}`;
  // Go converts an integer to a one-character string, so the converter refuses it with another text.
  return kind === 'string' && source === 'int64' ? `cannot convert int64 to ${wanted}` : `unrecognized type: ${kind}`;
}
