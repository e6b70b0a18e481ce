// UTF-8 as Go reads it: each byte that belongs to no character becomes U+FFFD of its own, where WHATWG decoders join some of them.

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** Text of `bytes[from, to)`; invalid bytes become U+FFFD one by one, a byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array, from = 0, to = bytes.length): string {
  const text = decodeFast(bytes, from, to);
  return text.includes('\uFFFD') ? decodeBytewise(bytes, from, to) : text;
}

/** Whether `bytes[from, to)` are well-formed UTF-8. Decoders that throw cost 4 µs for each text that is not. */
export function isUtf8(bytes: Uint8Array, from = 0, to = bytes.length): boolean {
  for (let i = from; i < to;) {
    const length = characterLength(bytes, i, to);
    if (length === 0) return false;
    i += length;
  }
  return true;
}

/** The UTF-8 bytes of `text`. */
export function encodeUtf8(text: string): Uint8Array {
  return typeof Buffer === 'undefined' ? encoder.encode(text) : Buffer.from(text, 'utf8');
}

/** Node's own decoder is several times faster than TextDecoder on short texts. */
export function decodeFast(bytes: Uint8Array, from: number, to: number): string {
  if (typeof Buffer === 'undefined') return decoder.decode(bytes.subarray(from, to));
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8', from, to);
}

/** Bytes with U+FFFD in place of each that belongs to no character are decoded at once: three bytes for one at most. */
function decodeBytewise(bytes: Uint8Array, from: number, to: number): string {
  const mended = new Uint8Array((to - from) * 3);
  let at = 0;
  for (let i = from; i < to;) {
    const length = characterLength(bytes, i, to);
    if (length === 0) {
      mended[at++] = 0xef;
      mended[at++] = 0xbf;
      mended[at++] = 0xbd;
      i++;
    } else for (const end = i + length; i < end; i++) mended[at++] = bytes[i] as number;
  }
  return decodeFast(mended, 0, at);
}

/** Length of the well-formed character at `i`, 0 when there is none. */
function characterLength(bytes: Uint8Array, i: number, to: number): number {
  const first = bytes[i] as number;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || i + length > to) return 0;
  const second = bytes[i + 1] as number;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let k = 2; k < length; k++) {
    if (((bytes[i + k] as number) & 0xc0) !== 0x80) return 0;
  }
  return length;
}
