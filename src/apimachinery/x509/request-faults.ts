// The faults of the DER of a certificate request, found in the order and said in the words of Go's encoding/asn1 and crypto/x509: a structure is
// read field by field, each with the tag that it must have, and the first fault is the answer.
import { SEQUENCE } from './der.ts';

/** A fault of DER. */
class DerFault extends Error {}

const syntax = (what: string): DerFault => new DerFault(`asn1: syntax error: ${what}`);
const structure = (what: string): DerFault => new DerFault(`asn1: structure error: ${what}`);

interface Tag {
  /** 0: universal, 2: of the structure around. */
  readonly class: number;
  readonly number: number;
  readonly isCompound: boolean;
  readonly length: number;
  /** Where the content begins. */
  readonly start: number;
}

const [GROUP_BITS, LONG_TAG, LONG_FORM] = [0x7f, 0x1f, 0x80];
const MAX_TAG = 2 ** 31 - 1;
const MAX_LENGTH = 2 ** 23;
const [INTEGER, BIT_STRING, OID, SET] = [2, 3, 6, 17];
const MAX_INTEGER_BYTES = 8;
const MAX_GROUPS = 5;

/** A number in groups of seven bits, and the place behind it. */
function readGroups(bytes: Uint8Array, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = start; at < bytes.length; at += 1) {
    if (at - start === MAX_GROUPS) throw structure('base 128 integer too large');
    const byte = bytes[at] as number;
    if (at === start && byte === LONG_FORM) throw syntax('integer is not minimally encoded');
    value = value * 128 + (byte & GROUP_BITS);
    if (byte >= LONG_FORM) continue;
    if (value > MAX_TAG) throw structure('base 128 integer too large');
    return { value, next: at + 1 };
  }
  throw syntax('truncated base 128 integer');
}

function readLength(bytes: Uint8Array, start: number): { readonly length: number; readonly start: number } {
  const first = bytes[start];
  if (first === undefined) throw syntax('truncated tag or length');
  if (first < LONG_FORM) return { length: first, start: start + 1 };
  const width = first - LONG_FORM;
  if (width === 0) throw syntax('indefinite length found (not DER)');
  let length = 0;
  for (let at = start + 1; at <= start + width; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) throw syntax('truncated tag or length');
    if (length >= MAX_LENGTH) throw structure('length too large');
    length = length * 256 + byte;
    if (length === 0) throw structure('superfluous leading zeros in length');
  }
  if (length < LONG_FORM) throw structure('non-minimal length');
  return { length, start: start + 1 + width };
}

function readTag(bytes: Uint8Array, start: number): Tag {
  const first = bytes[start] as number;
  const long = (first & LONG_TAG) === LONG_TAG ? readGroups(bytes, start + 1) : { value: first & LONG_TAG, next: start + 1 };
  if ((first & LONG_TAG) === LONG_TAG && long.value < LONG_TAG) throw syntax('non-minimal tag');
  return { class: first >> 6, number: long.value, isCompound: (first & 0x20) !== 0, ...readLength(bytes, long.next) };
}

/** What a field must be; without `tag` anything. */
interface Field {
  readonly tag?: number;
  readonly class?: number;
  readonly isCompound?: boolean;
  /** Go's name of the type. */
  readonly type?: string;
  readonly isOptional?: boolean;
  readonly read?: (content: Uint8Array) => void;
}

const describeTag = ({ class: tagClass, number, length, isCompound }: Tag): string =>
  `{class:${tagClass} tag:${number} length:${length} isCompound:${isCompound}}`;
const PARAMETERS = '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}';

/** Reads one field, and answers the place behind it. */
function readField(bytes: Uint8Array, start: number, field: Field): number {
  if (start === bytes.length) {
    if (field.isOptional === true) return start;
    throw syntax('sequence truncated');
  }
  const tag = readTag(bytes, start);
  const { tag: wanted, class: wantedClass = 0, isCompound = false, type = '' } = field;
  if (wanted !== undefined && (tag.class !== wantedClass || tag.number !== wanted || tag.isCompound !== isCompound)) {
    throw structure(`tags don't match (${wanted} vs ${describeTag(tag)}) ${PARAMETERS} ${type} @${tag.start}`);
  }
  const end = tag.start + tag.length;
  if (end > bytes.length) throw syntax('data truncated');
  field.read?.(bytes.subarray(tag.start, end));
  return end;
}

