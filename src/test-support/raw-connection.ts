// A TLS connection whose bytes a test writes itself: what no proper client sends, and connections that break off.
import { connect as connectTcp } from 'node:net';
import { type TLSSocket, connect } from 'node:tls';

/** One connection, and what came in on it so far. */
export interface RawConnection {
  readonly socket: TLSSocket;
  readonly text: () => string;
  /** Resolves with everything that came in once the server has ended or cut the connection. */
  readonly closed: Promise<string>;
  /** Breaks the connection off with a TCP reset. */
  reset(): void;
}

/** Opens one to a test server. */
export function openRawConnection(url: string, options: { readonly ALPNProtocols?: string[] } = {}): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const tcp = connectTcp({ host: hostname, port: Number(port) });
    tcp.on('error', () => {});
    const socket = connect({ socket: tcp, rejectUnauthorized: false, ...options });
    const chunks: Buffer[] = [];
    const text = (): string => Buffer.concat(chunks).toString('latin1');
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('error', reject);
    const closed = new Promise<string>((done) => socket.on('close', () => done(text())));
    socket.on('secureConnect', () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      resolve({ socket, text, closed, reset: () => void tcp.resetAndDestroy() });
    });
  });
}

/** Writes `bytes` on a connection of its own and resolves with what the server has said when it closes the connection. */
export async function exchangeRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const { socket, closed } = await openRawConnection(url);
  socket.write(bytes);
  return closed;
}
