// Streams of a container for a client that speaks WebSocket, from a kubelet that speaks SPDY. Mirrors the reference's stream translator: the
// WebSocket (v5.channel.k8s.io) is accepted first; whatever happens from then on is reported on its error channel. Each side is read no faster than
// the other takes, and when one ends the other does.
import type { Duplex } from 'node:stream';
import type { HttpExchange } from '../http/exchange.ts';
import { UpgradedResponse, createHold } from '../http/tunnel.ts';
import { type WebSocketConnection, acceptWebSocket } from '../http/websocket-connection.ts';
import type { Upgrade } from '../http/websocket.ts';
import type { ContainerStreams } from '../../subresources/index.ts';
import { type ContainerStatus, describeFailure, readContainerStatus } from './container-status.ts';
import { SpdyConnection, type SpdyStream } from './spdy-connection.ts';

/** The protocol of clients that is translated. */
const CHANNEL_PROTOCOL = 'v5.channel.k8s.io';
/** Protocols that a kubelet may choose, best first. */
export const kubeletProtocols = ['v5', 'v4', 'v3', 'v2'].map((version) => `${version}.channel.k8s.io`);
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
const CLOSE_SIGNAL = 255;
/** The largest message that the reference takes. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** More than a Status on the error stream is not kept. */
const MAX_STATUS_BYTES = 64 * 1024;
/** A kubelet accepts a stream so soon. */
const REPLY_MS = 30_000;

/** A connection to a kubelet that has changed to SPDY. */
export interface KubeletSession {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Of `kubeletProtocols`; '' for a kubelet that names none. */
  readonly protocol: string;
}

type StreamName = keyof typeof channels;

/** The streams of one session, in the order in which they are opened. */
function listStreams({ stdin, stdout, stderr, tty }: ContainerStreams): StreamName[] {
  const wanted = { error: true, stdin, stdout, stderr: stderr && !tty, resize: tty };
  return (Object.keys(wanted) as (keyof typeof wanted)[]).filter((name) => wanted[name]);
}

/** The answer that takes the client's WebSocket and opens the streams. */
export class ChannelsResponse extends UpgradedResponse {
  readonly #streams: ContainerStreams;
  readonly #dial: () => Promise<KubeletSession>;

  /** `dial` rejects with an error whose message is for the client. */
  constructor(streams: ContainerStreams, dial: () => Promise<KubeletSession>) {
    super({});
    this.#streams = streams;
    this.#dial = dial;
  }

  async join(exchange: HttpExchange, upgrade: Upgrade): Promise<void> {
    const session = new ChannelSession(exchange, upgrade, this.#streams);
    await session.accept();
    try {
      session.start(await this.#dial());
    } catch (error) {
      session.finish(describeFailure((error as Error).message));
    }
  }

  discard(): void {}
}

class ChannelSession {
  readonly #exchange: HttpExchange;
  readonly #upgrade: Upgrade;
  readonly #streams: ContainerStreams;
  readonly #opened = new Map<StreamName, SpdyStream>();
  /** Streams of the container that have not ended. */
  readonly #open = new Set<StreamName>();
  #client!: WebSocketConnection;
  #kubelet: SpdyConnection | undefined;
  #holdKubelet: (() => void) | undefined;
  #holdClient: (() => void) | undefined;
  #error: Buffer[] = [];
  #errorBytes = 0;
  #isOver = false;

  constructor(exchange: HttpExchange, upgrade: Upgrade, streams: ContainerStreams) {
    this.#exchange = exchange;
    this.#upgrade = upgrade;
    this.#streams = streams;
  }

  /** Takes the WebSocket; the client is not read before the kubelet has accepted all streams. */
  async accept(): Promise<void> {
    this.#client = await acceptWebSocket(this.#upgrade, {
      clock: this.#exchange.clock, protocol: CHANNEL_PROTOCOL, headers: [], maxMessageBytes: MAX_MESSAGE_BYTES,
      onMessage: (message) => this.#receive(message), onClose: () => this.#leave(),
    });
    this.#exchange.signal.addEventListener('abort', () => this.#leave(), { once: true });
    this.#client.pause();
    const { stdout, stderr } = this.#streams;
    this.#send(stdout ? 'stdout' : stderr ? 'stderr' : 'error', Buffer.alloc(0));
  }

  start({ socket, head, protocol }: KubeletSession): void {
    if (this.#isOver) return void socket.destroy();
    const { clock } = this.#exchange;
    const isStatus = protocol === '' || protocol >= 'v4';
    const onClose = (): void => this.finish(describeFailure('error reading from error stream: unexpected EOF'));
    const kubelet = new SpdyConnection(socket, { head, clock, onClose });
    this.#kubelet = kubelet;
    this.#holdKubelet = createHold({ from: socket, to: this.#upgrade.socket, clock });
    this.#holdClient = createHold({ from: this.#upgrade.socket, source: this.#client, to: socket, clock });
    const waiting = new Set(listStreams(this.#streams));
    const timer = clock.after(REPLY_MS, () => this.finish(describeFailure('Timeout occurred')));
    socket.once('close', () => timer.cancel());
    for (const name of [...waiting]) {
      this.#open.add(name);
      this.#opened.set(name, kubelet.open([['streamtype', name]], {
        replied: () => {
          waiting.delete(name);
          if (waiting.size > 0) return;
          timer.cancel();
          this.#client.resume();
        },
        data: (piece) => this.#pass(name, piece),
        ended: () => this.#end(name, isStatus),
      }));
    }
  }

  /** Reports how the command ended and parts the connections. */
  finish(status: ContainerStatus): void {
    if (this.#isOver) return;
    this.#send('error', Buffer.from(JSON.stringify(status)));
    this.#isOver = true;
    this.#client.close();
    this.#kubelet?.destroy();
  }

  /** The client is gone. */
  #leave(): void {
    this.#isOver = true;
    this.#client.close();
    this.#kubelet?.destroy();
  }

  #send(name: StreamName, bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#client.send(Buffer.concat([Buffer.from([channels[name]]), bytes]), 'binary');
  }

  #pass(name: StreamName, piece: Buffer): void {
    if (name === 'error') {
      this.#errorBytes += piece.length;
      if (this.#errorBytes <= MAX_STATUS_BYTES) this.#error.push(Buffer.from(piece));
    }
    if (name !== 'stdout' && name !== 'stderr') return;
    this.#send(name, piece);
    this.#holdKubelet?.();
  }

  /** The command is over when its output and its error stream are. */
  #end(name: StreamName, isStatus: boolean): void {
    this.#open.delete(name);
    if (this.#open.has('stdout') || this.#open.has('stderr') || this.#open.has('error')) return;
    this.finish(readContainerStatus(Buffer.concat(this.#error).toString('utf8'), isStatus));
  }

  #receive(message: Buffer): void {
    const channel = message[0];
    if (channel === undefined || this.#isOver) return;
    if (channel === CLOSE_SIGNAL) {
      if (message.length !== 2 || (message[1] as number) > channels.resize) return this.#leave();
      return this.#streamOf(message[1] as number)?.end();
    }
    this.#streamOf(channel)?.write(message.subarray(1));
    this.#holdClient?.();
  }

  /** Clients write to the input and to the sizes of their terminal. */
  #streamOf(channel: number): SpdyStream | undefined {
    if (channel === channels.stdin) return this.#opened.get('stdin');
    return channel === channels.resize ? this.#opened.get('resize') : undefined;
  }
}
