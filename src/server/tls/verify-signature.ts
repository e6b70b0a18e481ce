// Signatures of keys that clients bring: of certificate requests, and of whatever else is signed by the same algorithms.
import { constants, createPublicKey, verify } from 'node:crypto';

/** Something signed. */
interface Signed {
  /** The key, as SPKI. */
  readonly publicKey: Uint8Array;
  /** The identifier of the algorithm. */
  readonly algorithm: string;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

const RSA_PSS = '1.2.840.113549.1.1.10';

/** Digests by signature algorithm; what is signed otherwise is not verified. Ed25519 has its own, PSS one of several. */
const digests: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1', '1.2.840.10045.4.1': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256', '1.2.840.113549.1.1.12': 'sha384', '1.2.840.113549.1.1.13': 'sha512', '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384', '1.2.840.10045.4.3.4': 'sha512', '1.3.101.112': null, [RSA_PSS]: 'sha256',
};
/** The parameters of PSS name the digest; a signature is one of the key whichever it is. */
const digestsOfPss = ['sha256', 'sha384', 'sha512'];

/** Whether signatures of an algorithm can be verified. */
export const canVerify = (algorithm: string): boolean => Object.hasOwn(digests, algorithm);

/** Whether a signature is one of the key; false as well for keys and algorithms that cannot be used. */
export function verifySignature({ publicKey, algorithm, signed, signature }: Signed): boolean {
  if (!canVerify(algorithm)) return false;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
    if (algorithm !== RSA_PSS) return verify(digests[algorithm] as string | null, signed, key, signature);
    const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return digestsOfPss.some((digest) => verify(digest, signed, pss, signature));
  } catch {
    return false;
  }
}

/** Both, as rows take them. */
export const signatures = { canVerify, verify: verifySignature };
