// The calls of a key management plugin of the first version of the protocol (v1beta1.KeyManagementService: Version, Encrypt, Decrypt).
import { MessageReader, MessageWriter, PluginChannel, type PluginChannelOptions } from '../../grpc/index.ts';

/** A plugin; every call rejects with an error whose message is the reference's text. */
export interface KmsV1Service {
  encrypt(plaintext: Uint8Array): Promise<Uint8Array>;
  decrypt(ciphertext: Uint8Array): Promise<Uint8Array>;
  close(): void;
}

const VERSION = 'v1beta1';

/** The plugin behind one socket. Its version is asked once, before the first other call. */
export class KmsV1Client implements KmsV1Service {
  readonly #channel: PluginChannel;
  #isVersionKnown = false;

  constructor(options: PluginChannelOptions) {
    this.#channel = new PluginChannel('v1beta1.KeyManagementService', options);
  }

  /** EncryptRequest: version 1, plain 2; EncryptResponse: cipher 1. */
  encrypt(plaintext: Uint8Array): Promise<Uint8Array> {
    return this.#call('Encrypt', plaintext);
  }

  /** DecryptRequest: version 1, cipher 2; DecryptResponse: plain 1. */
  decrypt(ciphertext: Uint8Array): Promise<Uint8Array> {
    return this.#call('Decrypt', ciphertext);
  }

  close(): void {
    this.#channel.close();
  }

  async #call(name: string, bytes: Uint8Array): Promise<Uint8Array> {
    if (!this.#isVersionKnown) await this.#checkVersion();
    return readFirst(await this.#channel.call(name, new MessageWriter().bytes(1, VERSION).bytes(2, bytes).finish()));
  }

  /** VersionRequest: version 1; VersionResponse: version 1. */
  async #checkVersion(): Promise<void> {
    const answer = await this.#channel.call('Version', new MessageWriter().bytes(1, VERSION).finish()).catch((error: Error) => {
      throw new Error(`failed get version from remote KMS provider: ${error.message}`, { cause: error });
    });
    const version = readFirst(answer).toString();
    if (version !== VERSION) throw new Error(`KMS provider api version ${version} is not supported, only ${VERSION} is supported now`);
    this.#isVersionKnown = true;
  }
}

/** The bytes of the first field. */
function readFirst(message: Buffer): Buffer {
  const reader = new MessageReader(message);
  let found: Buffer = Buffer.alloc(0);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) found = Buffer.from(reader.bytes());
    else reader.skip();
  }
  return found;
}