/** The fields of a structure; what follows them is passed over. */
const fields = (...all: readonly Field[]) => (content: Uint8Array): void => {
  let at = 0;
  for (const field of all) at = readField(content, at, field);
};

/** Any number of elements; all are looked at before the first is read. */
const elements = (element: Field) => (content: Uint8Array): void => {
  for (let at = 0; at < content.length;) {
    const tag = readTag(content, at);
    const { tag: wanted, isCompound } = element;
    if (wanted !== undefined && (tag.class !== 0 || tag.number !== wanted || tag.isCompound !== isCompound)) throw structure('sequence tag mismatch');
    at = tag.start + tag.length;
    if (at > content.length) throw syntax('data truncated');
  }
  for (let at = 0; at < content.length;) at = readField(content, at, element);
};

function readInteger(content: Uint8Array): void {
  const [first, second = 0] = content;
  if (first === undefined) throw structure('empty integer');
  if (content.length > 1 && ((first === 0 && second < LONG_FORM) || (first === 0xff && second >= LONG_FORM))) throw structure('integer not minimally-encoded');
  if (content.length > MAX_INTEGER_BYTES) throw structure('integer too large');
}

function readBits(content: Uint8Array): void {
  const [padding] = content;
  if (padding === undefined) throw syntax('zero length BIT STRING');
  const last = content.at(-1) as number;
  if (padding > 7 || (content.length === 1 && padding > 0) || (last & ((1 << padding) - 1)) !== 0) throw syntax('invalid padding bits in BIT STRING');
}

function readIdentifier(content: Uint8Array): void {
  if (content.length === 0) throw syntax('zero length OBJECT IDENTIFIER');
  for (let at = 0; at < content.length;) at = readGroups(content, at).next;
}

const sequenceOf = (type: string, ...all: readonly Field[]): Field => ({ tag: SEQUENCE & LONG_TAG, isCompound: true, type, read: fields(...all) });
const identifier: Field = { tag: OID, type: 'ObjectIdentifier', read: readIdentifier };
const algorithm = sequenceOf('AlgorithmIdentifier', identifier, { isOptional: true });
const bits: Field = { tag: BIT_STRING, type: 'BitString', read: readBits };
const name: Field = {
  tag: SEQUENCE & LONG_TAG, isCompound: true, type: 'RDNSequence',
  read: elements({ tag: SET, isCompound: true, type: 'RelativeDistinguishedNameSET', read: elements(sequenceOf('AttributeTypeAndValue', identifier, {})) }),
};
const request = sequenceOf('certificateRequest',
  sequenceOf('tbsCertificateRequest', { tag: INTEGER, type: 'int', read: readInteger }, {}, sequenceOf('publicKeyInfo', algorithm, bits),
    { tag: 0, class: 2, isCompound: true, read: elements({}) }),
  algorithm, bits);

/** Why bytes are no certificate request, but for its key, its subject and its signature; undefined for one. */
export const findRequestFault = (der: Uint8Array): string | undefined => findFault(der, request);

/** Why the subject of such a request is no name; undefined for one. */
export function findSubjectFault(der: Uint8Array): string | undefined {
  const contentOf = (bytes: Uint8Array): Uint8Array => bytes.subarray(readTag(bytes, 0).start);
  const info = contentOf(contentOf(der));
  return findFault(info.subarray(readField(info, 0, {}), readField(info, readField(info, 0, {}), {})), name);
}

function findFault(der: Uint8Array, field: Field): string | undefined {
  try {
    if (readField(der, 0, field) < der.length) throw syntax('trailing data');
    return undefined;
  } catch (error) {
    if (error instanceof DerFault) return error.message;
    throw error;
  }
}
