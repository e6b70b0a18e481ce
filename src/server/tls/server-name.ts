// The name that a client asks for in its TLS hello (RFC 8446, RFC 6066), read before TLS begins: which certificate it is shown is decided by it.
import type { Socket } from 'node:net';
import type { Clock } from '../../base/index.ts';

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEAD_BYTES = 5;
const SERVER_NAME = 0;
/** Clients say hello within this; larger ones are shown the certificate of the server. */
const MOST_BYTES = 64 * 1024;
const HELLO_MS = 10_000;

/** Reads forward; the fields of a hello that ends too early are empty. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(length: 1 | 2 | 3): number {
    const value = this.#at + length > this.#bytes.length ? 0 : this.#bytes.readUIntBE(this.#at, length);
    this.#at += length;
    return value;
  }

  take(length: number): Buffer {
    const part = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return part;
  }
}

/** The name; '' where the client asks for none or does not speak TLS; undefined while too few bytes are there to say. */
export function readServerName(bytes: Buffer): string | undefined {
  const hello: Buffer[] = [];
  let size = 0;
  for (let at = 0; ; ) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE) return '';
    if (bytes.length < at + RECORD_HEAD_BYTES) return undefined;
    const end = at + RECORD_HEAD_BYTES + bytes.readUInt16BE(at + 3);
    if (bytes.length < end) return undefined;
    hello.push(bytes.subarray(at + RECORD_HEAD_BYTES, end));
    size += end - at - RECORD_HEAD_BYTES;
    at = end;
    const joined = Buffer.concat(hello, size);
    if (size > 0 && joined[0] !== CLIENT_HELLO) return '';
    if (size >= 4 && size >= 4 + joined.readUIntBE(1, 3)) return findName(new Cursor(joined.subarray(4)));
  }
}

/** version 2, random 32, session id, cipher suites, compression, extensions: each with its length in front. */
function findName(hello: Cursor): string {
  hello.take(34);
  hello.take(hello.number(1));
  hello.take(hello.number(2));
  hello.take(hello.number(1));
  const extensions = new Cursor(hello.take(hello.number(2)));
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.take(extensions.number(2));
    if (type !== SERVER_NAME) continue;
    const names = new Cursor(content);
    names.take(3);
    return names.take(names.number(2)).toString('latin1');
  }
  return '';
}

/** Calls back with the name that the client of a new connection asks for; what it has sent is there to be read again. */
export function awaitServerName(socket: Socket, clock: Clock, found: (name: string) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const timer = clock.after(HELLO_MS, () => void socket.destroy());
  const leave = (): void => {
    timer.cancel();
    socket.off('data', take).off('error', leave).off('close', leave);
  };
  const take = (chunk: Buffer): void => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const name = readServerName(bytes) ?? (bytes.length > MOST_BYTES ? '' : undefined);
    if (name === undefined) return;
    leave();
    socket.pause();
    socket.unshift(bytes);
    found(name);
  };
  socket.on('data', take).on('error', leave).on('close', leave);
}
