// The keys of service account tokens. Files that flags name come first; without them there is one RSA pair, made when it is first needed (that
// takes a tenth of a second, off the main thread) and kept as sa.key and sa.pub beside the certificates. Servers that share the directory share the
// pair: the first to write it wins, and the others read it.
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { type SigningKey, type VerifyingKey, algorithmOf, keyIdOf, signJwt } from '../../auth/index.ts';
import { readTextFile } from '../data-directory.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import { writePrivateFile } from './pki.ts';

/** The keys of a server. */
export interface ServiceAccountKeys {
  /** A token with these claims; the first call makes a key where there is none. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /** The keys that verify; none before there are any. */
  verifying(): Promise<readonly VerifyingKey[]>;
  /** The public keys as a JSON Web Key set. */
  publish(): Promise<{ readonly keys: readonly Record<string, unknown>[] }>;
  /** How long others may keep that set. */
  maxAgeSeconds(): number;
  /** Where another program has the keys: `verifying` with those that have come since it asked. Rejects when the program does not answer. */
  renew?(): Promise<readonly VerifyingKey[]>;
  /** The longest life of a token that the other program signs. */
  readonly longestSeconds?: number;
  /** Ends what keeps the keys up to date. */
  stop?(): void;
}

/** Keys whose private half is in this process. */
interface OwnKeys extends ServiceAccountKeys {
  signing(): Promise<SigningKey>;
}

const MAX_AGE_SECONDS = 3600;

type KeyOptions = Pick<ServerOptions, 'serviceAccountKeyFiles' | 'serviceAccountSigningKeyFile'>;

/** Reads what is there. `directory` '' keeps a new key in memory. Throws StartError for files that hold no usable key. */
export function createServiceAccountKeys(options: KeyOptions, directory: string): OwnKeys {
  const { serviceAccountSigningKeyFile: signingFile, serviceAccountKeyFiles: keyFiles } = options;
  const given = keyFiles.flatMap((path) => readPublicKeys('--service-account-key-file', path));
  let own: Promise<SigningKey> | undefined;
  const find = (): Promise<SigningKey> | undefined => {
    const kept = own === undefined ? readKept(directory) : undefined;
    return (own ??= kept && Promise.resolve(kept));
  };
  if (signingFile === '') find();
  else own = Promise.resolve(readPrivateKey('--service-account-signing-key-file', signingFile));
  const signing = () => (own = find() ?? makeKey(directory));
  // Files that verify replace a file that signs, as in the reference: it may be one of them under another name.
  const verifying = async () => {
    const key = given.length > 0 && signingFile !== '' ? undefined : await find();
    return key === undefined ? given : [...given, key];
  };
  return {
    signing, verifying, sign: async (claims) => signJwt(claims, await signing()), maxAgeSeconds: () => MAX_AGE_SECONDS,
    async publish() {
      if (given.length === 0) await signing();
      return { keys: (await verifying()).map(describeKey) };
    },
  };
}

/** A public key as a member of a JSON Web Key set. */
export function describeKey({ publicKey, keyId }: VerifyingKey): Record<string, unknown> {
  const { kty, ...rest } = publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: keyId, alg: algorithmOf(publicKey), ...rest };
}

function toSigningKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  algorithmOf(publicKey);
  return { privateKey, publicKey, keyId: keyIdOf(publicKey) };
}

function readKept(directory: string): SigningKey | undefined {
  const path = join(directory, 'sa.key');
  if (directory === '' || !existsSync(path)) return undefined;
  try {
    return toSigningKey(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new StartError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readPrivateKey(flag: string, path: string): SigningKey {
  try {
    return toSigningKey(readTextFile(flag, path));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${flag}: ${path} holds no private key that can sign tokens`, { cause: error });
  }
}

/** All keys of a PEM file; private ones stand for their public half. */
function readPublicKeys(flag: string, path: string): VerifyingKey[] {
  const blocks = readTextFile(flag, path).match(/-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----/g) ?? [];
  const keys = blocks.filter((block) => !block.startsWith('-----BEGIN EC PARAMETERS')).map((block) => {
    try {
      const publicKey: KeyObject = createPublicKey(block);
      algorithmOf(publicKey);
      return { publicKey, keyId: keyIdOf(publicKey) };
    } catch (error) {
      throw new StartError(`${flag}: ${path} holds something that is no key for tokens`, { cause: error });
    }
  });
  if (keys.length === 0) throw new StartError(`${flag}: ${path} holds no key`);
  return keys;
}

function makeKey(directory: string): Promise<SigningKey> {
  return new Promise((resolve, reject) => {
    generateKeyPair('rsa', { modulusLength: 2048 }, (error, publicKey, privateKey) => {
      if (error !== null) return reject(error);
      const made = { privateKey, publicKey, keyId: keyIdOf(publicKey) };
      try {
        return resolve(directory === '' || keepKey(directory, made) ? made : readKept(directory) as SigningKey);
      } catch (problem) {
        return reject(problem as Error);
      }
    });
  });
}

/** Writes a pair, unless another server has written one meanwhile; whether it did. The file appears complete or not at all. */
function keepKey(directory: string, { privateKey, publicKey }: SigningKey): boolean {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const own = mkdtempSync(join(directory, 'sa-'));
  try {
    writePrivateFile(join(own, 'key'), privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
    linkSync(join(own, 'key'), join(directory, 'sa.key'));
    writePrivateFile(join(directory, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }) as string);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { recursive: true });
  }
}
