// The keys and certificates of one server: made at the first start, kept in a directory that only the owner can read, reused, renewed when
// they run out. Without a directory they live in memory and die with the server.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { firstAddress } from './addresses.ts';
import { type CertificateContext, type CertificateRequest, type KeyPair, createCertificate, isExpiring } from './certificates.ts';
import { StartError } from '../options/options.ts';

/** Everything secret that a server has. */
export interface Pki {
  readonly authority: KeyPair;
  readonly serving: KeyPair;
  /** O=system:masters, CN=kubernetes-admin: what the administrator's kubeconfig holds. */
  readonly admin: KeyPair;
}

interface PkiOptions extends CertificateContext {
  /** '' keeps everything in memory. */
  readonly directory: string;
  readonly addresses: readonly string[];
  readonly serviceRange: string;
  /** Whether clients may use suites for which the server needs an RSA key. */
  readonly needsRsa?: boolean;
}

const DAY_MS = 86_400_000;
const AUTHORITY_LIFETIME_MS = 3650 * DAY_MS;
const LEAF_LIFETIME_MS = 365 * DAY_MS;
/** Leaves are renewed at a start this close to their end. */
const RENEWAL_MARGIN_MS = 30 * DAY_MS;

const AUTHORITY_NAME = 'pintle-ca';

/** A serving certificate that the operator put where ours would be: it is used as it is, as the reference does. */
function foreign(files: Directory | undefined): KeyPair | undefined {
  const found = files?.readPair('apiserver');
  return found === undefined || new X509Certificate(found.certificate).issuer === `CN=${AUTHORITY_NAME}` ? undefined : found;
}

/** Loads what is there, makes what is missing or too old. */
export function preparePki(options: PkiOptions): Pki {
  const files = options.directory === '' ? undefined : openDirectory(options.directory);
  const load = (name: string, request: CertificateRequest, stillGood: (pair: KeyPair) => boolean): KeyPair => {
    const found = files?.readPair(name);
    if (found !== undefined && !isExpiring(found.certificate, options.clock, RENEWAL_MARGIN_MS) && stillGood(found)) return found;
    const made = createCertificate(request, options);
    files?.writePair(name, made);
    return made;
  };
  const authority = load('ca', { commonName: AUTHORITY_NAME, lifetimeMs: AUTHORITY_LIFETIME_MS }, () => true);
  const issued = (pair: KeyPair) => new X509Certificate(pair.certificate).checkIssued(new X509Certificate(authority.certificate))
    && new X509Certificate(pair.certificate).verify(new X509Certificate(authority.certificate).publicKey);
  const hosts = listHosts(options);
  const { needsRsa = false } = options;
  const leaf = { issuer: authority, lifetimeMs: LEAF_LIFETIME_MS };
  return {
    authority,
    serving: foreign(files)
      ?? load('apiserver', { ...leaf, commonName: 'kube-apiserver', hosts, isRsa: needsRsa },
        (pair) => issued(pair) && coversHosts(pair.certificate, hosts) && (!needsRsa || createPrivateKey(pair.key).asymmetricKeyType === 'rsa')),
    admin: load('admin', { ...leaf, commonName: 'kubernetes-admin', organizations: ['system:masters'] }, issued),
  };
}

/** Whether clients that trust the authority of a server believe a serving certificate. */
export const isOurs = ({ certificate }: Pick<KeyPair, 'certificate'>): boolean => new X509Certificate(certificate).issuer === `CN=${AUTHORITY_NAME}`;

function listHosts({ addresses, serviceRange }: PkiOptions): string[] {
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'localhost'];
  const wildcards = new Set(['0.0.0.0', '::']);
  return [...new Set([...names, '127.0.0.1', '::1', firstAddress(serviceRange), ...addresses.filter((address) => address !== '' && !wildcards.has(address))])];
}

function coversHosts(certificate: string, hosts: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate);
  return hosts.every((host) => (/[a-z]/.test(host) && !host.includes(':') ? parsed.checkHost(host) : parsed.checkIP(host)) !== undefined);
}

interface Directory {
  read(name: string): string | undefined;
  write(name: string, text: string): void;
  readPair(name: string): KeyPair | undefined;
  writePair(name: string, pair: KeyPair): void;
}

function openDirectory(path: string): Directory {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const read = (name: string) => (existsSync(join(path, name)) ? readFileSync(join(path, name), 'utf8') : undefined);
  const write = (name: string, text: string) => writePrivateFile(join(path, name), text);
  return {
    read,
    write,
    readPair(name) {
      const certificate = read(`${name}.crt`);
      const key = read(`${name}.key`);
      if (certificate === undefined || key === undefined) return undefined;
      checkPair(join(path, name), { certificate, key });
      return { certificate, key };
    },
    writePair(name, pair) {
      write(`${name}.key`, pair.key);
      write(`${name}.crt`, pair.certificate);
    },
  };
}

/** A pair that does not belong together is an operator's mistake, or a crash between two writes of ours: say so, do not guess. */
function checkPair(path: string, pair: KeyPair): void {
  try {
    if (new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key))) return;
  } catch (error) {
    throw new StartError(`${path}.crt or ${path}.key cannot be read: ${(error as Error).message}`, { cause: error });
  }
  throw new StartError(`${path}.crt and ${path}.key do not belong together; remove both to have new ones made`);
}

/** Writes a file that only its owner can read; it appears complete or not at all. */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}
