// Watches as informers hold them: streams of HTTP/2 connections, of which only the bytes are looked at.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { Address } from './connection.ts';

/** The connection of one client. */
export class WatchSession {
  readonly #address: Address;
  readonly #session: ClientHttp2Session;

  constructor(address: Address) {
    this.#address = address;
    this.#session = connect(address.url, { rejectUnauthorized: false });
    // Streams report what ends them.
    this.#session.on('error', () => {});
    this.#session.setMaxListeners(0);
  }

  /** Opens a watch; resolves when its response has begun, rejects when that is no 200. */
  open(path: string): Promise<ClientHttp2Stream> {
    const stream = this.#session.request({ ':path': path, authorization: `Bearer ${this.#address.token}`, accept: 'application/json' });
    return new Promise((resolve, reject) => {
      stream.on('error', reject);
      stream.on('response', ({ ':status': status }) => {
        if (status === 200) resolve(stream);
        else reject(new Error(`${path} was answered with ${status}`));
      });
    });
  }

  close(): void {
    this.#session.destroy();
  }
}
