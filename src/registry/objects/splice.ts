// Work on the bytes of one stored object, without parsing them: another head in front, resourceVersion in its place, and back again.
import { once } from '../../base/index.ts';
import { type MemberSpan, findMember } from './json-scan.ts';
import type { Layout } from './layout.ts';

const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const NEWLINE = 0x0a;

/** Node's pooled allocation is several times cheaper than a zeroed array of its own; everything is written before it is read. */
export function allocate(length: number): Uint8Array {
  return typeof Buffer === 'undefined' ? new Uint8Array(length) : Buffer.allocUnsafe(length);
}

const SCRATCH_BYTES = 2 ** 16;
const scratch = once(() => (typeof Buffer === 'undefined' ? new Uint8Array(SCRATCH_BYTES) : Buffer.allocUnsafeSlow(SCRATCH_BYTES)));

/** Memory for bytes that are read before the next call borrows it; parsing a list of objects allocates nothing for their bytes. */
export function borrow(length: number): Uint8Array {
  if (length > SCRATCH_BYTES) return allocate(length);
  return scratch().subarray(0, length);
}

/** bytes[from, to). */
export interface Part {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Copies a part to `target` at `at`; returns where it ends. */
export function copyPart(target: Uint8Array, at: number, { bytes, from, to }: Part): number {
  target.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from), at);
  return at + to - from;
}

/** The place of resourceVersion, and the commas that it needs there. */
function findPlace(layout: Layout, bytes: Uint8Array): { readonly at: number; readonly before: string; readonly after: string } {
  const start = layout.head.length;
  const uid = findMember(bytes, start, 'uid');
  if (uid === undefined) return { at: start, before: '', after: bytes[start] === CLOSE_BRACE ? '' : ',' };
  return layout.resource.custom ? { at: uid.keyStart, before: '', after: ',' } : { at: uid.valueEnd, before: ',', after: '' };
}

export interface Splice {
  readonly layout: Layout;
  readonly revision: number;
  /** Whether a newline follows. */
  readonly line?: boolean;
  /** Memory for the result; newly allocated when absent. */
  readonly place?: (length: number) => Uint8Array;
}

/** The stored bytes with another head and with resourceVersion `revision` in metadata (none when 0), and a newline if it shall be a line. */
export function spliceRevision(bytes: Uint8Array, head: Uint8Array, { layout, revision, line = false, place: give = allocate }: Splice): Uint8Array {
  const start = layout.head.length;
  const place = revision === 0 ? { at: start, before: '', after: '' } : findPlace(layout, bytes);
  const member = revision === 0 ? '' : `${place.before}"resourceVersion":"${revision}"${place.after}`;
  const target = give(head.length + bytes.length - start + member.length + (line ? 1 : 0));
  target.set(head, 0);
  let at = copyPart(target, head.length, { bytes, from: start, to: place.at });
  for (let i = 0; i < member.length; i++) target[at++] = member.charCodeAt(i);
  at = copyPart(target, at, { bytes, from: place.at, to: bytes.length });
  if (line) target[at] = NEWLINE;
  return target;
}

/** A member with the comma that is removed with it. */
export function cutMember(bytes: Uint8Array, { keyStart, valueEnd }: MemberSpan): { readonly start: number; readonly end: number } {
  if (bytes[valueEnd] === COMMA) return { start: keyStart, end: valueEnd + 1 };
  return { start: bytes[keyStart - 1] === COMMA ? keyStart - 1 : keyStart, end: valueEnd };
}

/** The bytes with a newline behind them. */
export function addNewline(bytes: Uint8Array): Uint8Array {
  const target = allocate(bytes.length + 1);
  target.set(bytes);
  target[bytes.length] = NEWLINE;
  return target;
}
