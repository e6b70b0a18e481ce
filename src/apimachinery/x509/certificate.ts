// What an X.509 certificate says, read from its DER: its key, when it is valid, the names it is for, and whether it is that of an authority. Pure, as the
// reading of requests is; no signature is checked.
import { BIT_STRING, type Element, INTEGER, SEQUENCE, decodeText, elementsIn, readElements, readOid } from './der.ts';

/** A certificate taken apart. */
export interface Certificate {
  /** The subject as it stands there. */
  readonly subject: Uint8Array;
  /** The public key, as SPKI. */
  readonly publicKey: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  /** By its basic constraints. */
  readonly isAuthority: boolean;
  /** The identifiers of all extensions. */
  readonly extensions: readonly string[];
}

const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const UTC_TIME = 0x17;
const BOOLEAN = 0x01;
const OCTET_STRING = 0x04;
/** Tags of alternative names. */
export const EMAIL_NAME = 0x81;
export const DNS_NAME = 0x82;
export const URI_NAME = 0x86;
export const IP_NAME = 0x87;
const BASIC_CONSTRAINTS = '2.5.29.19';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** Reads the DER of a certificate; undefined when it is none. */
export function parseCertificate(der: Uint8Array): Certificate | undefined {
  const outer = readElements(der);
  const [signed, algorithm, signature] = outer?.length === 1 ? elementsIn(outer[0]) : [];
  if (signed?.tag !== SEQUENCE || algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING) return undefined;
  const fields = elementsIn(signed);
  const [serial, inner, issuer, validity, subject, key, ...more] = fields[0]?.tag === VERSION ? fields.slice(1) : fields;
  const sequences = [inner, issuer, validity, subject, key];
  if (serial?.tag !== INTEGER || subject === undefined || key === undefined || sequences.some((field) => field?.tag !== SEQUENCE)) return undefined;
  const [notBeforeMs, notAfterMs] = elementsIn(validity).map(readTime);
  if (notBeforeMs === undefined || notAfterMs === undefined) return undefined;
  const [list] = elementsIn(more.find(({ tag }) => tag === EXTENSIONS), EXTENSIONS);
  const [isAuthority] = elementsIn(readExtension(list, BASIC_CONSTRAINTS));
  const names = readAlternativeNames(list);
  const namesOf = (wanted: number): string[] => names.filter(({ tag }) => tag === wanted).map(decodeText);
  return {
    subject: subject.whole, publicKey: key.whole, notBeforeMs, notAfterMs, dnsNames: namesOf(DNS_NAME), emailAddresses: namesOf(EMAIL_NAME),
    isAuthority: isAuthority?.tag === BOOLEAN && isAuthority.content[0] !== 0, extensions: elementsIn(list).map(readOid),
  };
}

/** Whether a certificate is that of an authority; undefined when the DER is none. */
export function isAuthorityCertificate(der: Uint8Array): boolean | undefined {
  return parseCertificate(der)?.isAuthority;
}

/** The alternative names in a list of extensions. */
export const readAlternativeNames = (list: Element | undefined): readonly Element[] => elementsIn(readExtension(list, ALTERNATIVE_NAMES));

/** The value of an extension: its identifier may be followed by whether it is critical. */
function readExtension(list: Element | undefined, wanted: string): Element | undefined {
  const value = elementsIn(elementsIn(list).find((extension) => readOid(extension) === wanted)).at(-1);
  return elementsIn(value, OCTET_STRING)[0];
}

/** UTCTime has two digits of the year, GeneralizedTime four; both are in UTC, to the second. */
function readTime({ tag, content }: Element): number | undefined {
  const text = new TextDecoder().decode(content);
  const years = tag === UTC_TIME ? 2 : 4;
  const [, year = '', month, day, hour, minute, second] = /^(\d{2}|\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  if (year.length !== years) return undefined;
  const century = years === 4 ? '' : Number(year) >= 50 ? '19' : '20';
  const ms = Date.parse(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
