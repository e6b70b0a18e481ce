// An accepted WebSocket (RFC 6455), framed by the `ws` package: messages both ways with a bound on their size, no compression. Any streaming
// endpoint can use it. `ws` cuts off a client that sends pings and does not read the pongs, so that they cannot make memory grow.
// The package is loaded with the first WebSocket: 30 ms that most servers never need.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, type Timer, takeTurn } from '../../base/index.ts';

const NORMAL_CLOSURE = 1000;
/** The period of pings to a client that is not read: its leaving shows by what is written to it only. */
const PING_MS = 5000;

/** After so many frames of a client others have their turn: the shortest take 8 µs each, and one read brings nine thousand. */
const FRAMES_A_TURN = 1000;

/** What all connections of this process may have sent of messages that have not ended: `ws` keeps a message until it is whole. */
const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;

/** The messages that have not ended. Beyond their bound the longest of them ends its connection. */
class UnfinishedMessages {
  readonly #bytes = new Map<Socket, number>();
  #total = 0;

  /** So much has come on a connection since its last whole message. */
  set(socket: Socket, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(socket) ?? 0);
    if (bytes === 0) this.#bytes.delete(socket);
    else this.#bytes.set(socket, bytes);
    if (this.#total > MAX_UNFINISHED_BYTES) this.#endLongest();
  }

  get(socket: Socket): number {
    return this.#bytes.get(socket) ?? 0;
  }

  #endLongest(): void {
    let longest: Socket | undefined;
    for (const [socket, bytes] of this.#bytes) if (longest === undefined || bytes > this.get(longest)) longest = socket;
    if (longest === undefined) return;
    this.set(longest, 0);
    longest.destroy();
  }
}

const unfinished = new UnfinishedMessages();

/** Counts the bytes of a connection; to be called when a message is whole. A read that ended one may have begun the next. */
function countUnfinished(socket: Socket): () => void {
  socket.on('data', (chunk: Buffer) => unfinished.set(socket, unfinished.get(socket) + chunk.length));
  socket.once('close', () => unfinished.set(socket, 0));
  return () => unfinished.set(socket, 0);
}

/** What the handshake answers, and what becomes of the client's messages. */
interface AcceptOptions {
  /** The chosen subprotocol, if any. */
  readonly protocol: string | undefined;
  /** Header lines of the answer. */
  readonly headers: readonly string[];
  /** A longer message of the client ends the connection. */
  readonly maxMessageBytes: number;
  /** Called with each message; without it they are thrown away. */
  readonly onMessage?: (message: Buffer) => void;
  /** Called once, when the client closes the connection, breaks the protocol or is gone. */
  readonly onClose: () => void;
  readonly clock: Clock;
}

/** An accepted WebSocket. */
export interface WebSocketConnection {
  /** Queues a message; does nothing once the connection is closing. */
  send(message: Uint8Array, type: 'text' | 'binary'): void;
  /** Whether the connection is open and takes more before it is drained. */
  isReady(): boolean;
  /** Reads no messages until `resume`; a client that leaves meanwhile is noticed by pings. */
  pause(): void;
  resume(): void;
  /** Sends a close frame and ends the connection. */
  close(code?: number): void;
}

/** Answers the handshake of a request whose connection is this request's alone. */
export async function acceptWebSocket(
  { incoming, socket, head }: { readonly incoming: IncomingMessage; readonly socket: Socket; readonly head: Buffer }, options: AcceptOptions,
): Promise<WebSocketConnection> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload: options.maxMessageBytes,
  });
  // `ws` refuses names with a slash, which those of Kubernetes' tunnels have.
  delete incoming.headers['sec-websocket-protocol'];
  const chosen = options.protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${options.protocol}`];
  server.on('headers', (lines) => void lines.push(...chosen, ...options.headers));
  return new Promise((resolve) => {
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      let isOver = false;
      let timer: Timer | undefined;
      const ping = (): void => {
        if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
        timer = options.clock.after(PING_MS, ping);
      };
      const stopPings = (): void => {
        timer?.cancel();
        timer = undefined;
      };
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        stopPings();
        options.onClose();
      };
      const noteWhole = countUnfinished(socket);
      let isPaused = false;
      let frames = 0;
      const count = (): void => {
        if (++frames % FRAMES_A_TURN !== 0) return;
        webSocket.pause();
        void takeTurn(options.clock).then(() => !isPaused && webSocket.resume());
      };
      webSocket.on('ping', count).on('pong', count).on('message', (data) => {
        count();
        noteWhole();
        options.onMessage?.(data as Buffer);
      });
      webSocket.on('error', end);
      webSocket.on('close', end);
      // The close frame of the client comes before the end of its connection.
      socket.on('end', end);
      resolve({
        send: (message, type) => webSocket.readyState === webSocket.OPEN && webSocket.send(message, { binary: type === 'binary' }),
        isReady: () => webSocket.readyState === webSocket.OPEN && !socket.writableNeedDrain,
        pause() {
          isPaused = true;
          webSocket.pause();
          if (!isOver) timer ??= options.clock.after(PING_MS, ping);
        },
        resume() {
          stopPings();
          isPaused = false;
          webSocket.resume();
        },
        close(code = NORMAL_CLOSURE) {
          webSocket.close(code);
          // Nothing that the client may still send is awaited.
          socket.end();
        },
      });
    });
  });
}
