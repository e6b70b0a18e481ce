// Connections that become something else: the answer of another server to a request for an upgrade is passed on, and from then on the bytes of both
// connections, unread. When one side ends or breaks, what is under way is still delivered and both connections are closed.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import type { HttpExchange } from './exchange.ts';
import { PassingTurns, isBroken, SocketReads } from './turns.ts';
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
    pass(socket, other, exchange.clock);
    pass(other, socket, exchange.clock);
  }

  /** Closes the other connection where there is nothing to join it with. */
  discard(): void {
    this.#other.socket.destroy();
  }
}

/** The connections of this process that are joined with others, which share its one thread. */
const turns = new PassingTurns();

/** A connection that is paused is looked at so often: its end does not show while it is not read. */
const LOOK_MS = 5_000;

/** Where bytes come from and where they go. */
interface Passage {
  readonly from: Duplex;
  readonly to: Duplex;
  readonly clock: Clock;
  /** Paused while `to` is full: `from`, or the WebSocket over it. */
  readonly source?: Source;
}

/**
 * To be called when something was passed on. Pauses the source until the receiver takes more or is gone. Bytes of the source are counted, so that the
 * other connections of this process have their turn.
 */
export function createHold({ from, to, clock, source = from }: Passage): () => void {
  let isHeld = false;
  const reads = new SocketReads(from as Socket);
  if (!from.destroyed) turns.add(reads);
  from.on('data', (chunk: Buffer) => turns.count(reads, chunk.length));
  from.once('close', () => turns.remove(reads));
  return () => {
    if (isHeld || to.destroyed || !to.writableNeedDrain || to.writableLength < MAX_PENDING_BYTES) return;
    isHeld = true;
    source.pause();
    let timer: Timer;
    const look = (): void => {
      if (isBroken(from as Socket)) from.destroy();
      else timer = clock.after(LOOK_MS, look);
    };
    timer = clock.after(LOOK_MS, look);
    const release = (): void => {
      timer.cancel();
      to.off('drain', release);
      to.off('close', release);
      isHeld = false;
      source.resume();
    };
    to.once('drain', release);
    to.once('close', release);
  };
}

/** Writes what comes from one connection to the other. */
function pass(from: Duplex, to: Duplex, clock: Clock): void {
  const hold = createHold({ from, to, clock });
  from.on('data', (chunk: Buffer) => {
    if (to.writable) to.write(chunk);
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
