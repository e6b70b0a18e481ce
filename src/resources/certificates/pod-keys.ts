// The keys of PodCertificateRequests and the proof that the kubelet holds them: a certificate request, or in the older form a public key and a signature
// of the pod's UID.
import {
  type FieldError, type KubeObject, invalidUnshown, invalidValue, parseCertificateRequest, parsePublicKey, tooLong,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, specOf } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';

/** Something signed, for the code that verifies it where there is cryptography. */
export interface SignatureClaim {
  /** The key, as SPKI. */
  readonly publicKey: Uint8Array;
  /** The identifier of the algorithm. */
  readonly algorithm: string;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

const MAX_BYTES = 10 * 1024;
const provedCurves: ReadonlySet<string> = new Set(['P-256', 'P-384', 'P-521']);
const provedSizes: ReadonlySet<number> = new Set([3072, 4096]);
const UNKNOWN_KEY = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';
const WRONG_CHOICE = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set';

/** How a UID is signed, by the type of the key: with SHA-256, RSA by PSS. */
const proofAlgorithms: Readonly<Record<string, string>> = { Ed25519: '1.3.101.112', ECDSA: '1.2.840.10045.4.3.2', RSA: '1.2.840.113549.1.1.10' };

/** The bytes of a field; none when it is absent or is not base64. */
function bytesOf({ value }: Field): Uint8Array {
  try {
    return Uint8Array.from(atob(toText(value)), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** A key in a request: what is wrong with it, or what is to be verified, and the error if that fails. */
type Proof = { readonly errors: Errors } | { readonly claim: SignatureClaim; readonly failure: FieldError };

const refuse = (...errors: readonly FieldError[]): Proof => ({ errors });

/** The key and the proof of a request. */
function readProof(request: KubeObject): Proof {
  const [stub, key, proof] = ['stubPKCS10Request', 'pkixPublicKey', 'proofOfPossession'].map((name) => at(specOf(request), name)) as [Field, Field, Field];
  const given = [stub, key, proof].map((place) => toText(place.value) !== '').join();
  if (given === 'true,false,false') return readStub(stub);
  if (given === 'false,true,true') return readKey(request, key, proof);
  return refuse(invalidUnshown('spec', WRONG_CHOICE));
}

function readStub(place: Field): Proof {
  const bytes = bytesOf(place);
  if (bytes.length > MAX_BYTES) return refuse(tooLong(place.path, MAX_BYTES));
  const parts = parseCertificateRequest(bytes);
  const key = parts && parsePublicKey(parts.publicKey);
  if (parts === undefined || key === undefined) return refuse(invalidUnshown(place.path, 'must be a valid PKCS#10 CSR'));
  const wrong = checkKey(key, place.path, { curves: 'P256, P384, or P521', unknown: invalidUnshown(place.path, UNKNOWN_KEY) });
  if (wrong !== undefined) return refuse(wrong);
  const { info: signed, publicKey, signatureAlgorithm: algorithm, signature } = parts;
  return { claim: { publicKey, algorithm, signed, signature }, failure: invalidUnshown(place.path, 'invalid signature') };
}

function readKey(request: KubeObject, place: Field, proof: Field): Proof {
  const [publicKey, signature] = [bytesOf(place), bytesOf(proof)];
  if (publicKey.length > MAX_BYTES) return refuse(tooLong(place.path, MAX_BYTES));
  if (signature.length > MAX_BYTES) return refuse(tooLong(proof.path, MAX_BYTES));
  const key = parsePublicKey(publicKey);
  if (key === undefined || key.type === 'unknown') return refuse(invalidValue(place.path, place.value, 'must be a valid PKIX-serialized public key'));
  const wrong = checkKey(key, place.path, { curves: 'P256 or P384', unknown: invalidValue(place.path, place.value, UNKNOWN_KEY) });
  if (wrong !== undefined) return refuse(wrong);
  const signed = new TextEncoder().encode(toText(at(specOf(request), 'podUID').value));
  const claim = { publicKey, algorithm: proofAlgorithms[key.type] ?? '', signed, signature };
  return { claim, failure: invalidUnshown(proof.path, 'could not verify proof-of-possession signature') };
}

type PublicKey = NonNullable<ReturnType<typeof parsePublicKey>>;

/** The kinds and sizes of keys that pods may have. */
function checkKey(key: PublicKey, path: string, words: { readonly curves: string; readonly unknown: FieldError }): FieldError | undefined {
  switch (key.type) {
    case 'Ed25519': return undefined;
    case 'ECDSA': {
      const isFine = provedCurves.has(key.curve);
      return isFine ? undefined : invalidValue(path, `curve ${key.curve}`, `elliptic public keys must use curve ${words.curves}`);
    }
    case 'RSA': {
      const isFine = provedSizes.has(key.bits);
      return isFine ? undefined : invalidValue(path, `${key.bits}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096');
    }
    default: return words.unknown;
  }
}

/** The problems of the key of a request, but for its signature. */
export function checkProof(request: KubeObject): Errors {
  const proof = readProof(request);
  return 'errors' in proof ? proof.errors : [];
}

/** The problem of the signature of a request whose key has none. */
export function checkSignature(request: KubeObject, verify: (claim: SignatureClaim) => boolean): Errors {
  const proof = readProof(request);
  return 'errors' in proof || verify(proof.claim) ? [] : [proof.failure];
}

/** The key that a certificate is asked for, as SPKI; undefined when the request has none. */
export function requestedKey(request: KubeObject): Uint8Array | undefined {
  const stub = at(specOf(request), 'stubPKCS10Request');
  return toText(stub.value) === '' ? bytesOf(at(specOf(request), 'pkixPublicKey')) : parseCertificateRequest(bytesOf(stub))?.publicKey;
}
