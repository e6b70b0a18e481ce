// The calls of a key management plugin (v2.KeyManagementService: Status, Encrypt, Decrypt) by gRPC over its Unix socket. A plugin that is not there yet
// is waited for until the time of the call is up, as the reference does.
import { type Clock, delay } from '../../base/index.ts';
import { Channel, GrpcError, MessageReader, MessageWriter, nameStatusCode, statusCode } from '../../grpc/index.ts';
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

/** Called with each call that has ended: its method, how long it took, and the name of its status. */
export type ObserveCall = (method: string, durationMs: number, code: string) => void;

interface KmsClientOptions {
  readonly path: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly observe?: ObserveCall | undefined;
}

const SERVICE = '/v2.KeyManagementService/';
const CONNECT_AGAIN_MS = 100;

/** A call that failed, in the words of the reference's client. */
class KmsError extends Error {
  override readonly name = 'KmsError';

  constructor({ code, details, cause }: Pick<GrpcError, 'code' | 'details' | 'cause'>) {
    super(`rpc error: code = ${nameStatusCode(code)} desc = ${details}`, { cause });
  }
}

/** The plugin behind one socket. */
export class KmsClient implements KmsService {
  readonly #options: KmsClientOptions;
  readonly #channel: Channel;

  constructor(options: KmsClientOptions) {
    this.#options = options;
    this.#channel = new Channel({ url: 'http://localhost', socketPath: options.path, clock: options.clock });
  }

  /** StatusResponse: version 1, healthz 2, key_id 3. */
  async status(): Promise<KmsStatus> {
    const reader = new MessageReader(await this.#call('Status', Buffer.alloc(0)));
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
    const reader = new MessageReader(await this.#call('Encrypt', new MessageWriter().bytes(1, plaintext).bytes(2, uid).finish()));
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
    const reader = new MessageReader(await this.#call('Decrypt', writer.finish()));
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

  async #call(name: string, message: Uint8Array): Promise<Buffer> {
    const { clock, observe } = this.#options;
    const method = SERVICE + name;
    const startedMs = clock.monotonicMs();
    const ended = (code: number): void => observe?.(method, clock.monotonicMs() - startedMs, nameStatusCode(code));
    try {
      const answer = await this.#callOnceThere(method, message, startedMs);
      ended(statusCode.ok);
      return answer;
    } catch (error) {
      const failure = error instanceof GrpcError ? error : new GrpcError({ code: statusCode.internal, details: String(error), cause: error });
      ended(failure.code);
      throw new KmsError(failure);
    }
  }

  async #callOnceThere(method: string, message: Uint8Array, startedMs: number): Promise<Buffer> {
    const { clock, timeoutMs } = this.#options;
    for (;;) {
      const leftMs = startedMs + timeoutMs - clock.monotonicMs();
      try {
        return await this.#channel.call(method, message, Math.max(leftMs, 1));
      } catch (error) {
        if (!(error instanceof GrpcError) || !error.isUnsent) throw error;
        if (startedMs + timeoutMs - clock.monotonicMs() <= CONNECT_AGAIN_MS) throw describeAbsence(error);
        await delay(clock, CONNECT_AGAIN_MS);
      }
    }
  }
}

function describeAbsence({ cause }: GrpcError): GrpcError {
  const why = cause instanceof Error ? cause.message : 'no answer';
  return new GrpcError({ code: statusCode.deadlineExceeded, details: `connection error: desc = "transport: Error while dialing: ${why}"`, cause });
}
