// One write of a watch stream: the bytes of several events, joined. A write costs far more than its content, so events are gathered
// (write-throttle.ts) and a batch is bounded by bytes, not by events.
import type { RegistryEvent } from '../../registry/index.ts';
import { joinBytes } from '../response/encoding.ts';

/** A batch takes no further event once it holds this much; only its last event reaches beyond. */
const BATCH_BYTES = 128 * 1024;

/** The bytes of the first of some events, and the events that remain. */
interface Batch {
  readonly bytes: Uint8Array;
  readonly rest: readonly RegistryEvent[];
}

/** Encodes and joins as many of `events` as one write takes; there is at least one event. */
export function cutBatch(events: readonly RegistryEvent[], encode: (event: RegistryEvent) => Uint8Array): Batch {
  const encoded: Uint8Array[] = [];
  let size = 0;
  for (const event of events) {
    if (size >= BATCH_BYTES) break;
    const bytes = encode(event);
    encoded.push(bytes);
    size += bytes.length;
  }
  return { bytes: joinBytes(encoded), rest: events.slice(encoded.length) };
}
