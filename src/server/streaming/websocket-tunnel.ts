// Port-forwarding through a WebSocket: its messages are the bytes of a SPDY connection to the kubelet, unread, as in the reference's tunnel.
import type { Duplex } from 'node:stream';
import type { HttpExchange } from '../http/exchange.ts';
import { UpgradedResponse, createHold } from '../http/tunnel.ts';
import { acceptWebSocket } from '../http/websocket-connection.ts';
import type { Upgrade } from '../http/websocket.ts';

/** What the protocols of a tunnel begin with; the rest is the protocol inside. */
export const TUNNEL_PREFIX = 'SPDY/3.1+';
/** The largest message that the reference takes. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** The other end of a tunnel. */
interface TunnelEnd {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The protocol that the kubelet has chosen; '' for none. */
  readonly protocol: string;
}

/** The answer that takes the client's WebSocket. */
export class WebSocketTunnelResponse extends UpgradedResponse {
  readonly #other: TunnelEnd;

  constructor(other: TunnelEnd) {
    super({});
    this.#other = other;
    other.socket.on('error', () => other.socket.destroy());
  }

  async join({ signal, clock }: HttpExchange, upgrade: Upgrade): Promise<void> {
    const { socket, head, protocol } = this.#other;
    const part = (): void => void socket.destroy();
    // Before the WebSocket is accepted: a client may leave meanwhile, or send a handshake that is refused.
    signal.addEventListener('abort', part, { once: true });
    if (signal.aborted) part();
    const client = await acceptWebSocket(upgrade, {
      clock, protocol: protocol === '' ? undefined : `${TUNNEL_PREFIX}${protocol}`, headers: [], maxMessageBytes: MAX_MESSAGE_BYTES,
      onMessage(message) {
        if (!socket.destroyed) socket.write(message);
        holdClient();
      },
      onClose: part,
    });
    const holdClient = createHold({ from: upgrade.socket, source: client, to: socket, clock });
    const holdKubelet = createHold({ from: socket, to: upgrade.socket, clock });
    const send = (chunk: Buffer): void => {
      client.send(chunk, 'binary');
      holdKubelet();
    };
    if (head.length > 0) send(head);
    socket.on('data', send);
    socket.on('end', part);
    socket.on('close', () => client.close());
    if (socket.destroyed) client.close();
  }

  discard(): void {
    this.#other.socket.destroy();
  }
}
