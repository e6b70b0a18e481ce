// The certificates that a server makes for itself: a CA, the serving certificate, the administrator's client certificate.
// ECDSA P-256 (an RSA key would cost more than the rest of the start) but where clients are to use suites that need an RSA key.
// Names follow kube-apiserver and kubeadm.
import { type KeyObject, X509Certificate, createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { parseCertificate } from '../../apimachinery/index.ts';
import type { Clock, Random } from '../../base/index.ts';
import {
  encodeBits, encodeElement, encodeInteger, encodeOctets, encodeOid, encodeSequence, encodeSet, encodeTime, encodeTrue, encodeUtf8,
} from './der.ts';
import { packAddress } from './addresses.ts';

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** The subject of a certificate and its issuer. `issuer` absent: self-signed, a CA. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and addresses; given for serving certificates only. */
  readonly hosts?: readonly string[];
  readonly issuer?: KeyPair;
  readonly lifetimeMs: number;
  /** Whether the key is an RSA one, which takes a tenth of a second to make. */
  readonly isRsa?: boolean;
}

/** What certificates are made with. */
export interface CertificateContext {
  readonly clock: Clock;
  readonly random: Random;
}

const oids = {
  commonName: '2.5.4.3', organization: '2.5.4.10', ecdsaWithSha256: '1.2.840.10045.4.3.2', basicConstraints: '2.5.29.19', keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37', subjectAltName: '2.5.29.17', subjectKeyId: '2.5.29.14', authorityKeyId: '2.5.29.35',
  serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2',
};
/** The key that is certified, and the one that signs. */
interface SigningKeys {
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
}

/** Clocks of clients may be a little behind. */
const BACKDATE_MS = 5 * 60_000;
const RSA_BITS = 2048;

/** Makes a new key and a certificate for it. The key of the issuer is a P-256 one. */
export function createCertificate(request: CertificateRequest, context: CertificateContext): KeyPair {
  const { privateKey, publicKey } = request.isRsa === true ? generateKeyPairSync('rsa', { modulusLength: RSA_BITS })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = request.issuer === undefined ? privateKey : createPrivateKey(request.issuer.key);
  const body = encodeBody(request, { publicKey, signer }, context);
  const signature = sign('sha256', body, signer);
  const der = encodeSequence(body, encodeAlgorithm(), encodeBits(signature));
  return { certificate: encodePem('CERTIFICATE', der), key: privateKey.export({ type: request.isRsa === true ? 'pkcs8' : 'sec1', format: 'pem' }) as string };
}

/** A private key in the form that every client reads: keys of elliptic curves as SEC 1, since some read no PKCS #8 of these. */
export function formatClientKey(pem: string): string {
  const key = createPrivateKey(pem);
  return key.asymmetricKeyType === 'ec' ? key.export({ type: 'sec1', format: 'pem' }) as string : pem;
}

/** A client certificate for a key and a subject (DER) that a request brings. */
interface ClientCertificateRequest {
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly issuer: KeyPair;
  readonly lifetimeMs: number;
}

/** Makes a client certificate (PEM). */
export function signCertificate(request: ClientCertificateRequest, context: CertificateContext): string {
  const signer = createPrivateKey(request.issuer.key);
  const { subject, publicKey, issuer, lifetimeMs } = request;
  const body = encodeBody({ commonName: '', issuer, lifetimeMs: lifetimeMs + BACKDATE_MS, subject }, { publicKey, signer }, context);
  return encodePem('CERTIFICATE', encodeSequence(body, encodeAlgorithm(), encodeBits(sign('sha256', body, signer))));
}

function encodeBody(request: CertificateRequest & { readonly subject?: Buffer }, keys: SigningKeys, { clock, random }: CertificateContext): Buffer {
  const { publicKey } = keys;
  const start = clock.now() - BACKDATE_MS;
  const subject = request.subject ?? encodeName(request.commonName, request.organizations ?? []);
  const issuer = request.issuer === undefined ? subject : readSubject(request.issuer.certificate);
  const serial = random.bytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return encodeSequence(
    encodeElement(0xa0, encodeInteger(Uint8Array.of(2))),
    encodeInteger(serial),
    encodeAlgorithm(),
    issuer,
    encodeSequence(encodeTime(start), encodeTime(start + request.lifetimeMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeElement(0xa3, encodeSequence(...encodeExtensions(request, keys))),
  );
}

const encodeAlgorithm = (): Buffer => encodeSequence(encodeOid(oids.ecdsaWithSha256));

function encodeName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (oid: string, text: string) => encodeSet(encodeSequence(encodeOid(oid), encodeUtf8(text)));
  return encodeSequence(...organizations.map((name) => attribute(oids.organization, name)), attribute(oids.commonName, commonName));
}

function encodeExtensions(request: CertificateRequest, keys: SigningKeys): Buffer[] {
  const authority = request.issuer === undefined;
  const extension = (oid: string, critical: boolean, value: Uint8Array) =>
    encodeSequence(encodeOid(oid), ...(critical ? [encodeTrue()] : []), encodeOctets(value));
  const usage = authority ? encodeBits(Uint8Array.of(0xa4), 2) : encodeBits(Uint8Array.of(0xa0), 5);
  const extensions = [
    extension(oids.keyUsage, true, usage),
    extension(oids.basicConstraints, true, authority ? encodeSequence(encodeTrue()) : encodeSequence()),
    extension(oids.subjectKeyId, false, encodeOctets(hashKey(keys.publicKey))),
    extension(oids.authorityKeyId, false, encodeSequence(encodeElement(0x80, hashKey(createPublicKey(keys.signer))))),
  ];
  if (!authority) {
    const purpose = request.hosts === undefined ? oids.clientAuth : oids.serverAuth;
    extensions.push(extension(oids.extendedKeyUsage, false, encodeSequence(encodeOid(purpose))));
  }
  if (request.hosts !== undefined) extensions.push(extension(oids.subjectAltName, false, encodeSequence(...request.hosts.map(encodeHost))));
  return extensions;
}

function encodeHost(host: string): Buffer {
  return isIP(host) === 0 ? encodeElement(0x82, Buffer.from(host, 'latin1')) : encodeElement(0x87, packAddress(host));
}

const hashKey = (key: KeyObject): Buffer => createHash('sha1').update(key.export({ type: 'spki', format: 'der' })).digest();

/** The subject of a certificate as it stands there, byte for byte: chains compare names by their bytes. */
function readSubject(pem: string): Uint8Array {
  const certificate = parseCertificate(new X509Certificate(pem).raw);
  if (certificate === undefined) throw new Error('the certificate of the issuer cannot be read');
  return certificate.subject;
}

function encodePem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** True when the certificate is past, or within `marginMs` of, the end of its life. */
export function isExpiring(certificate: string, clock: Clock, marginMs: number): boolean {
  return Date.parse(new X509Certificate(certificate).validTo) - marginMs < clock.now();
}
