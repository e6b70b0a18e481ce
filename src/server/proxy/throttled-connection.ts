// A connection that passes bytes on at a rate, each way: what comes faster waits where it is. Mirrors upstream's use of flowrate for connections that
// change their protocol (--max-connection-bytes-per-sec), which counts by tenths of a second.
import { Duplex } from 'node:stream';
import type { Clock, Timer } from '../../base/index.ts';

const WINDOW_MS = 100;
const MS_PER_SECOND = 1000;

/** The bytes that may pass in one direction: as many in each window as the rate gives it, at least one. */
class Allowance {
  readonly #clock: Clock;
  readonly #perWindow: number;
  #windowMs = Number.NEGATIVE_INFINITY;
  #left = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock;
    this.#perWindow = Math.max(1, Math.round(bytesPerSecond * WINDOW_MS / MS_PER_SECOND));
  }

  /** How many of so many bytes may pass now. */
  take(wanted: number): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#windowMs >= WINDOW_MS) {
      this.#windowMs = nowMs;
      this.#left = this.#perWindow;
    }
    const taken = Math.min(wanted, this.#left);
    this.#left -= taken;
    return taken;
  }

  /** Calls back when the next window begins. */
  wait(callback: () => void): void {
    this.#timer = this.#clock.after(Math.max(1, this.#windowMs + WINDOW_MS - this.#clock.monotonicMs()), callback);
  }

  stop(): void {
    this.#timer?.cancel();
  }
}

/** The connection around another, which it owns. */
class ThrottledConnection extends Duplex {
  readonly #inner: Duplex;
  readonly #incoming: Allowance;
  readonly #outgoing: Allowance;
  /** Bytes of the other connection that have not passed yet. */
  #held: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #isOver = false;
  #wantsMore = false;
  #isWaiting = false;

  constructor(inner: Duplex, bytesPerSecond: number, clock: Clock) {
    super({ allowHalfOpen: true });
    this.#inner = inner;
    this.#incoming = new Allowance(clock, bytesPerSecond);
    this.#outgoing = new Allowance(clock, bytesPerSecond);
    inner.on('data', (chunk: Buffer) => {
      inner.pause();
      this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
      this.#pass();
    });
    inner.pause();
    inner.on('end', () => {
      this.#hasEnded = true;
      this.#pass();
    });
    inner.on('error', (error) => this.destroy(error));
    // Bytes that are held still pass after an orderly end.
    inner.on('close', () => {
      if (!this.#hasEnded) this.destroy();
    });
    if (inner.destroyed) this.destroy();
  }

  override _read(): void {
    this.#wantsMore = true;
    this.#pass();
  }

  /** Gives the reader what it wants, as far as there is any and the rate permits; asks for more when nothing is held. */
  #pass(): void {
    while (this.#wantsMore && !this.#isWaiting && this.#held.length > 0) {
      const count = this.#incoming.take(this.#held.length);
      if (count === 0) {
        this.#isWaiting = true;
        return this.#incoming.wait(() => {
          this.#isWaiting = false;
          this.#pass();
        });
      }
      const chunk = this.#held.subarray(0, count);
      this.#held = this.#held.subarray(count);
      this.#wantsMore = this.push(chunk);
    }
    if (this.#held.length > 0 || this.#isOver) return;
    this.#isOver = this.#hasEnded;
    if (this.#isOver) this.push(null);
    else if (this.#wantsMore) this.#inner.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const count = this.#outgoing.take(chunk.length);
    if (count === 0) return this.#outgoing.wait(() => this._write(chunk, _encoding, done));
    const isAll = count === chunk.length;
    this.#inner.write(chunk.subarray(0, count), (error) => {
      if (error || isAll) done(error);
      else this._write(chunk.subarray(count), _encoding, done);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#inner.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#incoming.stop();
    this.#outgoing.stop();
    this.#inner.destroy();
    done(error);
  }
}

/** A connection as the limit wants it: at so many bytes a second each way, or as it is where there is no limit. */
export function throttle(connection: Duplex, bytesPerSecond: number, clock: Clock): Duplex {
  return bytesPerSecond > 0 ? new ThrottledConnection(connection, bytesPerSecond, clock) : connection;
}
