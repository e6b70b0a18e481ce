// What one write of a watch carries: the frames of some events, joined. Streams that were woken together mostly write the same.
import type { RegistryEvent } from '../../registry/index.ts';
import { joinBytes } from '../response/encoding.ts';

/** A piece is complete when it holds this much; only its last frame reaches beyond. */
const PIECE_BYTES = 128 * 1024;

/** Bytes of the first of some events, and the events that are left. */
interface Batch {
  readonly bytes: Uint8Array;
  readonly rest: readonly RegistryEvent[];
}

let lastJoined: { readonly frames: readonly Uint8Array[]; readonly bytes: Uint8Array } | undefined;

function joinFrames(frames: readonly Uint8Array[]): Uint8Array {
  if (frames.length === 1) return frames[0] as Uint8Array;
  const known = lastJoined;
  if (known?.frames.length === frames.length && frames.every((frame, i) => frame === known.frames[i])) return known.bytes;
  const bytes = joinBytes(frames);
  lastJoined = { frames, bytes };
  return bytes;
}

/** Cuts the next piece off `events`, of which there is at least one. */
export function cutBatch(events: readonly RegistryEvent[], encode: (event: RegistryEvent) => Uint8Array): Batch {
  const frames: Uint8Array[] = [];
  let size = 0;
  for (const event of events) {
    if (size >= PIECE_BYTES) break;
    const frame = encode(event);
    frames.push(frame);
    size += frame.length;
  }
  return { bytes: joinFrames(frames), rest: events.slice(frames.length) };
}
