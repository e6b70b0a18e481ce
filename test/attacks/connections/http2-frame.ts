// Frames of HTTP/2 as bytes, for attacks and mutations that no client library sends.

/** One frame. */
export function encodeFrame(type: number, flags: number, { stream = 0, payload = Buffer.alloc(0) }: {
  readonly stream?: number; readonly payload?: Buffer;
} = {}): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** What a connection begins with, before its first frame. */
export const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
