// Calls of a plugin (key management, signing of tokens) by gRPC over its Unix socket. A plugin that is not there yet is waited for until the time of the
// call is up, as the reference does.
import { type Clock, delay } from '../base/index.ts';
import { Channel } from './channel.ts';
import { GrpcError, nameStatusCode, statusCode } from './grpc-error.ts';

/** Called with each call that has ended: its method, how long it took, and the name of its status. */
export type ObserveCall = (method: string, durationMs: number, code: string) => void;

/** Where the plugin is, and how long it may take. */
export interface PluginChannelOptions {
  readonly path: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly observe?: ObserveCall | undefined;
}

const CONNECT_AGAIN_MS = 100;
/** Clients of gRPC for Go take no larger answer by default. */
const RECEIVE_LIMIT_BYTES = 4 << 20;

/** A call that failed, in the words of the reference's client. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  /** The name of the status. */
  readonly code: string;

  constructor({ code, details, cause }: Pick<GrpcError, 'code' | 'details' | 'cause'>) {
    super(`rpc error: code = ${nameStatusCode(code)} desc = ${details}`, { cause });
    this.code = nameStatusCode(code);
  }
}

/** The plugin behind one socket; calls of one service, whose name stands before each method. */
export class PluginChannel {
  readonly #options: PluginChannelOptions;
  readonly #service: string;
  readonly #channel: Channel;

  constructor(service: string, options: PluginChannelOptions) {
    this.#options = options;
    this.#service = service;
    // Servers of gRPC for Go expect this authority; Node 24 would add the port.
    const headers = { ':authority': 'localhost' };
    this.#channel = new Channel({ url: 'http://localhost', socketPath: options.path, headers, receiveLimitBytes: RECEIVE_LIMIT_BYTES, clock: options.clock });
  }

  /** The message that answers one; rejects with an error whose message is the reference's text. */
  async call(name: string, message: Uint8Array, timeoutMs = this.#options.timeoutMs): Promise<Buffer> {
    const { clock, observe } = this.#options;
    const method = `/${this.#service}/${name}`;
    const startedMs = clock.monotonicMs();
    const ended = (code: number): void => observe?.(method, clock.monotonicMs() - startedMs, nameStatusCode(code));
    try {
      const answer = await this.#callOnceThere(method, message, startedMs + timeoutMs);
      ended(statusCode.ok);
      return answer;
    } catch (error) {
      const failure = error instanceof GrpcError ? error : new GrpcError({ code: statusCode.internal, details: String(error), cause: error });
      ended(failure.code);
      throw new PluginError(failure);
    }
  }

  close(): void {
    this.#channel.close();
  }

  async #callOnceThere(method: string, message: Uint8Array, untilMs: number): Promise<Buffer> {
    const { clock } = this.#options;
    for (;;) {
      const leftMs = untilMs - clock.monotonicMs();
      try {
        return await this.#channel.call(method, message, Math.max(leftMs, 1));
      } catch (error) {
        if (!(error instanceof GrpcError) || !error.isUnsent) throw error;
        if (untilMs - clock.monotonicMs() <= CONNECT_AGAIN_MS) throw describeAbsence(error);
        await delay(clock, CONNECT_AGAIN_MS);
      }
    }
  }
}

function describeAbsence({ cause }: GrpcError): GrpcError {
  const why = cause instanceof Error ? cause.message : 'no answer';
  return new GrpcError({ code: statusCode.deadlineExceeded, details: `connection error: desc = "transport: Error while dialing: ${why}"`, cause });
}
