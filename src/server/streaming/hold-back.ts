// Reading no faster than the other side takes.
import type { Duplex } from 'node:stream';

/** Where bytes come from. */
interface Source {
  pause(): void;
  resume(): void;
}

/** A receiver holds so much: pausing for each record of TLS, 16 KiB, costs a forwarded port a fifth more CPU. */
const MAX_PENDING_BYTES = 64 * 1024;

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
