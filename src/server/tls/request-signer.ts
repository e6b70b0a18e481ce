// Turns a certificate request into a client certificate of the server's own authority. Of the request only its key and its subject are taken:
// whatever extensions it asks for, the certificate is good for clients and nothing else.
import { X509Certificate, createPublicKey, verify } from 'node:crypto';
import { parseCertificateRequest, parsePem } from '../../apimachinery/index.ts';
import { type CertificateContext, type KeyPair, signCertificate } from './certificates.ts';

const YEAR_MS = 365 * 86_400_000;
const MIN_LIFETIME_MS = 600_000;

/** Digest by signature algorithm; requests signed otherwise are refused. */
const digests: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256', '1.2.840.113549.1.1.12': 'sha384', '1.2.840.113549.1.1.13': 'sha512', '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384', '1.2.840.10045.4.3.4': 'sha512', '1.3.101.112': null,
};

type Signed = { readonly certificate: string } | { readonly refusal: string };

/** Makes the signer over an authority. */
export function createRequestSigner(
  authority: KeyPair, context: CertificateContext,
): (request: string, options: { readonly expirationSeconds?: number }) => Promise<Signed> {
  return async (pem, { expirationSeconds }) => {
    const [block] = parsePem(pem);
    const request = block?.type === 'CERTIFICATE REQUEST' ? parseCertificateRequest(block.bytes) : undefined;
    if (request === undefined) return { refusal: 'unable to parse csr' };
    const digest = digests[request.signatureAlgorithm];
    if (digest === undefined) return { refusal: 'the signature algorithm of the csr is not supported' };
    try {
      const publicKey = createPublicKey({ key: Buffer.from(request.publicKey), format: 'der', type: 'spki' });
      if (!verify(digest, request.info, publicKey, request.signature)) return { refusal: 'the signature of the csr is wrong' };
      const left = Date.parse(new X509Certificate(authority.certificate).validTo) - context.clock.now();
      const lifetimeMs = Math.min(left, expirationSeconds === undefined ? YEAR_MS : Math.max(MIN_LIFETIME_MS, expirationSeconds * 1000));
      return { certificate: signCertificate({ subject: Buffer.from(request.subject), publicKey, issuer: authority, lifetimeMs }, context) };
    } catch (error) {
      return { refusal: `the csr cannot be signed: ${(error as Error).message}` };
    }
  };
}
