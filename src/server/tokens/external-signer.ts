// The calls of a program that signs service account tokens (v1.ExternalJWTSigner: Sign, FetchKeys, Metadata; KEP-740).
import { type KeyObject, createPublicKey } from 'node:crypto';
import { type VerifyingKey, algorithmOf } from '../../auth/index.ts';
import { MessageReader, MessageWriter, PluginChannel, type PluginChannelOptions } from '../../grpc/index.ts';

/** A key that verifies. */
export interface SignerKey extends VerifyingKey {
  /** It only verifies tokens of before: it is not published, and nothing is signed with it. */
  readonly isExcluded: boolean;
}

/** The keys of a signer. */
export interface SignerKeys {
  readonly keys: readonly SignerKey[];
  /** When they were read from where they are kept, in seconds since 1970. */
  readonly dataSeconds: number;
  /** When they should be read again. */
  readonly refreshSeconds: number;
}

/** The parts of a token that the signer makes, as they are in the token. */
export interface Signed {
  readonly header: string;
  readonly signature: string;
}

const METADATA_MS = 10_000;
const MAX_KEY_ID_LENGTH = 1024;
const NANOS_PER_SECOND = 1e9;

/** The signer behind one socket; every call rejects with an error whose message is the reference's text. */
export class ExternalSigner {
  readonly #channel: PluginChannel;

  constructor(options: PluginChannelOptions) {
    this.#channel = new PluginChannel('v1.ExternalJWTSigner', options);
  }

  /** SignJWTRequest: claims 1; SignJWTResponse: header 1, signature 2. `claims` are as in the token. */
  async sign(claims: string): Promise<Signed> {
    const reader = new MessageReader(await this.#channel.call('Sign', new MessageWriter().bytes(1, claims).finish()));
    const signed = { header: '', signature: '' };
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) signed.header = reader.text();
      else if (field === 2) signed.signature = reader.text();
      else reader.skip();
    }
    return signed;
  }

  /** FetchKeysResponse: keys 1, data_timestamp 2, refresh_hint_seconds 3. */
  async fetchKeys(): Promise<SignerKeys> {
    const reader = new MessageReader(await this.#channel.call('FetchKeys', Buffer.alloc(0)).catch((error: Error) => {
      throw new Error(`while getting externally supported jwt signing keys: ${error.message}`, { cause: error });
    }));
    const found = { keys: [] as ReturnType<typeof readKey>[], dataSeconds: undefined as number | undefined, refreshSeconds: 0 };
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) found.keys.push(readKey(reader.nested()));
      else if (field === 2) found.dataSeconds = readTimestamp(reader.nested());
      else if (field === 3) found.refreshSeconds = Number(reader.long());
      else reader.skip();
    }
    const { refreshSeconds, dataSeconds } = found;
    if (refreshSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshSeconds}s)`);
    if (found.keys.length === 0) throw new Error('found no keys');
    if (dataSeconds === undefined) throw new Error('invalid data timestamp: proto: invalid nil Timestamp');
    return { keys: found.keys.map(checkKey), dataSeconds, refreshSeconds };
  }

  /** MetadataResponse: max_token_expiration_seconds 1. */
  async readLongestSeconds(): Promise<number> {
    const reader = new MessageReader(await this.#channel.call('Metadata', Buffer.alloc(0), METADATA_MS));
    let seconds = 0;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) seconds = Number(reader.long());
      else reader.skip();
    }
    return seconds;
  }

  close(): void {
    this.#channel.close();
  }
}

/** Key: key_id 1, key 2 (PKIX), exclude_from_oidc_discovery 3. */
function readKey(reader: MessageReader) {
  const key = { keyId: '', der: new Uint8Array(0) as Uint8Array, isExcluded: false };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key.keyId = reader.text();
    else if (field === 2) key.der = reader.bytes();
    else if (field === 3) key.isExcluded = reader.number() !== 0;
    else reader.skip();
  }
  return key;
}

/** Timestamp: seconds 1, nanos 2. */
function readTimestamp(reader: MessageReader): number {
  let total = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) total += Number(reader.long());
    else if (field === 2) total += reader.number() / NANOS_PER_SECOND;
    else reader.skip();
  }
  return total;
}

function checkKey({ keyId, der, isExcluded }: ReturnType<typeof readKey>): SignerKey {
  if (keyId === '' || Buffer.byteLength(keyId) > MAX_KEY_ID_LENGTH) throw new Error(`found invalid public key id ${JSON.stringify(keyId)}`);
  if (der.length === 0) throw new Error('found empty public key');
  try {
    const publicKey: KeyObject = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
    algorithmOf(publicKey);
    return { keyId, publicKey, isExcluded };
  } catch (error) {
    throw new Error(`while parsing external public keys: ${(error as Error).message}`, { cause: error });
  }
}
