// Connections that become something else: the answer of another server to a request for an upgrade is passed on, and from then on the bytes of both
// connections, unread. When one side ends or breaks, what is under way is still delivered and both connections are closed.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { HttpExchange } from './exchange.ts';
import type { Upgrade } from './websocket.ts';

/** Delivering the rest after one side has closed may take so long. */
const CLOSE_MS = 10_000;
/**
 * A receiver holds so much before its source waits. A forwarded port, which is paused for each full receiver, took 2.27 ms of CPU per MB with 64 KiB,
 * 1.96 with 128, 1.84 with 256 and 1.78 with 1 MiB, in turns of one run; kube-apiserver 1.70.
 */
const MAX_PENDING_BYTES = 256 * 1024;

/** Where bytes come from. */
interface Source {
  pause(): void;
  resume(): void;
}

/** A connection to another server that has agreed to change its protocol. */
interface OtherSide {
  readonly socket: Duplex;
  /** The first bytes of the new protocol, if they came with the answer. */
  readonly head: Buffer;
}

/** The answer to an upgrade that takes the client's connection over. */
export abstract class UpgradedResponse implements Response {
  readonly status = 101;
  readonly headers: Response['headers'];
  readonly body = new Uint8Array(0);

  constructor(headers: Response['headers']) {
    this.headers = headers;
  }

  /** Answers the client and keeps its connection. */
  abstract join(exchange: HttpExchange, upgrade: Upgrade): Promise<void>;

  /** Gives back what is held where there is no client any more. */
  abstract discard(): void;
}

/** The answer to an upgrade that another server has accepted. */
export class TunnelResponse extends UpgradedResponse {
  readonly #other: OtherSide;

  constructor(headers: Response['headers'], other: OtherSide) {
    super(headers);
    this.#other = other;
    // Until the connections are joined nothing else listens, and an error without a listener ends the process.
    other.socket.on('error', () => other.socket.destroy());
  }

  /** Joins the client's connection with the other one. */
  async join(exchange: HttpExchange, { socket, head }: Upgrade): Promise<void> {
    const { socket: other, head: otherHead } = this.#other;
    socket.write(formatHead(this.headers, exchange.auditId));
    if (otherHead.length > 0) socket.write(otherHead);
    if (!other.destroyed && head.length > 0) other.write(head);
    closeTogether(socket, other, exchange.clock);
    exchange.signal.addEventListener('abort', () => {
      socket.destroy();
      other.destroy();
    }, { once: true });
    pass(socket, other);
    pass(other, socket);
  }

  /** Closes the other connection where there is nothing to join it with. */
  discard(): void {
    this.#other.socket.destroy();
  }
}

/** Pauses a source when called, until the receiver takes more or is gone. Calls meanwhile change nothing. */
export function createHold(source: Source, receiver: Duplex): () => void {
  let isHeld = false;
  return () => {
    if (isHeld || receiver.destroyed || !receiver.writableNeedDrain || receiver.writableLength < MAX_PENDING_BYTES) return;
    isHeld = true;
    source.pause();
    const release = (): void => {
      receiver.off('drain', release);
      receiver.off('close', release);
      isHeld = false;
      source.resume();
    };
    receiver.once('drain', release);
    receiver.once('close', release);
  };
}

/** Writes what comes from one connection to the other. */
function pass(source: Duplex, receiver: Duplex): void {
  const hold = createHold(source, receiver);
  source.on('data', (chunk: Buffer) => {
    if (receiver.writable) receiver.write(chunk);
    hold();
  });
}

function formatHead(headers: Response['headers'], auditId: string): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', `audit-id: ${auditId.replace(/[^\x20-\x7e]/g, '')}`];
  for (const [name, value] of Object.entries(headers)) for (const each of typeof value === 'string' ? [value] : value) lines.push(`${name}: ${each}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** The end of either stream closes both, as the reference does; one that breaks takes the other with it, also one that is broken already. */
function closeTogether(left: Duplex, right: Duplex, clock: Clock): void {
  const finish = (stream: Duplex) => (): void => {
    if (stream.destroyed) return;
    const destroy = (): void => void stream.destroy();
    if (stream.writableFinished) return destroy();
    stream.once('finish', destroy);
    stream.end();
    const timer = clock.after(CLOSE_MS, destroy);
    stream.once('close', () => timer.cancel());
  };
  for (const [stream, other] of [[left, right], [right, left]] as const) {
    stream.on('error', () => stream.destroy());
    stream.once('end', finish(other));
    stream.once('close', finish(other));
    if (stream.destroyed) finish(other)();
  }
}
