// What a PKCS#10 certificate request says, read from its DER. Pure: signatures are checked where there is cryptography. Bytes that do not
// fit are an error, so that any can be given.
import { DNS_NAME, EMAIL_NAME, IP_NAME, URI_NAME, readAlternativeNames } from './certificate.ts';
import { BIT_STRING, type Element, INTEGER, OID, SEQUENCE, decodeText, elementsIn, formatOid, readElements, readOid } from './der.ts';

/** A request taken apart. Byte ranges are views of the whole. */
export interface CertificateRequestParts {
  /** The signed part. */
  readonly info: Uint8Array;
  /** The subject as it stands there. */
  readonly subject: Uint8Array;
  /** The public key, as SPKI. */
  readonly publicKey: Uint8Array;
  readonly signatureAlgorithm: string;
  readonly signature: Uint8Array;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The kinds of alternative names that it asks for. */
  readonly nameKinds: ReadonlySet<NameKind>;
}

/** A kind of alternative names of a subject. */
export type NameKind = 'dns' | 'email' | 'ip' | 'uri';

const nameKinds: ReadonlyMap<number, NameKind> = new Map([[DNS_NAME, 'dns'], [EMAIL_NAME, 'email'], [IP_NAME, 'ip'], [URI_NAME, 'uri']]);
const ATTRIBUTES = 0xa0;
const SET = 0x31;
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** Reads the DER of a request; undefined when it is none. */
export function parseCertificateRequest(der: Uint8Array): CertificateRequestParts | undefined {
  const outer = readElements(der);
  const [info, algorithm, signature] = outer?.length === 1 ? elementsIn(outer[0]) : [];
  const [version, subject, publicKey, attributes] = elementsIn(info);
  const signatureAlgorithm = readOid(algorithm);
  if (info === undefined || version?.tag !== INTEGER || subject?.tag !== SEQUENCE || publicKey?.tag !== SEQUENCE) return undefined;
  if (signatureAlgorithm === '' || signature?.tag !== BIT_STRING) return undefined;
  const names = readNames(subject);
  if (names === undefined) return undefined;
  const values = (wanted: string) => names.filter(([name]) => name === wanted).map(([, value]) => value);
  return {
    info: info.whole, subject: subject.whole, publicKey: publicKey.whole, signatureAlgorithm, signature: signature.content.subarray(1),
    commonName: values('2.5.4.3').at(-1) ?? '', organizations: values('2.5.4.10'),
    nameKinds: readNameKinds(attributes),
  };
}

function readNameKinds(attributes: Element | undefined): ReadonlySet<NameKind> {
  const wanted = elementsIn(attributes, ATTRIBUTES).find((attribute) => readOid(attribute) === EXTENSION_REQUEST);
  const [extensions] = elementsIn(elementsIn(wanted).at(-1), SET);
  return new Set(readAlternativeNames(extensions).flatMap(({ tag }) => nameKinds.get(tag) ?? []));
}

function readNames(subject: Element): (readonly [string, string])[] | undefined {
  const names: (readonly [string, string])[] = [];
  for (const set of readElements(subject.content) ?? []) {
    for (const attribute of readElements(set.content) ?? []) {
      const [oid, value] = readElements(attribute.content) ?? [];
      if (oid?.tag !== OID || value === undefined) return undefined;
      names.push([formatOid(oid.content), decodeText(value)]);
    }
  }
  return names;
}
