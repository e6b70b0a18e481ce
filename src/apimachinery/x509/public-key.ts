// Which key a SubjectPublicKeyInfo holds.
import { BIT_STRING, INTEGER, OID, SEQUENCE, elementsIn, formatOid, readElement, readElements, readOid } from './der.ts';

/** A public key by its kind: `other` are kinds that nothing here uses, `unknown` is an algorithm that is not known at all. */
type PublicKey = { readonly type: 'Ed25519' | 'other' | 'unknown' }
  | { readonly type: 'ECDSA'; readonly curve: string } | { readonly type: 'RSA'; readonly bits: number };

const RSA = '1.2.840.113549.1.1.1';
const ECDSA = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
const X25519 = '1.3.101.110';
const DSA = '1.2.840.10040.4.1';
const NULL = 0x05;
const UNCOMPRESSED = 0x04;
const ED25519_BYTES = 32;

/** Curves by identifier: their names, and the bytes of a coordinate. */
const curves: Readonly<Record<string, readonly [name: string, bytes: number]>> = {
  '1.3.132.0.33': ['P-224', 28], '1.2.840.10045.3.1.7': ['P-256', 32], '1.3.132.0.34': ['P-384', 48], '1.3.132.0.35': ['P-521', 66],
};

/** Reads the DER of a key; undefined when it is none. */
export function parsePublicKey(der: Uint8Array): PublicKey | undefined {
  const outer = readElements(der);
  const [algorithm, bits] = outer?.length === 1 ? elementsIn(outer[0]) : [];
  const id = readOid(algorithm);
  if (bits?.tag !== BIT_STRING || id === '') return undefined;
  const [, parameters] = elementsIn(algorithm);
  const key = bits.content.subarray(1);
  switch (id) {
    case RSA: return parameters?.tag === NULL ? readRsaKey(key) : undefined;
    case ECDSA: return parameters?.tag === OID ? readCurveKey(formatOid(parameters.content), key) : undefined;
    case ED25519: return parameters === undefined && key.length === ED25519_BYTES ? { type: 'Ed25519' } : undefined;
    case X25519: case DSA: return { type: 'other' };
    default: return { type: 'unknown' };
  }
}

/** The size is that of the modulus in whole bytes. */
function readRsaKey(key: Uint8Array): PublicKey | undefined {
  const [modulus, exponent] = elementsIn(readElements(key)?.[0]);
  if (modulus?.tag !== INTEGER || exponent?.tag !== INTEGER) return undefined;
  const first = modulus.content.findIndex((byte) => byte !== 0);
  return first < 0 || (modulus.content[0] as number) >= 0x80 ? undefined : { type: 'RSA', bits: (modulus.content.length - first) * 8 };
}

function readCurveKey(id: string, key: Uint8Array): PublicKey | undefined {
  const curve = Object.hasOwn(curves, id) ? curves[id] : undefined;
  if (curve === undefined || key[0] !== UNCOMPRESSED || key.length !== 1 + 2 * curve[1]) return undefined;
  return { type: 'ECDSA', curve: curve[0] };
}

/** Why parsePublicKey reads no key of a known algorithm, in the words of Go's crypto/x509. */
export function describeBadKey(der: Uint8Array): string {
  const [algorithm, bits] = elementsIn(readElements(der)?.[0]);
  const [, parameters] = elementsIn(algorithm);
  const key = bits?.content.subarray(1) ?? new Uint8Array();
  switch (readOid(algorithm)) {
    case RSA: return parameters?.tag === NULL ? describeBadRsaKey(key) : 'x509: RSA key missing NULL parameters';
    case ECDSA:
      if (parameters?.tag !== OID) return 'x509: invalid ECDSA parameters';
      return Object.hasOwn(curves, formatOid(parameters.content)) ? 'ecdsa: invalid uncompressed public key' : 'x509: unsupported elliptic curve';
    default: return parameters === undefined ? 'x509: wrong Ed25519 public key size' : 'x509: Ed25519 key encoded with illegal parameters';
  }
}

function describeBadRsaKey(key: Uint8Array): string {
  const outer = readElement(key);
  if (outer?.tag !== SEQUENCE) return 'x509: invalid RSA public key';
  const modulus = readElement(outer.content);
  if (modulus?.tag !== INTEGER) return 'x509: invalid RSA modulus';
  const exponent = readElement(outer.content, modulus.whole.length);
  return exponent?.tag === INTEGER ? 'x509: RSA modulus is not a positive number' : 'x509: invalid RSA public exponent';
}
