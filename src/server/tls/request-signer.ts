// Turns a certificate request into a client certificate of the server's own authority. Of the request only its key and its subject are taken:
// whatever extensions it asks for, the certificate is good for clients and nothing else.
import { X509Certificate, createPublicKey } from 'node:crypto';
import { parseCertificateRequest, parsePem } from '../../apimachinery/index.ts';
import { type CertificateContext, type KeyPair, signCertificate } from './certificates.ts';
import { canVerify, verifySignature } from './verify-signature.ts';

const YEAR_MS = 365 * 86_400_000;
const MIN_LIFETIME_MS = 600_000;

type Signed = { readonly certificate: string } | { readonly refusal: string };

/** Makes the signer over an authority. */
export function createRequestSigner(
  authority: KeyPair, context: CertificateContext,
): (request: string, options: { readonly expirationSeconds?: number }) => Promise<Signed> {
  return async (pem, { expirationSeconds }) => {
    const [block] = parsePem(pem);
    const request = block?.type === 'CERTIFICATE REQUEST' ? parseCertificateRequest(block.bytes) : undefined;
    if (request === undefined) return { refusal: 'unable to parse csr' };
    const { publicKey: key, signatureAlgorithm: algorithm, info: signed, signature } = request;
    if (!canVerify(algorithm)) return { refusal: 'the signature algorithm of the csr is not supported' };
    if (!verifySignature({ publicKey: key, algorithm, signed, signature })) return { refusal: 'the signature of the csr is wrong' };
    try {
      const publicKey = createPublicKey({ key: Buffer.from(key), format: 'der', type: 'spki' });
      const left = Date.parse(new X509Certificate(authority.certificate).validTo) - context.clock.now();
      const lifetimeMs = Math.min(left, expirationSeconds === undefined ? YEAR_MS : Math.max(MIN_LIFETIME_MS, expirationSeconds * 1000));
      return { certificate: signCertificate({ subject: Buffer.from(request.subject), publicKey, issuer: authority, lifetimeMs }, context) };
    } catch (error) {
      return { refusal: `the csr cannot be signed: ${(error as Error).message}` };
    }
  };
}
