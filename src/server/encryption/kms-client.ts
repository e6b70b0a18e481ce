// The calls of a key management plugin (v2.KeyManagementService: Status, Encrypt, Decrypt).
import { MessageReader, MessageWriter, PluginChannel, type PluginChannelOptions } from '../../grpc/index.ts';
import { type SealedSource, readAnnotation, sourceType } from './kms-value.ts';

/** What a plugin says of itself. */
export interface KmsStatus {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

/** A plugin; every call rejects with an error whose message is the reference's text. */
export interface KmsService {
  status(): Promise<KmsStatus>;
  encrypt(uid: string, plaintext: Uint8Array): Promise<SealedSource>;
  decrypt(uid: string, sealed: SealedSource): Promise<Uint8Array>;
  close(): void;
}

/** The plugin behind one socket. */
export class KmsClient implements KmsService {
  readonly #channel: PluginChannel;

  constructor(options: PluginChannelOptions) {
    this.#channel = new PluginChannel('v2.KeyManagementService', options);
  }

  /** StatusResponse: version 1, healthz 2, key_id 3. */
  async status(): Promise<KmsStatus> {
    const reader = new MessageReader(await this.#channel.call('Status', Buffer.alloc(0)));
    const status = { version: '', healthz: '', keyId: '' };
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) status.version = reader.text();
      else if (field === 2) status.healthz = reader.text();
      else if (field === 3) status.keyId = reader.text();
      else reader.skip();
    }
    return status;
  }

  /** EncryptRequest: plaintext 1, uid 2; EncryptResponse: ciphertext 1, key_id 2, annotations 3. */
  async encrypt(uid: string, plaintext: Uint8Array): Promise<SealedSource> {
    const reader = new MessageReader(await this.#channel.call('Encrypt', new MessageWriter().bytes(1, plaintext).bytes(2, uid).finish()));
    const sealed = { source: new Uint8Array(0) as Uint8Array, keyId: '', annotations: new Map<string, Uint8Array>(), type: sourceType.seed };
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) sealed.source = reader.bytes();
      else if (field === 2) sealed.keyId = reader.text();
      else if (field === 3) sealed.annotations.set(...readAnnotation(reader.nested()));
      else reader.skip();
    }
    return sealed;
  }

  /** DecryptRequest: ciphertext 1, uid 2, key_id 3, annotations 4; DecryptResponse: plaintext 1. */
  async decrypt(uid: string, { source, keyId, annotations }: SealedSource): Promise<Uint8Array> {
    const writer = new MessageWriter().bytes(1, source).bytes(2, uid).bytes(3, keyId);
    for (const [name, value] of annotations) writer.message(4, (entry) => void entry.bytes(1, name).bytes(2, value));
    const reader = new MessageReader(await this.#channel.call('Decrypt', writer.finish()));
    let plaintext: Uint8Array = new Uint8Array(0);
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) plaintext = reader.bytes();
      else reader.skip();
    }
    return plaintext;
  }

  close(): void {
    this.#channel.close();
  }
}
